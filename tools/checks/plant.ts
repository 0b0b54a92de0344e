/** Planted mistakes, so that the tests of the checks can see them fail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-tool.ts";

/**
 * Writes each text to the second line of `planted-<index>.ts` in a project of its own with the clone's settings, and says what
 * `check` makes of the directory and its files. All at once, since a check starts much slower than it reads. The directory is inside the
 * clone, so that its settings and packages are found.
 */
export function plant<T>(texts: readonly string[], check: (directory: string, files: readonly string[]) => T): T {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const directory = mkdtempSync(join(root, ".cache/planted-"));
  try {
    const settings = { extends: "../../tsconfig.json", compilerOptions: { noEmit: true, rootDir: "." }, include: ["."] };
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(settings));
    const files = texts.map((text, index) => {
      const file = join(directory, `planted-${index}.ts`);
      writeFileSync(file, `\n${text}\n`);
      return file;
    });
    return check(directory, files);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

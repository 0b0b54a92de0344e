/** Plants mistakes, so that the tests of the checks can prove that they fail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-tool.ts";

/**
 * Writes each text to the second line of `planted-<index>.ts` in a separate project with the clone's settings, and returns the result of
 * `check` for the directory and its files. All in one call, since starting a check takes much longer than checking a file. The directory is
 * inside the clone, so that its settings and packages resolve.
 */
export function plant<T>(texts: readonly string[], check: (directory: string, files: readonly string[]) => T): T {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const directory = mkdtempSync(join(root, ".cache/planted-"));
  try {
    const settings = {
      extends: "../../tsconfig.json",
      compilerOptions: { noEmit: true, rootDir: ".", incremental: false, tsBuildInfoFile: null },
      include: ["."],
    };
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

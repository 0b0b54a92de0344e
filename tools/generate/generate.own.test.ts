import { deepEqual, equal, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { stringLiteral } from "./string-literal.ts";

const root = packageDirectory(import.meta.dirname);
const clone = mkdtempSync(join(tmpdir(), "k8ts-generate-"));
after(() => rmSync(clone, { recursive: true }));

/** The content of the repository without generated files. */
function makeClone(): void {
  for (const part of ["package.json", "tools", "docs/learn"]) cpSync(join(root, part), join(clone, part), { recursive: true });
  cpSync(join(root, "src"), join(clone, "src"), { recursive: true, filter: (path) => !path.endsWith("/generated") });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
}

function generate(): void {
  const program = `(await import("./tools/generate.mjs")).generate()`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: clone, encoding: "utf8" });
  equal(status, 0, stderr);
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .sort();
}

test("a fresh clone with only its packages generates the same files, and a second run writes nothing", () => {
  makeClone();
  generate();

  const [there, here] = [clone, root].map((directory) => join(directory, "src/api/generated")) as [string, string];
  deepEqual(filesIn(there), filesIn(here));
  for (const file of filesIn(there)) equal(readFileSync(join(there, file), "utf8"), readFileSync(join(here, file), "utf8"), file);
  const times = (): number[] => filesIn(there).map((file) => statSync(join(there, file)).mtimeMs);
  const before = times();
  generate();
  deepEqual(times(), before);
});

test("stringLiteral round-trips any text", async () => {
  const text = `it's "quoted"\\ \\n\n\r\u2028\u2029 \${x} \u00e9`;
  const program = encodeURIComponent(`export const text = ${stringLiteral(text)};`);

  const module = (await import(`data:text/javascript,${program}`)) as { readonly text: string };

  equal(module.text, text);
  ok(!stringLiteral(text).includes("\n"));
});

import { equal, match, notEqual } from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, runTool } from "./run-tool.ts";

function check(...paths: readonly string[]): { readonly exitCode: number | null; readonly output: string } {
  return runTool("oxfmt/bin/oxfmt", ["--config", join(root, ".oxfmtrc.json"), "--check", ...paths]);
}

test("every file is formatted (fix: npm run format)", () => {
  const { exitCode, output } = check(...["src", "tools", "test", "bench"].filter((folder) => existsSync(join(root, folder))));
  equal(exitCode, 0, output);
});

test("the check names a file that is not formatted", () => {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-format-"));
  const file = join(directory, "planted.ts");
  writeFileSync(file, "export const  a=1\n");
  const { exitCode, output } = check(file);
  rmSync(directory, { recursive: true });
  notEqual(exitCode, 0);
  match(output, /planted\.ts/);
});

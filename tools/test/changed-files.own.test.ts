import { deepEqual, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { changedFiles } from "./changed-files.ts";

/** A repository with one commit of "a", "b" and "gone". */
function inRepository(use: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-changed-"));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], { cwd: directory, stdio: "pipe" });
  try {
    git("init", "-q");
    for (const name of ["a", "b", "gone"]) writeFileSync(join(directory, name), name);
    git("add", "-A");
    git("commit", "-qm", "first");
    use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("changed, deleted and untracked files are listed, ignored and unchanged ones are not", () => {
  inRepository((directory) => {
    writeFileSync(join(directory, "b"), "changed");
    rmSync(join(directory, "gone"));
    writeFileSync(join(directory, ".gitignore"), "ignored\n");
    for (const name of ["new file", "ignored"]) writeFileSync(join(directory, name), "");

    deepEqual(changedFiles(directory, "HEAD"), ["b", "gone", ".gitignore", "new file"]);
  });
});

test("an unknown revision, and one that looks like a flag, is rejected with git's reason", () => {
  inRepository((directory) => {
    for (const since of ["v9", "--output=/tmp/x"])
      match(JSON.stringify(changedFiles(directory, since)), /Cannot list what changed since .*: fatal: /);
  });
});

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { explainFileError, explainForeignHome, explainHomeError } from "./start-errors.ts";

const failure = (code: string, path?: string) => Object.assign(new Error(`${code}: as the system says it`), { code, path });

for (const [code, sentence] of [
  ["EACCES", "Cannot use /d: this user has no write permission; choose another path with --data-dir, or have its owner grant it"],
  ["EROFS", "Cannot use /d: the file system is read-only; choose another path with --data-dir, or remount it read-write"],
  ["ENOSPC", "Cannot use /d: no space is left on the disk; free some (see df -h), or choose another path with --data-dir"],
  ["EEXIST", "Cannot use /d: it is a file, not a directory; choose another path with --data-dir"],
  ["ENOENT", "Cannot use /d: it cannot be created there; choose another path with --data-dir"],
  ["ENOTDIR", "Cannot use /d: a component of the path is not a directory; choose another path with --data-dir"],
  ["EDQUOT", "Cannot use /d: the disk quota is exceeded; free some space, or choose another path with --data-dir"],
  ["ENAMETOOLONG", "Cannot use /d: the path, or a name in it, is too long; choose a shorter one with --data-dir"],
  ["ELOOP", "Cannot use /d: the path contains a symbolic link loop; choose another path with --data-dir"],
] as const) {
  test(`${code} is reported with the remedy`, () => {
    const explained = explainFileError(failure(code, "/d"), { action: "use /d", flag: "--data-dir" }) as Error;
    equal(explained.message, sentence);
    equal((explained.cause as NodeJS.ErrnoException).code, code);
  });
}

test("the file is named if it is not the requested one, and other errors pass", () => {
  const inside = explainFileError(failure("EACCES", "/d/run"), { action: "use /d", flag: "--data-dir" }) as Error;
  equal(inside.message.endsWith("have its owner grant it (/d/run)"), true);
  const other = new Error("x");
  equal(explainFileError(other, { action: "use /d", flag: "--data-dir" }), other);
});

test("the target file is named, and not the temporary one", () => {
  const renamed = Object.assign(failure("EPERM", "/d/config.426.partial"), { dest: "/d/config" });
  for (const error of [renamed, failure("EPERM", "/d/config.426.partial")]) {
    const explained = explainFileError(error, { action: "change /k", flag: "--kubeconfig" }) as Error;
    equal(explained.message.endsWith("have its owner change that (/d/config)"), true);
  }
});

test("an error in a home is reported with the home, however it is wrapped; a missing file in it is not", () => {
  const wrapped = new Error("Cannot write; choose a place with --kubeconfig", { cause: failure("ENOSPC", "/d/kubeconfig") });
  equal(
    (explainHomeError(wrapped, "/d") as Error).message,
    "Cannot use /d: no space is left on the disk; free some (see df -h), or choose another path with --data-dir (/d/kubeconfig)",
  );
  for (const other of [wrapped, new Error("x", { cause: failure("ENOENT", "/e/a") })]) equal(explainHomeError(other, "/e"), other);
});

for (const [code, sentence] of [
  ["EROFS", 'Cannot clean up after cluster "a": the file system is read-only; remount it read-write (/d/run/holder)'],
  ["ENOSPC", 'Cannot clean up after cluster "a": no space is left on the disk; free some (see df -h) (/d/run/holder)'],
  ["ENOTDIR", 'Cannot clean up after cluster "a": a component of the path is not a directory (/d/run/holder)'],
] as const) {
  test(`where another location does not help, none is suggested: ${code}`, () => {
    const explained = explainHomeError(failure(code, "/d/run/holder"), "/d", { action: 'clean up after cluster "a"' }) as Error;
    equal(explained.message, sentence);
  });
}

test("an inaccessible path is reported", () => {
  equal(
    (explainForeignHome(failure("ENAMETOOLONG", "/d/k8ts.json"), "/d") as Error).message,
    "Cannot access /d: the path, or a name in it, is too long; choose a shorter one with --data-dir (/d/k8ts.json)",
  );
});

test("another user's home is reported as inaccessible", () => {
  equal(
    (explainForeignHome(failure("EACCES", "/d/k8ts.json"), "/d") as Error).message,
    "Cannot access /d: permission denied; run this as the owner of the cluster or with sudo, or choose another cluster with --name or --data-dir",
  );
  const other = failure("EIO");
  equal(explainForeignHome(other, "/d"), other);
});

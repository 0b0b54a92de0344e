import { equal } from "node:assert/strict";
import { test } from "node:test";
import { explainFileError, explainForeignHome, explainHomeError } from "./start-errors.ts";

const failure = (code: string, path?: string) => Object.assign(new Error(`${code}: as the system says it`), { code, path });

for (const [code, sentence] of [
  ["EACCES", "Cannot use /d: this user may not write there; give another place with --data-dir, or let its owner allow it"],
  ["EROFS", "Cannot use /d: the file system is read-only; give another place with --data-dir, or mount it for writing"],
  ["ENOSPC", "Cannot use /d: no space is left on the disk; make room (df -h shows where), or give another place with --data-dir"],
  ["EEXIST", "Cannot use /d: it is a file and no directory; give another place with --data-dir"],
  ["ENOENT", "Cannot use /d: it cannot be made there; give another place with --data-dir"],
  ["ENOTDIR", "Cannot use /d: a part of the path is a file; give another place with --data-dir"],
  ["EDQUOT", "Cannot use /d: this user's share of the disk is used up; make room, or give another place with --data-dir"],
  ["ENAMETOOLONG", "Cannot use /d: the path, or a name in it, is too long; give a shorter one with --data-dir"],
  ["ELOOP", "Cannot use /d: a link in the path leads back to itself; give another place with --data-dir"],
] as const) {
  test(`${code} is told with what to do`, () => {
    const explained = explainFileError(failure(code, "/d"), { action: "use /d", flag: "--data-dir" }) as Error;
    equal(explained.message, sentence);
    equal((explained.cause as NodeJS.ErrnoException).code, code);
  });
}

test("the file is named if it is not the one that was asked for, and other errors pass", () => {
  const inside = explainFileError(failure("EACCES", "/d/run"), { action: "use /d", flag: "--data-dir" }) as Error;
  equal(inside.message.endsWith("allow it (/d/run)"), true);
  const other = new Error("x");
  equal(explainFileError(other, { action: "use /d", flag: "--data-dir" }), other);
});

test("the file that was meant is named, and not the one that was to take its place", () => {
  const renamed = Object.assign(failure("EPERM", "/d/config.426.partial"), { dest: "/d/config" });
  for (const error of [renamed, failure("EPERM", "/d/config.426.partial")]) {
    const explained = explainFileError(error, { action: "change /k", flag: "--kubeconfig" }) as Error;
    equal(explained.message.endsWith("let its owner allow it (/d/config)"), true);
  }
});

test("what fails in a home is told as the home's, whatever it was wrapped in; what is missing in it is not", () => {
  const wrapped = new Error("Cannot write; choose a place with --kubeconfig", { cause: failure("ENOSPC", "/d/kubeconfig") });
  equal(
    (explainHomeError(wrapped, "/d") as Error).message,
    "Cannot use /d: no space is left on the disk; make room (df -h shows where), or give another place with --data-dir (/d/kubeconfig)",
  );
  for (const other of [wrapped, new Error("x", { cause: failure("ENOENT", "/e/a") })]) equal(explainHomeError(other, "/e"), other);
});

for (const [code, sentence] of [
  ["EROFS", 'Cannot clean up after cluster "a": the file system is read-only; mount it for writing (/d/run/holder)'],
  ["ENOSPC", 'Cannot clean up after cluster "a": no space is left on the disk; make room (df -h shows where) (/d/run/holder)'],
  ["ENOTDIR", 'Cannot clean up after cluster "a": a part of the path is a file (/d/run/holder)'],
] as const) {
  test(`where no other place helps, none is asked for: ${code}`, () => {
    const explained = explainHomeError(failure(code, "/d/run/holder"), "/d", { action: 'clean up after cluster "a"' }) as Error;
    equal(explained.message, sentence);
  });
}

test("a place that cannot even be looked at is told as such", () => {
  equal(
    (explainForeignHome(failure("ENAMETOOLONG", "/d/k8ts.json"), "/d") as Error).message,
    "Cannot look into /d: the path, or a name in it, is too long; give a shorter one with --data-dir (/d/k8ts.json)",
  );
});

test("another user's home is told as such", () => {
  equal(
    (explainForeignHome(failure("EACCES", "/d/k8ts.json"), "/d") as Error).message,
    "Cannot look into /d: this user may not; run this as the user whose cluster it is, or with sudo, or name another with --name or --data-dir",
  );
  const other = failure("EIO");
  equal(explainForeignHome(other, "/d"), other);
});

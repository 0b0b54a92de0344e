import { equal } from "node:assert/strict";
import { test } from "node:test";
import { ListenError } from "../../host/http/server.ts";
import { explainFileError, explainForeignHome, explainHomeError, explainListenError, isPortTaken, portTakenText } from "./start-errors.ts";

const failure = (code: string, path?: string) => Object.assign(new Error(`${code}: as the system says it`), { code, path });

for (const [code, sentence] of [
  ["EACCES", "Cannot use /d: this user may not write there; give another place with --data-dir, or let its owner allow it"],
  ["EROFS", "Cannot use /d: the file system is read-only; give another place with --data-dir, or mount it for writing"],
  ["ENOSPC", "Cannot use /d: no space is left on the disk; make room (df -h shows where), or give another place with --data-dir"],
  ["EEXIST", "Cannot use /d: it is a file and no directory; give another place with --data-dir"],
  ["ENOENT", "Cannot use /d: it cannot be made there; give another place with --data-dir"],
  ["ENOTDIR", "Cannot use /d: a part of the path is a file; give another place with --data-dir"],
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

test("another user's home is told as such", () => {
  equal(
    (explainForeignHome(failure("EACCES", "/d/k8ts.json"), "/d") as Error).message,
    "Cannot look into /d: this user may not; run this as the user whose cluster it is, or with sudo, or name another with --name or --data-dir",
  );
  const other = failure("EIO");
  equal(explainForeignHome(other, "/d"), other);
});

test("a port that is taken is recognised below other errors", () => {
  const listen = new ListenError("x", "EADDRINUSE", undefined);
  equal(isPortTaken(new Error("outer", { cause: listen })), true);
  equal(isPortTaken(new Error("outer", { cause: new ListenError("x", "EACCES", undefined) })), false);
});

for (const [code, sentence] of [
  ["EACCES", "Cannot listen on [::1]:80: this user may not listen there; choose a port from 1024 on with --secure-port"],
  ["EADDRNOTAVAIL", "Cannot listen on [::1]:80: this machine has no such address; choose another with --listen"],
] as const) {
  test(`${code} of a place to listen is told with the flags that were used, and with the system's words alone`, () => {
    const root = failure(code);
    const error = new Error("outer", { cause: new ListenError("x", code, root) });
    const explained = explainListenError(error, { address: "::1", port: 80, addressFlag: "--listen", portFlag: "--secure-port" }) as Error;
    equal(explained.message, sentence);
    equal(explained.cause, root);
  });
}

test("what is no failure to listen, or one without advice, passes", () => {
  const place = { address: "::1", port: 80, addressFlag: "--listen", portFlag: "--listen" };
  for (const error of [new Error("x"), new ListenError("x", "EIO", undefined)]) equal(explainListenError(error, place), error);
});

const WAY = "choose another port with --listen ADDRESS:PORT (port 0 takes any that is free)";
for (const [title, taken, sentence] of [
  ["nobody known", { holder: undefined }, `another program listens there; stop it, or ${WAY}`],
  ["a process", { holder: { pid: 7, command: "nginx -g" } }, `process 7 (nginx -g) listens there; stop it, or ${WAY}`],
  [
    "a cluster",
    { holder: { pid: 7, command: "node" }, cluster: { name: "second", commandArguments: " --name second" } },
    `the cluster "second" listens there (process 7); stop it with "k8ts down --name second", or ${WAY}`,
  ],
] as const) {
  test(`a port that is held by ${title} is told so`, () => {
    equal(portTakenText({ address: "::1", port: 6443, ...taken }), `Cannot listen on [::1]:6443: ${sentence}`);
  });
}

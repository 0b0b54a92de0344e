import { deepEqual, equal, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { passThrough } from "./pass-through.ts";

/** A process that passes through to `sh -c script`, as `k8ts kubectl` does to kubectl. */
function start(script: string) {
  const module = JSON.stringify(new URL("./pass-through.js", import.meta.url).href);
  const options = JSON.stringify({ command: "/bin/sh", arguments: ["-c", script], environment: { GIVEN: "yes" } });
  const program = `import(${module}).then((m) => m.passThrough(${options})).then((code) => process.exit(code))`;
  return spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
}

test("the program has our streams and the environment that it was given, and its exit code is the result", async () => {
  const child = start('read line; echo "$line $GIVEN"; exit 7');
  child.stdin.end("hello\n");
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  deepEqual(await once(child, "close"), [7, null]);
  equal(text, "hello yes\n");
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const) {
  test(`${signal} goes to the program, which decides what comes of it`, async () => {
    // A shell runs its trap when the command that it waits for has ended; wait is interrupted at once.
    const child = start(`trap 'echo got; exit 3' ${signal.slice(3)}; sleep 1000 & echo ready; wait; kill $!`);
    const ended = once(child, "close");
    await once(child.stdout, "data");
    child.kill(signal);
    deepEqual((await once(child.stdout, "data")).map(String), ["got\n"]);
    child.stdout.destroy();
    deepEqual(await ended, [3, null]);
  });
}

test("a program that a signal ends has the code that a shell reports", async () => {
  equal(await passThrough({ command: "/bin/sh", arguments: ["-c", "kill -9 $$"], environment: {} }), 137);
});

test("a program that cannot be started is named", async () => {
  await rejects(passThrough({ command: "/none", arguments: [], environment: {} }), /^Error: Cannot start \/none: /);
});

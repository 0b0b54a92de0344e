import { deepEqual, equal, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { runInForeground } from "./exec-foreground.ts";

/** A process that passes through to a program, as `k8ts kubectl` does to kubectl. */
function start(command: string, words: readonly string[]) {
  const module = JSON.stringify(new URL("./exec-foreground.js", import.meta.url).href);
  const options = JSON.stringify({ command, arguments: words, environment: { GIVEN: "yes" } });
  const program = `import(${module}).then((m) => m.runInForeground(${options})).then((code) => process.exit(code))`;
  return spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
}

test("the program has our streams and the given environment, and its exit code is the result", async () => {
  const child = start("/bin/sh", ["-c", 'read line; echo "$line $GIVEN"; exit 7']);
  child.stdin.end("hello\n");
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  deepEqual(await once(child, "close"), [7, null]);
  equal(text, "hello yes\n");
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const) {
  test(`${signal} is forwarded to the program, which decides how to handle it`, async () => {
    // No shell: one that receives a signal just before `wait` blocks waits in vain.
    const handler = `process.on("${signal}", () => { console.log("got"); process.exitCode = 3; clearInterval(running); });`;
    const child = start(process.execPath, ["-e", `const running = setInterval(() => {}, 1e6); ${handler} console.log("ready");`]);
    const ended = once(child, "close");
    await once(child.stdout, "data");
    child.kill(signal);
    deepEqual((await once(child.stdout, "data")).map(String), ["got\n"]);
    deepEqual(await ended, [3, null]);
  });
}

test("a program that is killed by a signal has the exit code that a shell reports", async () => {
  equal(await runInForeground({ command: "/bin/sh", arguments: ["-c", "kill -9 $$"], environment: {} }), 137);
});

test("a program that cannot be started is reported by name", async () => {
  await rejects(runInForeground({ command: "/none", arguments: [], environment: {} }), /^Error: Cannot start \/none: /);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { execProgram, type ExecOptions } from "./exec-program.ts";
import { realClock } from "../real-clock.ts";

function run(script: string, options: Partial<ExecOptions> = {}) {
  return execProgram({
    command: process.execPath,
    arguments: ["-e", script],
    environment: { X: "1" },
    isInteractive: false,
    clock: realClock,
    timeoutMs: 60_000,
    ...options,
  });
}

test("the output of a program is returned byte by byte with its exit code", async () => {
  const outcome = await run("process.stdout.write(process.env.X + '\\n\\u00fc'); process.exitCode = 4");
  assert.deepEqual(outcome, { is: "ended", code: 4, output: Buffer.from("1\nü") });
});

test("a program that is missing, times out, prints too much or is killed is distinguished", async () => {
  assert.deepEqual(await run("", { command: "/none" }), { is: "missing" });
  assert.deepEqual(await run("setInterval(() => {}, 1000)", { timeoutMs: 100 }), { is: "failed", why: "timed out after 0.1 s" });
  assert.deepEqual(await run("process.stdout.write('x'.repeat(2e6))"), { is: "failed", why: "its output exceeds 1048576 bytes" });
  assert.deepEqual(await run("process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"), {
    is: "failed",
    why: "it was killed by SIGTERM",
  });
});

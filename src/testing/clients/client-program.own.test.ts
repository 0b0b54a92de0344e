import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { clientProgram, wordsOf } from "./client-program.ts";

const node = clientProgram({ path: process.execPath, environment: { KEPT: "yes" } });

test("a command line is split into arguments as a shell does, with single quotes", () => {
  const rows: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["get pods  -o name", ["get", "pods", "-o", "name"]],
    [`patch web -p '{"a": "b c"}'`, ["patch", "web", "-p", `{"a": "b c"}`]],
    ["annotate one note='two words'", ["annotate", "one", "note=two words"]],
    ["create --value ''", ["create", "--value", ""]],
  ];
  for (const [line, words] of rows) deepEqual(wordsOf(line), words);
});

test("a client program gets its stdin and an environment of its own, and its stdout and stderr are kept separate", async () => {
  const script = `'process.stdin.on("data", (text) => console.log(process.env.KEPT, process.env.HOME, String(text))); console.error("note")'`;

  deepEqual(await node.run(`-e ${script}`, { input: { a: 1 } }), { code: 0, stdout: `yes undefined {"a":1}\n`, stderr: "note\n" });
  equal(await node.with("--no-warnings")(`-e ${script}`, { input: "x", environment: { HOME: "/" } }), "yes / x\n");
});

test("a command rejects if it fails, and `fails` rejects if it succeeds", async () => {
  equal(await node.fails(`-e 'console.error("no"); process.exit(3)'`), "no\n");
  await rejects(node.fails(`-e ''`), /to fail, it succeeded/);
  await rejects(node(`-e 'console.error("no"); process.exit(3)'`), /to succeed, it exited with 3: no/);
});

test("a running client program is read line by line and terminated on dispose", async () => {
  await using running = node.start(`-e 'console.error("ready"); console.log("a\\nb"); setInterval(() => {}, 1000)'`);

  await running.noted(/^ready$/);
  deepEqual([await running.line(), await running.line()], ["a", "b"]);
});

test("a client program that exits too early rejects with its stderr", async () => {
  await using running = node.start(`-e 'console.error("because")'`);

  await rejects(running.line(), /but the program exited: because/);
  await rejects(running.noted(/ready/), /but the program exited: because/);
});

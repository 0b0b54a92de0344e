import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { clientProgram, wordsOf } from "./client-program.ts";

const node = clientProgram({ path: process.execPath, environment: { KEPT: "yes" } });

test("a line is taken apart as a shell would, with single quotes", () => {
  const rows: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["get pods  -o name", ["get", "pods", "-o", "name"]],
    [`patch web -p '{"a": "b c"}'`, ["patch", "web", "-p", `{"a": "b c"}`]],
    ["annotate one note='two words'", ["annotate", "one", "note=two words"]],
    ["create --value ''", ["create", "--value", ""]],
  ];
  for (const [line, words] of rows) deepEqual(wordsOf(line), words);
});

test("a program gets its input and its own environment, and its outputs are told apart", async () => {
  const script = `'process.stdin.on("data", (text) => console.log(process.env.KEPT, process.env.HOME, String(text))); console.error("note")'`;

  deepEqual(await node.run(`-e ${script}`, { input: { a: 1 } }), { code: 0, stdout: `yes undefined {"a":1}\n`, stderr: "note\n" });
  equal(await node.with("--no-warnings")(`-e ${script}`, { input: "x", environment: { HOME: "/" } }), "yes / x\n");
});

test("success and failure are claims that are checked", async () => {
  equal(await node.fails(`-e 'console.error("no"); process.exit(3)'`), "no\n");
  await rejects(node.fails(`-e ''`), /to fail, it succeeded/);
  await rejects(node(`-e 'console.error("no"); process.exit(3)'`), /to succeed, it exited with 3: no/);
});

test("a running program is read line by line, and gone when it is disposed of", async () => {
  await using running = node.start(`-e 'console.error("ready"); console.log("a\\nb"); setInterval(() => {}, 1000)'`);

  await running.noted(/^ready$/);
  deepEqual([await running.line(), await running.line()], ["a", "b"]);
});

test("a program that ends too early says why", async () => {
  await using running = node.start(`-e 'console.error("because")'`);

  await rejects(running.line(), /the program ended: because/);
  await rejects(running.noted(/ready/), /the program ended: because/);
});

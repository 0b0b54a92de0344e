import { deepEqual } from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { followLines } from "./follow-file.ts";

async function aFile(context: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-follow-"));
  context.after(() => rm(directory, { recursive: true }));
  const path = join(directory, "k8ts.log");
  await writeFile(path, text);
  return path;
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

const TEN = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join("");
const all = { follows: false, isWanted: () => true, signal: new AbortController().signal };

for (const [title, options, expected] of [
  ["all lines", {}, 10],
  ["the last three", { tail: 3 }, 3],
  ["more than there are", { tail: 30 }, 10],
  ["none", { tail: 0 }, 0],
  ["the last three of those that are wanted", { tail: 3, isWanted: (line: string) => /[0-4]$/.test(line) }, 3],
] as const) {
  test(`followLines returns ${title}`, async (context) => {
    const lines = await collect(followLines(await aFile(context, TEN), { ...all, ...options }));
    deepEqual(lines.length, expected);
    deepEqual(lines.at(-1), expected === 0 ? undefined : "isWanted" in options ? "line 4" : "line 9");
  });
}

test("the last lines of a long file are returned", async (context) => {
  const path = await aFile(context, Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join(""));
  deepEqual(await collect(followLines(path, { ...all, tail: 2 })), ["line 49998", "line 49999"]);
});

test(
  "appended lines are returned when they are complete, also after the file was truncated and replaced",
  { timeout: 20_000 },
  async (context) => {
    const path = await aFile(context, "old\n");
    const stop = new AbortController();
    const lines = followLines(path, { ...all, follows: true, signal: stop.signal });
    const next = async () => (await lines.next()).value as string | undefined;

    deepEqual(await next(), "old");
    const first = next();
    await appendFile(path, "ha");
    await appendFile(path, "lf\n");
    deepEqual(await first, "half");

    const second = next();
    await truncate(path);
    await appendFile(path, "a\n");
    deepEqual(await second, "a");

    const third = next();
    await rename(path, `${path}.1`);
    await writeFile(path, "new\n");
    deepEqual(await third, "new");

    const end = lines.next();
    stop.abort();
    deepEqual((await end).done, true);
  },
);

test("lines appended between the initial read and the watch are returned", { timeout: 20_000 }, async (context) => {
  for (let turns = 0; turns < 40; turns++) {
    const path = await aFile(context, "old\n");
    const stop = new AbortController();
    const lines = followLines(path, { ...all, follows: true, signal: stop.signal });
    deepEqual((await lines.next()).value, "old");
    const next = lines.next();
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    appendFileSync(path, "new\n");
    deepEqual((await next).value, "new", `written after ${turns} turns of the loop`);
    stop.abort();
    deepEqual(await lines.next(), { value: undefined, done: true });
  }
});

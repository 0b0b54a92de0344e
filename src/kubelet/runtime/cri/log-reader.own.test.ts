import { deepEqual, equal, rejects } from "node:assert/strict";
import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Clock } from "../../../base/clock.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { LogOptions } from "../../runtime.ts";
import { readLog } from "./log-reader.ts";

/** Shorter sleeps have other reasons. */
const REST_MS = 1_000;

const line = (text: string) => `2026-01-01T00:00:00.000000000Z stdout F ${text}\n`;

/** The log of a container that runs until it is said to have ended. */
async function aLog(text: string) {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-log-"));
  const path = join(directory, "0.log");
  await writeFile(path, text);
  let isRunning = true;
  let onEnd = (): void => undefined;
  let onRest = (): void => undefined;
  // It sleeps when it has read all that there is.
  const clock: Clock = {
    ...realClock,
    sleep: (delayMs, signal) => {
      if (delayMs >= REST_MS) onRest();
      return realClock.sleep(delayMs, signal);
    },
  };
  const options = {
    path,
    clock,
    isRunning: () => Promise.resolve(isRunning),
    watch: (listener: () => void) => {
      onEnd = listener;
      return { [Symbol.dispose]: () => undefined };
    },
  };
  return {
    path,
    rests: (): Promise<void> => new Promise((resolve) => (onRest = resolve)),
    end: (): void => {
      isRunning = false;
      onEnd();
    },
    async *read(wanted: Partial<LogOptions> = {}) {
      for await (const { text } of readLog(options, { follow: false, ...wanted }, new AbortController().signal)) yield text;
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

async function next(lines: AsyncIterator<string>): Promise<string | undefined> {
  const { value, done } = await lines.next();
  return done === true ? undefined : value;
}

test("who follows a log that is rotated reads the old file for as long as the runtime writes there", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");

  const aside = `${log.path}.20260101-000000`;
  await rename(log.path, aside);
  await writeFile(log.path, "");
  const rests = log.rests();
  const two = next(lines);
  await rests;
  await appendFile(aside, line("two"));
  equal(await two, "two");

  const three = next(lines);
  await appendFile(log.path, line("three"));
  equal(await three, "three");

  const over = next(lines);
  log.end();
  equal(await over, undefined);
});

test("what a container wrote last is read from either file", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");

  await rename(log.path, `${log.path}.20260101-000000`);
  await appendFile(`${log.path}.20260101-000000`, line("two"));
  await writeFile(log.path, "");
  log.end();
  const rest: string[] = [];
  for await (const text of lines) rest.push(text);
  deepEqual(rest, ["two"]);
});

test("a log without a file is an error that names it", async () => {
  await using log = await aLog("");
  await rm(log.path);
  await rejects(log.read().next(), { message: `failed to open log file "${log.path}": no such file or directory` });
});

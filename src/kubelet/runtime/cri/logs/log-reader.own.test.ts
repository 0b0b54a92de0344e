import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Clock } from "../../../../base/clock.ts";
import { realClock } from "../../../../host/real-clock.ts";
import type { LogOptions } from "../../../contracts/runtime.ts";
import { readLog } from "./log-reader.ts";

/** Shorter sleeps have other reasons: waiting for writes to settle, or polling. */
const REST_MS = 1_000;

const line = (text: string, second = 0) => `2026-01-01T00:00:0${second}.000000000Z stdout F ${text}\n`;

/** The log of a container that runs until the test ends it. */
async function aLog(text: string) {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-log-"));
  const path = join(directory, "0.log");
  await writeFile(path, text);
  let isRunning = true;
  let onEnd = (): void => undefined;
  let onRest = (): void => undefined;
  let whileItSettles = (): Promise<void> => Promise.resolve();
  let elapsedMs = 0;
  // The reader sleeps when it has read everything. On its clock only settling takes time, and that passes at once.
  const clock: Clock = {
    ...realClock,
    monotonic: () => elapsedMs,
    async sleep(delayMs, signal) {
      if (delayMs >= REST_MS) {
        onRest();
        return realClock.sleep(delayMs, signal);
      }
      elapsedMs += delayMs;
      const work = whileItSettles;
      whileItSettles = () => Promise.resolve();
      await work();
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
    /** Runs once, while the reader waits for the runtime to settle. */
    whenItSettles: (work: () => Promise<void>): void => void (whileItSettles = work),
    elapsedMs: (): number => elapsedMs,
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

async function rest(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const text of lines) texts.push(text);
  return texts;
}

test("following a rotated log reads the old file as long as the runtime writes to it", async () => {
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

test("the last lines of a container are read from the old and from the new file", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");

  await rename(log.path, `${log.path}.20260101-000000`);
  await appendFile(`${log.path}.20260101-000000`, line("two"));
  await writeFile(log.path, "");
  log.end();
  deepEqual(await rest(lines), ["two"]);
});

test("lines that the runtime writes to the old file after the first line of the new one are read", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");
  const aside = `${log.path}.20260101-000000`;
  await rename(log.path, aside);
  await writeFile(log.path, line("three", 1));
  equal(await next(lines), "three");

  await appendFile(aside, line("two, late"));
  await appendFile(log.path, line("four", 1));
  const two = [await next(lines)];
  log.end();

  // The order of the two is undefined.
  deepEqual(new Set([...two, ...(await rest(lines))]), new Set(["four", "two, late"]));
});

test("final lines in the old file are read, complete or not", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");
  const aside = `${log.path}.20260101-000000`;
  await rename(log.path, aside);
  await writeFile(log.path, line("three", 1));
  equal(await next(lines), "three");

  await appendFile(aside, line("two, late") + line("cut off").trimEnd());
  log.end();

  deepEqual(await rest(lines), ["two, late", "cut off"]);
});

for (const { title, isPacked, isFirstGone } of [
  { title: "the first one compressed, as a rotation leaves them", isPacked: ["one"], isFirstGone: false },
  { title: "none compressed", isPacked: [], isFirstGone: false },
  { title: "all compressed", isPacked: ["one", "two", "three"], isFirstGone: false },
  { title: "the first one removed", isPacked: ["two"], isFirstGone: true },
]) {
  test(`a log reader that was delayed during several rotations reads the files in between: ${title}`, async () => {
    await using log = await aLog(line("one", 1));
    // From before the first read: it is not read.
    await writeFile(`${log.path}.20260101-000000`, line("zero", 0));
    const lines = log.read({ follow: true });
    equal(await next(lines), "one");

    for (const [index, text] of ["one", "two", "three"].entries()) {
      const aside = `${log.path}.20260101-00000${index + 1}`;
      await rename(log.path, aside);
      await writeFile(log.path, line(["two", "three", "four"][index]!, index + 2));
      if (isPacked.includes(text)) {
        await writeFile(`${aside}.gz`, gzipSync(await readFile(aside)));
        await rm(aside);
      }
    }
    if (isFirstGone) await rm(`${log.path}.20260101-000001`);
    log.end();

    deepEqual(await rest(lines), ["two", "three", "four"]);
  });
}

test("a followed log whose file was deleted continues with the new file, not with earlier rotated ones", async () => {
  await using log = await aLog(line("two", 2));
  await writeFile(`${log.path}.20260101-000000`, line("one", 1));
  const lines = log.read({ follow: true });
  equal(await next(lines), "two");

  await rm(log.path);
  await writeFile(log.path, line("three", 3));
  log.end();

  deepEqual(await rest(lines), ["three"]);
});

test("lines that the runtime had not yet written at the exit event are read", async () => {
  await using log = await aLog(line("one"));
  const lines = log.read({ follow: true });
  equal(await next(lines), "one");

  log.whenItSettles(() => appendFile(log.path, line("two")));
  log.end();

  deepEqual(await rest(lines), ["two"]);
});

test("reading the log of a running container waits for a missing file", async () => {
  await using log = await aLog("");
  await rm(log.path);

  log.whenItSettles(() => writeFile(log.path, line("one")));

  deepEqual(await rest(log.read()), ["one"]);
});

test("reading a log fails after a timeout if its file stays missing", async () => {
  await using log = await aLog("");
  await rm(log.path);

  await rejects(log.read().next(), { message: `failed to open log file "${log.path}": no such file or directory` });

  ok(log.elapsedMs() >= 5_000 && log.elapsedMs() < 6_000, `${log.elapsedMs()} ms`);
});

test("reading the missing log of an exited container fails at once and names the file", async () => {
  await using log = await aLog("");
  await rm(log.path);
  log.end();
  await rejects(log.read().next(), { message: `failed to open log file "${log.path}": no such file or directory` });
  equal(log.elapsedMs(), 0);
});

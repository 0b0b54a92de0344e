/** Termination messages from a log whose end is written late, on a fake runtime. */
import { deepEqual, equal } from "node:assert/strict";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Clock } from "../../../base/clock.ts";
import { realClock } from "../../../host/real-clock.ts";
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from "./labels.ts";
import { PodViews } from "./pod-views.ts";
import { FAKE_OWNER, FAKE_UID, fakeRuntime } from "./testing/fake-runtime.ts";

const FINISHED_AT_MS = Date.UTC(2026, 0, 1);
const MOUNT = { readOnly: false, seLinuxRelabel: false, propagation: 0, recursiveReadOnly: false };
const line = (text: string) => `2026-01-01T00:00:00.000000000Z stdout F ${text}\n`;

/** A container that failed `agoMs` ago. Time passes only during sleeps. */
async function start(context: TestContext, { agoMs = 0, policy = "FallbackToLogsOnError", exitCode = 1, words = "" } = {}) {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-views-"));
  context.after(() => rm(directory, { recursive: true }));
  const logPath = join(directory, "0.log");
  await writeFile(logPath, line("why"));
  let elapsedMs = agoMs;
  const sleeps: number[] = [];
  let onSleep = (): Promise<void> => Promise.resolve();
  const clock: Clock = {
    ...realClock,
    now: () => FINISHED_AT_MS + elapsedMs,
    monotonic: () => elapsedMs,
    async sleep(durationMs) {
      sleeps.push(durationMs);
      elapsedMs += durationMs;
      await onSleep();
    },
  };
  const annotations = [
    { key: TERMINATION_MESSAGE_POLICY, value: policy },
    { key: TERMINATION_MESSAGE_PATH, value: "/dev/termination-log" },
  ];
  const hostPath = join(directory, "termination-log");
  await writeFile(hostPath, words);
  const mounts = [{ ...MOUNT, containerPath: "/dev/termination-log", hostPath }];
  const runtime = fakeRuntime({ exitCode, finishedAt: BigInt(FINISHED_AT_MS) * 1_000_000n, logPath, annotations, mounts });
  const views = new PodViews({ client: runtime.client, owner: FAKE_OWNER, clock });
  return {
    sleeps,
    statusRequests: runtime.statusRequests,
    passes: (durationMs: number): void => void (elapsedMs += durationMs),
    fileGoes: (): Promise<void> => rm(hostPath),
    writes: (text: string): Promise<void> => appendFile(logPath, line(text)),
    whileItWaits: (work: () => Promise<void>): void => void (onSleep = work),
    async message(): Promise<string | undefined> {
      const state = (await views.status(FAKE_UID))?.containers[0]?.state;
      return state?.is === "exited" ? state.message : undefined;
    },
  };
}

test("a termination message from a log includes lines that the runtime wrote after the exit event", async (context) => {
  const { message, whileItWaits, writes, sleeps } = await start(context);
  whileItWaits(() => writes("so"));

  equal(await message(), "why\nso\n");
  equal(await message(), "why\nso\n");
  // A second read does not wait again.
  deepEqual(sleeps, [100]);
});

test("a termination message from a log that grows later is read again, then cached", async (context) => {
  const { message, writes, passes, statusRequests } = await start(context);
  equal(await message(), "why\n");

  await writes("so");
  equal(await message(), "why\nso\n");

  passes(11_000);
  await message();
  const before = statusRequests();
  await message();
  equal(statusRequests(), before);
});

for (const { title, given, expected } of [
  { title: "to its file", given: { words: "bye" }, expected: "bye" },
  { title: "to its file before it was killed", given: { words: "bye", exitCode: 137, policy: "File" }, expected: "bye" },
  { title: "to its log", given: {}, expected: "why\n" },
]) {
  test(`the termination message of a container that wrote ${title} is kept after the file was removed with its Pod`, async (context) => {
    const { message, fileGoes } = await start(context, given);
    equal(await message(), expected);

    await fileGoes();

    equal(await message(), expected);
  });
}

test("a container whose file was removed before the first read has no termination message", async (context) => {
  const { message, fileGoes } = await start(context);
  await fileGoes();

  equal(await message(), undefined);
});

for (const { title, given } of [
  { title: "exited long ago", given: { agoMs: 60_000 } },
  { title: "completed", given: { exitCode: 0 } },
  { title: "has an empty log", given: { policy: "File" } },
]) {
  test(`the log of a container that ${title} is read at most once and without waiting`, async (context) => {
    const { message, sleeps, statusRequests } = await start(context, given);
    await message();
    await message();
    deepEqual([sleeps, statusRequests()], [[], 1]);
  });
}

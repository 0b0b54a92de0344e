import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { runInLanes, type JobGroup } from "./lanes.ts";

/** Jobs that end on request, and the names of those that run. */
class Jobs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  group(concurrency: number, ...names: readonly string[]): JobGroup {
    return { concurrency, jobs: names.map((name) => () => this.#run(name)) };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }

  #run(name: string): Promise<void> {
    this.begun.push(name);
    return new Promise((resolve) => this.#ends.set(name, resolve));
  }
}

const never = new AbortController().signal;

test("runs at most one job per lane, earlier groups first, within each group's own limit", async () => {
  const jobs = new Jobs();
  const all = runInLanes(2, never, [jobs.group(1, "shared"), jobs.group(1, "m1", "m2"), jobs.group(2, "a", "b", "c")]);
  deepEqual(jobs.begun, ["shared", "m1"]);
  await jobs.end("shared");
  deepEqual(jobs.begun, ["shared", "m1", "a"]);
  await jobs.end("a");
  deepEqual(jobs.begun.slice(3), ["b"]);
  await jobs.end("m1");
  deepEqual(jobs.begun.slice(4), ["m2"]);
  await jobs.end("m2");
  deepEqual(jobs.begun.slice(5), ["c"]);
  await jobs.end("b");
  await jobs.end("c");
  await all;
});

test("a spare lane is used when a processor is idle, for one job per observation", async () => {
  const jobs = new Jobs();
  const observations: ((isIdle: boolean) => void)[] = [];
  const spare = { count: 2, hasIdleProcessor: () => new Promise<boolean>((resolve) => observations.push(resolve)) };
  const observe = (isIdle: boolean) => {
    observations.shift()?.(isIdle);
    return jobs.end("none");
  };
  const all = runInLanes(1, never, [jobs.group(1, "m1", "m2"), jobs.group(3, "a", "b", "c")], spare);
  deepEqual(jobs.begun, ["m1"]);
  await observe(false);
  deepEqual(jobs.begun, ["m1"]);
  await observe(true);
  deepEqual(jobs.begun, ["m1", "a"]);
  await observe(true);
  deepEqual(jobs.begun, ["m1", "a", "b"]);
  deepEqual(observations, [], "all lanes are in use");
  await jobs.end("a");
  await jobs.end("b");
  deepEqual(jobs.begun, ["m1", "a", "b"], "the lane itself is still in use");
  await jobs.end("m1");
  await jobs.end("m2");
  await jobs.end("c");
  await all;
});

test("after an abort no job starts, and running ones are awaited", async () => {
  const jobs = new Jobs();
  const stop = new AbortController();
  let hasEnded = false;
  const all = runInLanes(1, stop.signal, [jobs.group(1, "a", "b")]).then(() => (hasEnded = true));
  stop.abort();
  await jobs.end("none");
  deepEqual(hasEnded, false);
  await jobs.end("a");
  await all;
  deepEqual(jobs.begun, ["a"]);
});

test("a job that rejects makes the whole run reject", async () => {
  await rejects(runInLanes(1, never, [{ concurrency: 1, jobs: [() => Promise.reject(new Error("no process"))] }]), /no process/);
});

test("without jobs it resolves immediately", async () => {
  await runInLanes(2, never, [{ concurrency: 1, jobs: [] }]);
});

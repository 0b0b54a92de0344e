import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { inLanes, type JobGroup } from "./lanes.ts";

/** Jobs that end when they are told, and who runs. */
class Jobs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  group(atOnce: number, ...names: readonly string[]): JobGroup {
    return { atOnce, jobs: names.map((name) => () => this.#run(name)) };
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

test("as many at once as there are lanes, earlier groups first, and of a group no more than it allows", async () => {
  const jobs = new Jobs();
  const all = inLanes(2, never, [jobs.group(1, "shared"), jobs.group(1, "m1", "m2"), jobs.group(2, "a", "b", "c")]);
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

test("after the signal none is begun, and those that had begun are waited for", async () => {
  const jobs = new Jobs();
  const stop = new AbortController();
  let hasEnded = false;
  const all = inLanes(1, stop.signal, [jobs.group(1, "a", "b")]).then(() => (hasEnded = true));
  stop.abort();
  await jobs.end("none");
  deepEqual(hasEnded, false);
  await jobs.end("a");
  await all;
  deepEqual(jobs.begun, ["a"]);
});

test("one that cannot be run ends it all", async () => {
  await rejects(inLanes(1, never, [{ atOnce: 1, jobs: [() => Promise.reject(new Error("no process"))] }]), /no process/);
});

test("without jobs it is done at once", async () => {
  await inLanes(2, never, [{ atOnce: 1, jobs: [] }]);
});

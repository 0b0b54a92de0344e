/**
 * A store with 200,000 objects of 2 KB: time to reopen it, and memory per object. The file was just written and is in the page cache: this
 * measures the program, not the disk.
 */
import { join } from "node:path";
import type { Benchmark, Figure } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LargeTasks } from "./large-child.ts";

const OBJECTS = 200_000;
const VALUE_BYTES = 2_048;

/** Until everything has been listed with values, which an API server does first after a restart. */
const REOPEN_MS_MAX = 2_000;

/** Each takes seconds, and memory hardly varies. */
const REPETITIONS = 3;

export const storeLarge: Benchmark = {
  name: "store/large",
  measures: "200,000 objects of 2 KB: time from opening to the first get and to a full list with bytes; memory per object",
  async *run({ directory, rounds, signal }) {
    const set = { directory: join(directory, "large"), objects: OBJECTS, valueBytes: VALUE_BYTES };
    const inNewChild = async <Name extends keyof LargeTasks>(task: Name): Promise<Awaited<ReturnType<LargeTasks[Name]>>> => {
      await using child = startChild<LargeTasks>(import.meta.url, "large-child", signal);
      return await child.call(task, set);
    };
    await inNewChild("make");

    const { reopened } = await rounds.measure({ reopened: () => inNewChild("reopen") }, REPETITIONS);
    const firstGet = reopened.map(({ firstGetMs }) => firstGetMs);
    yield figureOf({ name: "store/large-reopen-to-first-get", unit: "ms", values: firstGet });
    const fullList = reopened.map(({ fullListMs }) => fullListMs);
    yield figureOf({ name: "store/large-reopen-to-full-list", unit: "ms", values: fullList, budget: { atMost: REOPEN_MS_MAX } });

    const { embedded } = await rounds.measure({ embedded: () => inNewChild("memoryOfEmbedded") }, REPETITIONS);
    yield perObject("embedded-opened-held", embedded, ({ opened }) => opened.held);
    yield perObject("embedded-opened-resident", embedded, ({ opened }) => opened.resident);
    yield perObject("embedded-all-read-resident", embedded, ({ read }) => read.resident);
    yield perObject("embedded-all-read-mapped", embedded, ({ read }) => read.mapped);
    const { memory } = await rounds.measure({ memory: () => inNewChild("memoryOfMemory") }, REPETITIONS);
    yield perObject("memory-held", memory, ({ held }) => held);
    yield perObject("memory-resident", memory, ({ resident }) => resident);
  },
};

function perObject<Result>(name: string, results: readonly Result[], bytesOf: (result: Result) => number): Figure {
  return figureOf({ name: `store/large-${name}`, unit: "bytes/object", values: results.map((result) => bytesOf(result) / OBJECTS) });
}

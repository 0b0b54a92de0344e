/**
 * A store with 200,000 objects of 2 KB: how soon it is there when it is opened again, and what memory an object takes. The file
 * was just written, so the system has it in memory: what is measured is the program, not the disk.
 */
import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LargeTasks } from "./large-child.ts";

const OBJECTS = 200_000;
const VALUE_BYTES = 2_048;

/** Until everything has been listed, bytes and all: an API server that is opened again does that first. */
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
    const timeMs = (name: string, values: readonly number[]) => ({ name: `store/large-reopen-to-${name}`, unit: "ms", values });
    yield figureOf(
      timeMs(
        "first-get",
        reopened.map(({ firstGetMs }) => firstGetMs),
      ),
    );
    yield figureOf({
      ...timeMs(
        "full-list",
        reopened.map(({ fullListMs }) => fullListMs),
      ),
      budget: { atMost: REOPEN_MS_MAX },
    });

    const perObject = (name: string, bytes: readonly number[]) =>
      figureOf({ name: `store/large-${name}`, unit: "bytes/object", values: bytes.map((each) => each / OBJECTS) });
    const { embedded } = await rounds.measure({ embedded: () => inNewChild("memoryOfEmbedded") }, REPETITIONS);
    yield perObject(
      "embedded-opened-held",
      embedded.map(({ opened }) => opened.held),
    );
    yield perObject(
      "embedded-opened-resident",
      embedded.map(({ opened }) => opened.resident),
    );
    yield perObject(
      "embedded-all-read-resident",
      embedded.map(({ read }) => read.resident),
    );
    yield perObject(
      "embedded-all-read-mapped",
      embedded.map(({ read }) => read.mapped),
    );
    const { memory } = await rounds.measure({ memory: () => inNewChild("memoryOfMemory") }, REPETITIONS);
    yield perObject(
      "memory-held",
      memory.map(({ held }) => held),
    );
    yield perObject(
      "memory-resident",
      memory.map(({ resident }) => resident),
    );
  },
};

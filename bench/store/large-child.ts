/** Measurements of large.ts, each in its own process, so that time and memory are those of a fresh start. */
import { readFileSync } from "node:fs";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { openEmbeddedStore } from "../../src/store/embedded/embedded-store.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { collectGarbage, serve } from "../serve.ts";
import { createIn } from "./load.ts";
import { podBytes, podKey } from "./objects.ts";

/** Commits in flight while the data set is created: large groups, few syncs. */
const WRITERS = 2_000;

/** Page size for reading without holding all objects in memory. */
const PAGE_ENTRIES = 500;

export interface DataSet {
  readonly directory: string;
  readonly objects: number;
  readonly valueBytes: number;
}

export interface ReopenTimes {
  readonly firstGetMs: number;
  readonly fullListMs: number;
}

/** Growth in bytes. */
export interface MemoryGrowth {
  /** JavaScript heap and buffers. */
  readonly held: number;
  /** Private resident memory. */
  readonly resident: number;
  /** Resident file mappings: page cache, which the system reclaims under memory pressure. */
  readonly mapped: number;
}

const tasks = {
  async make(set: DataSet): Promise<void> {
    const store = await openEmbedded(set);
    await fill(store, set);
    await store.close();
  },

  async reopen(set: DataSet): Promise<ReopenTimes> {
    collectGarbage();
    const startedMs = performance.now();
    const store = await openEmbedded(set);
    const entry = await store.get(podKey(set.objects));
    const firstGetMs = performance.now() - startedMs;
    const { entries } = await store.list("");
    const fullListMs = performance.now() - startedMs;
    const complete = entries.length === set.objects && entries.every(({ value }) => value.bytes().length === set.valueBytes);
    if (entry === undefined || !complete)
      throw new Error(`Cannot measure: ${entries.length} objects were read, ${set.objects} were created`);
    await store.close();
    return { firstGetMs, fullListMs };
  },

  async memoryOfEmbedded(set: DataSet): Promise<{ readonly opened: MemoryGrowth; readonly read: MemoryGrowth }> {
    const before = memory();
    const store = await openEmbedded(set);
    await store.get(podKey(set.objects));
    const opened = growth(before);
    await readAll(store);
    return { opened, read: growth(before) };
  },

  async memoryOfMemory(set: DataSet): Promise<MemoryGrowth> {
    const before = memory();
    const store = openMemoryStore({ clock: realClock });
    await fill(store, set);
    const grown = growth(before);
    await store.close(); // Keeps the entries reachable until here.
    return grown;
  },
};
export type LargeTasks = typeof tasks;
serve(tasks);

function openEmbedded({ directory }: DataSet) {
  return openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
}

async function fill(store: Store, { objects, valueBytes }: DataSet): Promise<void> {
  const create = createIn(store);
  let number = 0;
  const writer = async () => {
    while (number < objects) {
      number += 1;
      await create(podKey(number), podBytes(number, valueBytes));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function readAll(store: Store): Promise<void> {
  let startAfter: string | undefined = "";
  while (startAfter !== undefined) {
    const page = await store.list("", { limit: PAGE_ENTRIES, startAfter, countRemaining: false });
    startAfter = page.remaining === 0 ? undefined : page.entries.at(-1)?.key;
  }
}

function memory(): MemoryGrowth {
  collectGarbage();
  // "external" has no shared memory, in which stored bytes are.
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const mapped = mappedBytes();
  return { held: heapUsed + arrayBuffers, resident: rss - mapped, mapped };
}

function growth(before: MemoryGrowth): MemoryGrowth {
  const { held, resident, mapped } = memory();
  return { held: held - before.held, resident: resident - before.resident, mapped: mapped - before.mapped };
}

/** 0 if the system does not report it; all resident memory then counts as private. */
function mappedBytes(): number {
  try {
    return Number(/^RssFile:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

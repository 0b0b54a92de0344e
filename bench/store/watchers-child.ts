/** One round of watchers.ts: commits on a new store, with and without watchers of other prefixes, in its own process. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { openEmbeddedStore } from "../../src/store/embedded/embedded-store.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store, WatchListener } from "../../src/store/store.ts";
import { collectGarbage, serve } from "../serve.ts";
import { createIn, loadOf, type LoadOptions, type LoadResult } from "./load.ts";

export type Driver = "memory" | "embedded";

/** Namespaces that are watched while Pods of others are created. */
export type Watched = "nothing" | "other-resources" | "other-namespaces";

const WATCHERS = 1_000;

export interface WatchersRound extends LoadOptions {
  readonly driver: Driver;
  readonly watched: Watched;
  /** Directory of drivers with files. */
  readonly directory: string;
}

const tasks = {
  async round({ driver, watched, directory, ...options }: WatchersRound): Promise<LoadResult> {
    const store = await openStore(driver, directory);
    const after = await store.currentRevision();
    for (const prefix of prefixesOf(watched)) store.watch(prefix, { after }, unconcerned);
    collectGarbage();
    const result = await loadOf(createIn(store))(options);
    await store.close();
    return result;
  },
};
export type WatchersTasks = typeof tasks;
serve(tasks);

async function openStore(driver: Driver, directory: string): Promise<Store> {
  if (driver === "memory") return openMemoryStore({ clock: realClock });
  return openEmbeddedStore({ directory: await mkdtemp(join(directory, "watched-")), clock: realClock, log: silentLogger });
}

function prefixesOf(watched: Watched): string[] {
  switch (watched) {
    case "nothing":
      return [];
    case "other-resources":
      return Array.from({ length: WATCHERS }, (_, index) => `/example.com/resource-${index}/`);
    case "other-namespaces":
      return Array.from({ length: WATCHERS }, (_, index) => `/pods/other-${index}/`);
  }
}

const unconcerned: WatchListener = {
  changes: (changes) => {
    throw new Error(`Cannot measure: a watcher received ${changes[0]?.key}, which is outside its prefix`);
  },
  ended: ({ reason }) => {
    if (reason !== "closed") console.error(`The watch of another prefix ended: ${reason}`);
  },
};

/** A round of watchers.ts: commits on a new store, with and without watchers of something else, in a process of its own. */
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

/** What is watched while Pods of other namespaces are created. */
export type Watched = "nothing" | "other-resources" | "other-namespaces";

const WATCHERS = 1_000;

export interface WatchersRound extends LoadOptions {
  readonly driver: Driver;
  readonly watched: Watched;
  /** For the files of drivers that have some. */
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
    throw new Error(`Cannot measure: a watcher was told of ${changes[0]?.key}, which is not its own`);
  },
  ended: ({ reason }) => {
    if (reason !== "closed") console.error(`A watch of something else ended: ${reason}`);
  },
};

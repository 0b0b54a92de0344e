/** Stores on the machine for tests of rooms that know stores by their contract only: a directory, a real etcd. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { realClock } from "../host/real-clock.ts";
import { openEmbeddedStore } from "../store/embedded/embedded-store.ts";
import { openEtcdStore } from "../store/etcd/etcd-store.ts";
import type { Store } from "../store/store.ts";
import { testSeed } from "./rounds.ts";

/** In a directory that goes when `close` is called, after the store. */
export async function embeddedStore(): Promise<{ readonly store: Store; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-embedded-"));
  const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
  return {
    store,
    async close() {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}

export function etcdStore(endpoints: readonly string[]): Promise<Store> {
  return openEtcdStore({ endpoints, clock: realClock, random: seededRandom(testSeed()), log: silentLogger });
}

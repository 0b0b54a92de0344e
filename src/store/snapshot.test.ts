/** What a snapshot rejects. That it round-trips a store is part of the suite of every driver. */
import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { realClock, sha256 } from "../testing/machine.ts";
import { openMemoryStore } from "./memory/memory-store.ts";
import { hashState } from "./snapshot.ts";
import type { Store } from "./store.ts";
import { text } from "./testing/harness.ts";

test("a key that could not be restored is rejected when the snapshot is taken, by its name", async () => {
  const memory = openMemoryStore({ clock: realClock });
  const foreign = { key: "/alone", revision: 1, value: text("of another program") };
  const store: Store = Object.create(memory, { list: { value: async () => ({ entries: [foreign], revision: 1, remaining: 0 }) } }) as Store;
  await rejects(hashState(store, sha256()), { reason: "Invalid", message: /Cannot use key "\/alone"/ });
  await memory.close();
});

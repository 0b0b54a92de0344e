/** A store in memory for tests of rooms that know stores by their contract only. */
import type { Clock } from "../base/clock.ts";
import { openMemoryStore } from "../store/memory/memory-store.ts";
import type { Store } from "../store/store.ts";

export function memoryStore(clock: Clock): Store {
  return openMemoryStore({ clock });
}

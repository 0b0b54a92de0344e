/** Virtual time, ready to use: the virtual clock of base with the real event loop of host. */
import { VirtualClock } from "../base/virtual-clock.ts";
import { realMacrotask } from "../host/real-clock.ts";

/** A clock that advances only on request. It starts at `startMs`, milliseconds since the epoch; default: the start of 2026. */
export function virtualClock(options: { readonly startMs?: number } = {}): VirtualClock {
  return new VirtualClock({ macrotask: realMacrotask, ...options });
}

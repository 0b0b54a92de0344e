/** Virtual time, ready to use: the clock of base joined to the real event loop of host. */
import { VirtualClock } from "../base/virtual-clock.ts";
import { realMacrotask } from "../host/real-clock.ts";

/** A clock that moves only when it is told to. It starts at `startMs`, milliseconds since the epoch; default: the start of 2026. */
export function virtualClock(options: { readonly startMs?: number } = {}): VirtualClock {
  return new VirtualClock({ macrotask: realMacrotask, ...options });
}

/** Awaits promises under virtual time, where nothing happens unless the clock is driven. */
import type { VirtualClock } from "../base/virtual-clock.ts";

/** A promise that needs more event-loop ticks than this waits for virtual time to pass. */
const TURNS_MAX = 1_000;

/** Runs everything that is due without advancing the clock until the promise is settled. Rejects if that requires time to pass. */
export async function driven<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = (): void => void (isSettled = true);
  promise.then(settled, settled);
  for (let turn = 0; !isSettled; turn++) {
    if (turn === TURNS_MAX) throw new Error("The promise waits for virtual time to pass: call clock.advance meanwhile");
    await clock.settle();
  }
  return promise;
}

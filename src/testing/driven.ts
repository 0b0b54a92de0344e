/** Waits for something under virtual time, in which nothing happens unless somebody drives it. */
import type { VirtualClock } from "../base/virtual-clock.ts";

/** What needs more turns than this waits for time to pass. */
const TURNS_MAX = 1_000;

/** Lets happen what can happen without time moving until the promise is settled. Rejects if it would need time. */
export async function driven<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = (): void => void (isSettled = true);
  promise.then(settled, settled);
  for (let turn = 0; !isSettled; turn++) {
    if (turn === TURNS_MAX) throw new Error("This waits for time to pass: call clock.advance meanwhile");
    await clock.settle();
  }
  return promise;
}

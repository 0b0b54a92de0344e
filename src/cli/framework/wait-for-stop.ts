/** Waits for the request to stop. */
import { collectWhenIdle } from "../../host/processes/idle-garbage-collection.ts";
import type { Io } from "./command.ts";

/** Resolves on the first signal. An endless sleep keeps the process alive, which a bare promise would not. */
export async function waitForStop({ clock, signal }: Io): Promise<void> {
  using _collecting = collectWhenIdle(clock);
  try {
    await clock.sleep(Infinity, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

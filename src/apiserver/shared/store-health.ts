/** Checks that the store responds. */
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";

/** Timeout after which the store counts as unavailable. */
const STORE_CHECK_MS = 2_000;

export async function storeAnswers(store: Store, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(STORE_CHECK_MS, timer.signal).then(
    () => false,
    () => false,
  );
  const answer = store.currentRevision().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}

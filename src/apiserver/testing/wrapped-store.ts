/** A store of which some methods are replaced: one that is slow, counts, or fails. All others are those of the store it wraps. */
import type { Store } from "../../store/store.ts";

export function wrappedStore(store: Store, replaced: Partial<Store>): Store {
  return {
    capabilities: store.capabilities,
    get: (...all) => store.get(...all),
    list: (...all) => store.list(...all),
    currentRevision: () => store.currentRevision(),
    commit: (...all) => store.commit(...all),
    watch: (...all) => store.watch(...all),
    compact: (revision) => store.compact(revision),
    statistics: () => store.statistics(),
    close: () => store.close(),
    ...replaced,
  };
}

/** Wraps a store with some methods replaced, for one that is slow, counts, or fails. */
import { StoreError } from "../../store/store-error.ts";
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

/** Rejects writes of objects while `state.isBroken`. */
export function breakableStore(store: Store, state: { readonly isBroken: boolean }): Store {
  return wrappedStore(store, {
    commit: (operations, ...more) =>
      state.isBroken && operations[0]?.type === "put"
        ? Promise.reject(new StoreError("Unavailable", "The store does not respond"))
        : store.commit(operations, ...more),
  });
}

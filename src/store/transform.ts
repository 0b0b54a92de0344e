/**
 * The seam between the API server's values and a driver's bytes: encryption at rest plugs in here. A transformed store keeps the whole
 * contract; memos pass through, so that this process never decrypts its own writes.
 *
 * Transformers are synchronous, because a watch delivers changes in the tick in which they become visible. One that needs a remote key
 * service fetches its keys before it is given to a store.
 */
import type { Change, Entry, Operation, Store, Value, WatchListener } from "./store.ts";
import { BOOKKEEPING_PREFIX } from "./key.ts";
import { lazyValue } from "./value.ts";

export interface ValueTransformer {
  /** Encodes `bytes` under `key`. Must bind the key, so that a value moved to another key is rejected. */
  toStorage(bytes: Uint8Array, key: string): Uint8Array;
  /** The inverse; throws if `stored` was not encoded for `key`. */
  fromStorage(stored: Uint8Array, key: string): Uint8Array;
  /** Maximum growth of a value by `toStorage`; counts towards OBJECT_BYTES_MAX. */
  readonly overheadBytesMax: number;
}

export function transformStore(store: Store, transformer: ValueTransformer): Store {
  const reader = new Reader(transformer);
  return {
    capabilities: store.capabilities,
    get: async (key, options) => reader.optionalEntry(await store.get(key, options)),
    list: async (prefix, options) => {
      const result = await store.list(prefix, options);
      return { ...result, entries: result.entries.map((entry) => reader.entry(entry)) };
    },
    currentRevision: () => store.currentRevision(),
    commit: async (operations, options) => {
      const result = await store.commit(
        operations.map((operation) => toStorage(operation, transformer)),
        options,
      );
      if (result.committed) return result;
      return { committed: false, failed: result.failed.map((failure) => ({ ...failure, found: reader.optionalEntry(failure.found) })) };
    },
    watch: (prefix, options, listener) => store.watch(prefix, options, reader.listener(listener)),
    compact: (revision) => store.compact(revision),
    statistics: () => store.statistics(),
    close: () => store.close(),
  };
}

function toStorage(operation: Operation, transformer: ValueTransformer): Operation {
  const { key, precondition } = operation;
  if (isBookkeeping(key)) return operation;
  const encoded = (value: Value): Value =>
    lazyValue({
      memo: value.memo,
      makeBytes: () => transformer.toStorage(value.bytes(), key),
      sizeBytes: () => value.sizeBytes() + transformer.overheadBytesMax,
    });
  const known = precondition?.is === "at" && precondition.value !== undefined ? precondition : undefined;
  const checked = known?.value === undefined ? operation : { ...operation, precondition: { ...known, value: encoded(known.value) } };
  return checked.type === "delete" ? checked : { ...checked, value: encoded(checked.value) };
}

class Reader {
  readonly #transformer: ValueTransformer;

  constructor(transformer: ValueTransformer) {
    this.#transformer = transformer;
  }

  optionalEntry(entry: Entry | undefined): Entry | undefined {
    return entry === undefined ? undefined : this.entry(entry);
  }

  entry(entry: Entry): Entry {
    return { ...entry, value: this.#value(entry.key, entry.value) };
  }

  listener(listener: WatchListener): WatchListener {
    return {
      changes: (changes) => listener.changes(changes.map((change) => this.#change(change))),
      progress: (revision) => listener.progress?.(revision),
      ended: (end) => listener.ended(end),
    };
  }

  #change(change: Change): Change {
    if (change.type === "delete") return { ...change, previous: this.entry(change.previous) };
    return { ...change, value: this.#value(change.key, change.value), previous: this.optionalEntry(change.previous) };
  }

  #value(key: string, stored: Value): Value {
    if (isBookkeeping(key)) return stored;
    const value = lazyValue({
      memo: stored.memo,
      makeBytes: () => this.#transformer.fromStorage(stored.bytes(), key),
      sizeBytes: () => value.bytes().length,
    });
    return value;
  }
}

function isBookkeeping(key: string): boolean {
  return key.startsWith(BOOKKEEPING_PREFIX);
}

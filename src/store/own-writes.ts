/**
 * Cache of this process's recent writes, so that its own watches and reads return the very value, with its memo, without parsing. A write
 * is recognised by key and revision once acknowledged; before that, by key and equal bytes, since the watch may deliver a commit before
 * etcd has acknowledged it. Only an optimisation: a miss is read as bytes.
 */
import { Lru } from "../base/lru.ts";
import type { Operation, PutOperation, Value } from "./store.ts";
import { bytesValue, equalBytes } from "./value.ts";

/** Maximum number of cached writes: some seconds of heavy writing, while a watch is usually milliseconds behind. */
const ANSWERED_MAX = 4_096;
/** Maximum total bytes; their memos take a few times as much. */
const ANSWERED_BYTES_MAX = 16 * 1024 * 1024;

export class OwnWrites {
  readonly #answered = new Lru<string, Value>({ max: ANSWERED_MAX, maxWeight: ANSWERED_BYTES_MAX, weigh: (value) => value.sizeBytes() });
  readonly #underWay = new Map<string, Set<Value>>();

  /** Called before the commit is sent. The result must be called with the revision, or with undefined if it did not happen. */
  begin(operations: readonly Operation[]): (revision: number | undefined) => void {
    const puts = operations.filter(hasMemo);
    for (const { key, value } of puts) {
      const values = this.#underWay.get(key);
      if (values === undefined) this.#underWay.set(key, new Set([value]));
      else values.add(value);
    }
    return (revision) => {
      for (const { key, value } of puts) {
        if (revision !== undefined) this.#answered.set(nameOf(key, revision), value);
        const values = this.#underWay.get(key);
        values?.delete(value);
        if (values?.size === 0) this.#underWay.delete(key);
      }
    };
  }

  /** The value this process wrote, or else one of `bytes`. */
  valueOf(key: string, revision: number, bytes: Uint8Array): Value {
    const answered = this.#answered.peek(nameOf(key, revision));
    if (answered !== undefined) return answered;
    for (const value of this.#underWay.get(key) ?? []) if (equalBytes(value.bytes(), bytes)) return value;
    return bytesValue(bytes.slice()); // A view would retain the whole message, with its neighbours, as long as the value.
  }
}

function hasMemo(operation: Operation): operation is PutOperation {
  return operation.type === "put" && operation.value.memo !== undefined;
}

function nameOf(key: string, revision: number): string {
  return `${revision}${key}`;
}

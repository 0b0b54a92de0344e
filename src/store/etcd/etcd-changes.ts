/**
 * Translates etcd's events to the contract's changes: each revision once and whole, each change with its previous value. Pure. The stream
 * of events is in etcd-watch.ts.
 */
import type { Change, Entry } from "../store.ts";
import { EVENT_DELETE, type KeyValue, type WatchEvent } from "./etcd-messages.ts";

export type ChangesResult =
  | { readonly changes: readonly Change[] }
  /** The previous value of the change at this revision has been compacted. `changes` precede it. */
  | { readonly changes: readonly Change[]; readonly previousLostAt: number };

/**
 * Assembles fragmented responses by revision. A revision is delivered when the next one, or the end of the response, was seen; so whatever
 * was delivered is whole, and after a break the watch resumes after the last delivered revision.
 */
export class EventAssembler {
  #last: number;
  #held: WatchEvent[] = [];

  /** Events up to `after` are dropped: the watch starts at that revision, so that etcd rejects exactly what is compacted. */
  constructor(after: number) {
    this.#last = after;
  }

  /** Everything up to here was delivered. */
  get last(): number {
    return this.#last;
  }

  /** The stream restarts at `last`: held-back events come again. */
  restart(): void {
    this.#held = [];
  }

  /** There are no events between `last` and `revision`. */
  advance(revision: number): void {
    this.#last = Math.max(this.#last, revision);
  }

  /** The complete events. `more`: the response continues in the next fragment, possibly within the last revision. */
  add(events: readonly WatchEvent[], more: boolean): readonly WatchEvent[] {
    const all = [...this.#held, ...events.filter((event) => revisionOf(event) > this.#last)];
    const newest = all.at(-1);
    if (newest === undefined) return [];
    const heldFrom = more ? all.findIndex((event) => revisionOf(event) === revisionOf(newest)) : all.length;
    const whole = all.slice(0, heldFrom);
    this.#held = all.slice(heldFrom);
    const last = whole.at(-1);
    if (last !== undefined) this.#last = revisionOf(last);
    return whole;
  }
}

export function changesOf(events: readonly WatchEvent[], entryOf: (kv: KeyValue) => Entry): ChangesResult {
  const changes: Change[] = [];
  for (const event of events) {
    const change = changeOf(event, entryOf);
    if (change === undefined) return { changes, previousLostAt: revisionOf(event) };
    changes.push(change);
  }
  return { changes };
}

/** Undefined if its previous value was compacted. */
function changeOf({ type, kv, previous }: WatchEvent, entryOf: (kv: KeyValue) => Entry): Change | undefined {
  if (kv === undefined) return undefined;
  const before = previous === undefined ? undefined : entryOf(previous);
  const { key, value, revision } = entryOf(kv);
  if (type === EVENT_DELETE) return before === undefined ? undefined : { type: "delete", key, revision, previous: before };
  if (before === undefined && kv.createRevision !== kv.modRevision) return undefined;
  return { type: "put", key, revision, value, previous: before };
}

function revisionOf({ kv }: WatchEvent): number {
  return kv?.modRevision ?? 0;
}

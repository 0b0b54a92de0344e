/**
 * From etcd's events to the changes of the contract: each revision once and whole, each change with what was before it.
 * Pure: what came in goes out, or it is said why not. The stream the events come from is etcd-watch.ts.
 */
import type { Change, Entry } from "../store.ts";
import { EVENT_DELETE, type KeyValue, type WatchEvent } from "./etcd-messages.ts";

export type ChangesResult =
  | { readonly changes: readonly Change[] }
  /** What was before the change at this revision has been compacted, so it cannot be told. `changes` came before. */
  | { readonly changes: readonly Change[]; readonly previousLostAt: number };

/**
 * Puts the pieces of large answers together by revision. A revision is passed on when the one after it, or the end of the
 * answer, was seen; so whatever was passed on is whole, and after a break one goes on after the last revision passed on.
 */
export class EventAssembler {
  #last: number;
  #held: WatchEvent[] = [];

  /** Events up to `after` are dropped: the watch was begun at that revision, so that etcd refuses exactly what is compacted. */
  constructor(after: number) {
    this.#last = after;
  }

  /** Everything up to here was passed on. */
  get last(): number {
    return this.#last;
  }

  /** The stream begins anew, at `last`: what was held back comes again. */
  restart(): void {
    this.#held = [];
  }

  /** There are no events between `last` and `revision`. */
  advance(revision: number): void {
    this.#last = Math.max(this.#last, revision);
  }

  /** The events that are whole. `more`: the answer goes on in the next piece, perhaps within the last revision. */
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

/** Undefined if there was something before it, which etcd no longer has. */
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

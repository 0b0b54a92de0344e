/**
 * Messages between a store and its clients in other processes of the same version: one JSON object with its length before it, and behind it
 * the bytes of the values that the object names by their sizes. Not here: who sends what when (remote-store.ts, store-server.ts).
 */
import type {
  Change,
  Entry,
  FailedPrecondition,
  ListOptions,
  Operation,
  Precondition,
  StoreStatistics,
  Value,
  WatchEnd,
} from "../store.ts";
import { StoreError, type StoreErrorReason } from "../store-error.ts";
import { bytesValue } from "../value.ts";

/** Maximum of one message: a commit, a chunk of a list or one change has at most two values of OBJECT_BYTES_MAX and some keys. */
export const MESSAGE_BYTES_MAX = 8 * 1_048_576;

/** Unacknowledged changes of a watch that catches up, and their bytes: more are read from the history when some are acknowledged. */
export const CATCH_UP_CHANGES_MAX = 500;
export const CATCH_UP_BYTES_MAX = 4 * 1_048_576;

/** Unacknowledged bytes of a live watch: one more change ends it as "slow". The number of changes is limited by its client. */
export const LIVE_BYTES_MAX = 64 * 1_048_576;

/** What the client of a store sends. `id` is the client's choice: of a request, or of a watch. */
export type ClientMessage =
  | { readonly do: "get"; readonly id: number; readonly key: string; readonly revision?: number }
  | { readonly do: "list"; readonly id: number; readonly prefix: string; readonly options: ListOptions }
  | { readonly do: "revision"; readonly id: number }
  /** Publish on this page from now on (`PublishedRevision`). */
  | { readonly do: "publish"; readonly id: number; readonly page: number }
  | { readonly do: "statistics"; readonly id: number }
  | { readonly do: "compact"; readonly id: number; readonly revision: number }
  | { readonly do: "commit"; readonly id: number; readonly operations: readonly OperationHead[] }
  | { readonly do: "cancel"; readonly id: number }
  | { readonly do: "watch"; readonly id: number; readonly prefix: string; readonly after: number }
  | { readonly do: "acknowledge"; readonly id: number; readonly changes: number; readonly bytes: number }
  | { readonly do: "progress"; readonly id: number }
  | { readonly do: "close"; readonly id: number };

/** What the store's process sends, with the `id` of the request or watch. */
export type ServerMessage =
  | { readonly is: "entry"; readonly id: number; readonly entry: EntryHead | null }
  /** Any number of these, and a last one with `listed`. */
  | {
      readonly is: "entries";
      readonly id: number;
      readonly entries: readonly EntryHead[];
      readonly listed?: { readonly revision: number; readonly remaining: number };
    }
  | { readonly is: "revision"; readonly id: number; readonly revision: number }
  /** False: the store does not report when a revision becomes visible. */
  | { readonly is: "published"; readonly id: number; readonly isPublished: boolean }
  | { readonly is: "statistics"; readonly id: number; readonly statistics: StoreStatistics }
  | { readonly is: "compacted"; readonly id: number }
  | { readonly is: "committed"; readonly id: number; readonly revision: number }
  | { readonly is: "refused"; readonly id: number; readonly failed: readonly FailedHead[] }
  | { readonly is: "cancelled"; readonly id: number }
  | { readonly is: "failed"; readonly id: number; readonly error: ErrorHead }
  | { readonly is: "changes"; readonly id: number; readonly changes: readonly ChangeHead[] }
  /** From here on, each change is sent before a revision that includes it. */
  | { readonly is: "live"; readonly id: number }
  | { readonly is: "progress"; readonly id: number; readonly revision: number }
  | {
      readonly is: "ended";
      readonly id: number;
      readonly reason: WatchEnd["reason"];
      readonly compactedRevision?: number;
      readonly error?: ErrorHead;
    };

/** `size`: of the value's bytes, which are behind the message. Not `sizeBytes()`: a value that was never encoded only estimates it. */
export interface EntryHead {
  readonly key: string;
  readonly revision: number;
  readonly size: number;
}

export interface ChangeHead {
  readonly type: Change["type"];
  readonly key: string;
  readonly revision: number;
  /** Absent: a deletion. */
  readonly size?: number;
  readonly previous?: EntryHead;
}

export interface OperationHead {
  readonly type: Operation["type"];
  readonly key: string;
  readonly size?: number;
  readonly precondition?: Precondition;
  readonly expiresAtMs?: number;
}

export interface FailedHead {
  readonly operation: number;
  readonly key: string;
  readonly found?: EntryHead;
}

export interface ErrorHead {
  readonly reason: StoreErrorReason;
  readonly message: string;
  readonly compactedRevision?: number;
}

/**
 * What the store's process publishes on a page that its client reads at any time: the newest visible revision, and how many messages with
 * changes were sent on the channel until then. A client that has received as many knows all changes up to the revision.
 */
export interface PublishedRevision {
  readonly sent: number;
  readonly revision: number;
}

/** A message in parts, as a channel sends it. */
export function encodeMessage(message: ClientMessage | ServerMessage, values: readonly Value[] = []): readonly Uint8Array[] {
  const text = encoder.encode(JSON.stringify(message));
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length);
  return [length, text, ...values.map((value) => value.bytes())];
}

export interface Received<M> {
  readonly message: M;
  readonly values: ReceivedValues;
}

/** Both processes are of the same version, and only they have the channel, so a message is believed to be what it says. */
export function decodeMessage<M extends ClientMessage | ServerMessage>(frame: Uint8Array): Received<M> {
  const length = new DataView(frame.buffer, frame.byteOffset, LENGTH_BYTES).getUint32(0);
  const end = LENGTH_BYTES + length;
  return { message: JSON.parse(decoder.decode(frame.subarray(LENGTH_BYTES, end))) as M, values: new ReceivedValues(frame, end) };
}

const LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of the values of a message, to be taken in the order in which it names them. */
export class ReceivedValues {
  readonly #frame: Uint8Array;
  #offset: number;

  constructor(frame: Uint8Array, offset: number) {
    this.#frame = frame;
    this.#offset = offset;
  }

  /** A view of the message: what keeps it copies it, or the whole message would stay in memory. */
  take(size: number): Uint8Array {
    this.#offset += size;
    return this.#frame.subarray(this.#offset - size, this.#offset);
  }
}

/** Makes the value of a key at a revision of bytes that it must copy. */
export type ValueOf = (key: string, revision: number, bytes: Uint8Array) => Value;

export function entryHead({ key, revision, value }: Entry): EntryHead {
  return { key, revision, size: value.bytes().length };
}

export function takeEntry({ key, revision, size }: EntryHead, values: ReceivedValues, valueOf: ValueOf): Entry {
  return { key, revision, value: valueOf(key, revision, values.take(size)) };
}

export function changeHead(change: Change): ChangeHead {
  const { type, key, revision, previous } = change;
  return {
    ...{ type, key, revision },
    ...(change.type === "put" ? { size: change.value.bytes().length } : {}),
    ...(previous === undefined ? {} : { previous: entryHead(previous) }),
  };
}

export function changeValues(change: Change): readonly Value[] {
  const previous = change.previous === undefined ? [] : [change.previous.value];
  return change.type === "put" ? [change.value, ...previous] : previous;
}

export function takeChange(head: ChangeHead, values: ReceivedValues, valueOf: ValueOf): Change {
  const { type, key, revision, size = 0, previous } = head;
  if (type === "delete") return { type, key, revision, previous: takeEntry(previous as EntryHead, values, valueOf) };
  const value = valueOf(key, revision, values.take(size));
  return { type, key, revision, value, previous: previous === undefined ? undefined : takeEntry(previous, values, valueOf) };
}

/** Of a precondition only what decides: the value that the writer has is the store's own. */
export function operationHead(operation: Operation): OperationHead {
  const { type, key, precondition } = operation;
  const decides = precondition?.is === "at" ? { is: precondition.is, revision: precondition.revision } : precondition;
  return {
    ...{ type, key },
    ...(decides === undefined ? {} : { precondition: decides }),
    ...(operation.type === "put" ? { size: operation.value.bytes().length } : {}),
    ...(operation.type === "put" && operation.expiresAtMs !== undefined ? { expiresAtMs: operation.expiresAtMs } : {}),
  };
}

export function takeOperation({ type, key, size = 0, precondition, expiresAtMs }: OperationHead, values: ReceivedValues): Operation {
  if (type === "delete") return { type, key, precondition: precondition as Exclude<Precondition, { is: "absent" }> };
  const value = bytesValue(values.take(size).slice());
  return {
    ...{ type, key, value },
    ...(precondition === undefined ? {} : { precondition }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

export function failedHead({ operation, key, found }: FailedPrecondition): FailedHead {
  return { operation, key, ...(found === undefined ? {} : { found: entryHead(found) }) };
}

export function takeFailed({ operation, key, found }: FailedHead, values: ReceivedValues, valueOf: ValueOf): FailedPrecondition {
  return { operation, key, found: found === undefined ? undefined : takeEntry(found, values, valueOf) };
}

export function errorHead(error: unknown): ErrorHead {
  if (!(error instanceof StoreError)) return { reason: "Unavailable", message: `The store failed: ${(error as Error).message}` };
  const { reason, message, compactedRevision } = error;
  return { reason, message, ...(compactedRevision === undefined ? {} : { compactedRevision }) };
}

export function takeError({ reason, message, compactedRevision }: ErrorHead): StoreError {
  return new StoreError(reason, message, compactedRevision === undefined ? {} : { compactedRevision });
}

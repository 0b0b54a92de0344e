/**
 * The one error of the store room: a closed list of reasons, so that callers decide by reason and never by words.
 * Each message names what was tried, what is wrong and what helps.
 */
export type StoreErrorReason =
  /** The revision asked for is older than the kept history. */
  | "Compacted"
  /** The revision asked for has not been reached. */
  | "FutureRevision"
  /** A key, prefix, limit or set of operations that the contract does not allow; the caller's mistake. */
  | "Invalid"
  /** A value or commit over OBJECT_BYTES_MAX. */
  | "TooLarge"
  /** The store was closed. */
  | "Closed"
  /** The data directory belongs to another process. */
  | "Locked"
  /** The data cannot be read as what it should be. */
  | "Damaged"
  /** No space left. Nothing was written; reads go on; writes work again when there is space. */
  | "Full"
  /** The place of the data cannot be used: missing permission, read-only, not a directory. */
  | "Unusable"
  /** Writing failed in a way after which nothing more is written until the store is opened again. Reads go on. */
  | "WriteFailed"
  /** Nobody answers (etcd). Nothing was written. */
  | "Unavailable"
  /** The connection was lost on the way: the commit happened or it did not. */
  | "Uncertain"
  /** The server on the other side is of a version or cluster that must not be used. */
  | "Unsupported";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly reason: StoreErrorReason;
  /** With reason "Compacted": the oldest revision that can still be read. */
  readonly compactedRevision: number | undefined;

  constructor(reason: StoreErrorReason, message: string, options: { readonly cause?: unknown; readonly compactedRevision?: number } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.reason = reason;
    this.compactedRevision = options.compactedRevision;
  }
}

export function isStoreError(error: unknown, reason: StoreErrorReason): error is StoreError {
  return error instanceof StoreError && error.reason === reason;
}

export function compacted(wanted: number, compactedRevision: number): StoreError {
  return new StoreError(
    "Compacted",
    `Cannot read at revision ${wanted}: history before revision ${compactedRevision} has been compacted; list again at the newest revision`,
    {
      compactedRevision,
    },
  );
}

export function futureRevision(wanted: number, current: number): StoreError {
  return new StoreError("FutureRevision", `Cannot read at revision ${wanted}: the newest revision is ${current}`);
}

export function closed(action: string): StoreError {
  return new StoreError("Closed", `Cannot ${action}: the store is closed`);
}

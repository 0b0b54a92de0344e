/**
 * The single error type of the store: a closed list of reasons, so that callers decide by reason and never by message. Each message names
 * what was tried, what is wrong and the remedy.
 */
export type StoreErrorReason =
  /** The requested revision is older than the kept history. */
  | "Compacted"
  /** The requested revision has not been reached. */
  | "FutureRevision"
  /** A key, prefix, limit or set of operations that the contract does not allow; a caller's mistake. */
  | "Invalid"
  /** A value or commit over OBJECT_BYTES_MAX. */
  | "TooLarge"
  /** The store was closed. */
  | "Closed"
  /** The data directory belongs to another process. */
  | "Locked"
  /** The data is corrupt. */
  | "Damaged"
  /** No space left. Nothing was written; reads work; writes work again when there is space. */
  | "Full"
  /** The location of the data is unusable: missing permission, read-only, not a directory. */
  | "Unusable"
  /** Writing failed so that nothing more is written until the store is reopened. Reads work. */
  | "WriteFailed"
  /** No member responds (etcd). Nothing was written. */
  | "Unavailable"
  /** The connection was lost during the commit: its outcome is unknown. */
  | "Uncertain"
  /** The server is of a version or cluster that must not be used. */
  | "Unsupported";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly reason: StoreErrorReason;
  /** With reason "Compacted": the oldest readable revision. */
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

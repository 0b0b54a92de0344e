/**
 * Validation of a commit's operations, shared by all drivers, and the bookkeeping of expiring keys: all drivers reject the same input with
 * the same message.
 */
import { COMMIT_OPERATIONS_MAX, OBJECT_BYTES_MAX, type Entry, type Operation, type Precondition, type PutOperation } from "./store.ts";
import { StoreError } from "./store-error.ts";
import { checkKey, resourcePrefixOf } from "./key.ts";
import { expiryRecord } from "./expiry-record.ts";

/** Throws "Invalid" or "TooLarge", or returns the operations to execute: those given, in order, then bookkeeping ones. */
export function prepareOperations(operations: readonly Operation[]): readonly Operation[] {
  if (operations.length === 0) throw new StoreError("Invalid", "Cannot commit: there is no operation");
  if (operations.length > COMMIT_OPERATIONS_MAX) {
    throw new StoreError("Invalid", `Cannot commit ${operations.length} operations: at most ${COMMIT_OPERATIONS_MAX} go into one commit`);
  }
  for (const operation of operations) checkOperation(operation);
  if (operations.length > 1) checkOnePerResource(operations);
  checkSize(operations);
  const records = operations.filter(expires).map(expiryRecord);
  return records.length === 0 ? operations : [...operations, ...records];
}

/** Whether `precondition` holds for a key whose current entry is `found`. */
export function holds(precondition: Precondition | undefined, found: Pick<Entry, "revision"> | undefined): boolean {
  if (precondition === undefined) return true;
  if (precondition.is === "absent") return found === undefined;
  if (precondition.is === "exists") return found !== undefined;
  return found?.revision === precondition.revision;
}

function checkOperation(operation: Operation): void {
  checkKey(operation.key);
  if (
    operation.precondition?.is === "at" &&
    !(Number.isSafeInteger(operation.precondition.revision) && operation.precondition.revision > 0)
  ) {
    throw new StoreError(
      "Invalid",
      `Cannot commit ${operation.key}: a revision is a whole number above 0, is ${operation.precondition.revision}`,
    );
  }
  if (operation.type === "put" && operation.expiresAtMs !== undefined && !Number.isSafeInteger(operation.expiresAtMs)) {
    throw new StoreError(
      "Invalid",
      `Cannot commit ${operation.key}: a time of expiry is a whole number of milliseconds, is ${operation.expiresAtMs}`,
    );
  }
}

function checkOnePerResource(operations: readonly Operation[]): void {
  const seen = new Map<string | undefined, string>();
  for (const { key } of operations) {
    const resource = resourcePrefixOf(key);
    const other = seen.get(resource);
    if (other !== undefined) {
      throw new StoreError("Invalid", `Cannot commit ${other} and ${key} together: a commit changes at most one key under ${resource}`);
    }
    seen.set(resource, key);
  }
}

function checkSize(operations: readonly Operation[]): void {
  let total = 0;
  for (const operation of operations) if (operation.type === "put") total += operation.value.sizeBytes();
  if (total > OBJECT_BYTES_MAX) {
    throw new StoreError(
      "TooLarge",
      `Cannot store ${operations[0]?.key}: it is ${total} bytes large, at most ${OBJECT_BYTES_MAX} are allowed`,
    );
  }
}

function expires(operation: Operation): operation is PutOperation & { readonly expiresAtMs: number } {
  return operation.type === "put" && operation.expiresAtMs !== undefined;
}

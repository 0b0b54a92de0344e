/**
 * Protocol of the socket through which a running API server serves its embedded store: one request per connection, one line of JSON; the
 * response is one or several lines of JSON. Values are base64. The reader validates everything.
 */
import { isObject } from "../../api/machinery/object.ts";
import type { Change, Entry, ListResult, Store, StoreStatistics, WatchEnd } from "../../store/store.ts";
import { StoreError, type StoreErrorReason } from "../../store/store-error.ts";
import { bytesValue } from "../../store/value.ts";

/** Operations available from other processes. None changes an object. */
export type StoreAccess = Pick<Store, "get" | "list" | "currentRevision" | "statistics" | "compact" | "watch">;

/** Name of the socket in the data directory. */
export const STORE_SOCKET = "store.sock";

/** A request is a key or a prefix and some numbers. */
export const REQUEST_BYTES_MAX = 16_384;

/** A response is at most a change with two values of 1.5 MB, in base64. */
export const ANSWER_BYTES_MAX = 8 * 1_048_576;

/** Entries per list response: the server holds a page in memory, at most 75 MB. */
export const PAGE_ENTRIES_MAX = 50;

export type StoreRequest =
  | { readonly do: "get"; readonly key: string; readonly revision?: number }
  | { readonly do: "list"; readonly prefix: string; readonly startAfter?: string; readonly revision?: number; readonly limit: number }
  | { readonly do: "revision" }
  | { readonly do: "statistics" }
  | { readonly do: "compact"; readonly revision: number }
  | { readonly do: "watch"; readonly prefix: string; readonly after: number };

export interface EntryLine {
  readonly key: string;
  readonly revision: number;
  readonly value: string;
}

export interface ChangeLine {
  readonly type: "put" | "delete";
  readonly key: string;
  readonly revision: number;
  readonly value?: string;
  readonly previous?: EntryLine;
}

export interface Answer {
  /** Response to get; null: the key does not exist. */
  readonly entry?: EntryLine | null;
  /** Response to list: one line per entry, then a line with `listed`. */
  readonly item?: EntryLine;
  readonly listed?: Pick<ListResult, "revision" | "remaining">;
  readonly revision?: number;
  readonly statistics?: StoreStatistics;
  readonly compacted?: true;
  /** Response to watch: any number of these, then a line with `ended`. */
  readonly change?: ChangeLine;
  readonly ended?: { readonly reason: WatchEnd["reason"]; readonly compactedRevision?: number };
  readonly error?: { readonly reason: StoreErrorReason; readonly message: string; readonly compactedRevision?: number };
}

/** Throws "Invalid" for a line that is not a request. */
export function parseRequest(line: string): StoreRequest {
  const request = parseObject(line);
  const text = (name: string) => (typeof request[name] === "string" ? request[name] : invalid(`${name} must be a string`));
  const number = (name: string) =>
    Number.isSafeInteger(request[name]) ? (request[name] as number) : invalid(`${name} must be an integer`);
  const ifGiven = <T>(name: string, read: (name: string) => T) => (request[name] === undefined ? {} : { [name]: read(name) });
  switch (request["do"]) {
    case "get":
      return { do: "get", key: text("key"), ...ifGiven("revision", number) };
    case "list":
      return { do: "list", prefix: text("prefix"), limit: number("limit"), ...ifGiven("startAfter", text), ...ifGiven("revision", number) };
    case "revision":
    case "statistics":
      return { do: request["do"] };
    case "compact":
      return { do: "compact", revision: number("revision") };
    case "watch":
      return { do: "watch", prefix: text("prefix"), after: number("after") };
    default:
      return invalid("unknown operation; use the same version of k8ts as the running cluster");
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // Rejected below.
  }
  return invalid("it must be a JSON object");
}

function invalid(why: string): never {
  throw new StoreError("Invalid", `Cannot handle the request: ${why}`);
}

export function entryLine({ key, revision, value }: Entry): EntryLine {
  return { key, revision, value: Buffer.from(value.bytes()).toString("base64") };
}

export function entryOfLine({ key, revision, value }: EntryLine): Entry {
  return { key, revision, value: bytesValue(Buffer.from(value, "base64")) };
}

export function changeLine(change: Change): ChangeLine {
  const { type, key, revision, previous } = change;
  const value = change.type === "put" ? { value: Buffer.from(change.value.bytes()).toString("base64") } : {};
  return { type, key, revision, ...value, ...(previous === undefined ? {} : { previous: entryLine(previous) }) };
}

export function changeOfLine({ type, key, revision, value = "", previous }: ChangeLine): Change {
  const before = previous === undefined ? undefined : entryOfLine(previous);
  if (type === "put") return { type, key, revision, value: bytesValue(Buffer.from(value, "base64")), previous: before };
  return { type, key, revision, previous: before ?? { key, revision: 0, value: bytesValue(new Uint8Array()) } };
}

export function errorAnswer(error: unknown): Answer {
  const { reason, message, compactedRevision } =
    error instanceof StoreError ? error : new StoreError("Unavailable", `Cannot read the store: ${(error as Error).message}`);
  return { error: { reason, message, ...(compactedRevision === undefined ? {} : { compactedRevision }) } };
}

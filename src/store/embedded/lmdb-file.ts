/**
 * Opens lmdb's file as the embedded driver uses it: one map, seen through three views, each with the encoding of its part
 * (records.ts). Only disk.ts and legacy-format.ts import lmdb beside this file.
 */
import { StoreError } from "../store-error.ts";
import { withoutPrinting } from "../../host/processes/silence-stdout.ts";
import { open, type Database, type DatabaseOptions, type RootDatabase } from "lmdb";
import {
  decodeHead,
  decodeNumber,
  decodeRecord,
  encodeHead,
  encodeNumber,
  INDEX_PREFIX,
  META_PREFIX,
  positionKeys,
  textKeys,
  type Head,
  type LogRecord,
} from "./records.ts";

/** What the library says of a file that nobody else has open. */
const NO_READERS = "(no active readers)";

export interface LmdbFile {
  readonly root: RootDatabase;
  /** Written as whole records, read as what precedes their values. */
  readonly log: Database<LogRecord | Buffer, number>;
  readonly index: Database<Head, string | Uint8Array>;
  readonly meta: Database<number, string>;
}

/** Throws "Locked" if another process has the file open, in whatever container that runs. */
export function openLmdbFile(path: string): LmdbFile {
  const root = openAlone(path, {});
  return {
    root,
    log: root.openDB(UNNAMED, mapOptions(positionKeys, asIs, decodeRecord)),
    index: root.openDB(UNNAMED, mapOptions(textKeys(INDEX_PREFIX), encodeHead, decodeHead)),
    meta: root.openDB(UNNAMED, mapOptions(textKeys(META_PREFIX), encodeNumber, decodeNumber)),
  };
}

/** The library's types do not allow it, but null is its name for the map that every file has. */
const UNNAMED = null as unknown as string;

export function openAlone(path: string, options: { readonly readOnly?: boolean; readonly maxDbs?: number }): RootDatabase {
  const root = open({
    path,
    // The default writes the header that makes a commit count before the commit is on disk, and counts on going back.
    overlappingSync: false,
    // Its own grouping by turns leaves a promise behind that nobody can handle when a commit fails; `Disk.write` groups.
    eventTurnBatching: false,
    maxDbs: 1,
    ...options,
  });
  if (options.readOnly !== true) keepQuiet(root);
  // Before we read ourselves: whoever opens the file alone finds an empty list, so that all who are on it are others.
  if (root.readerList().startsWith(NO_READERS)) return root;
  void root.close();
  throw new StoreError(
    "Locked",
    `Cannot open ${path}: another process has it open, maybe in another container; stop that first or choose another data directory`,
  );
}

/** What the library has of its own beside its types: one round of writing, and how its end is told. */
interface Rounds {
  startWriting(address: number, onStatus: (status: number) => unknown): unknown;
}

/** Greater ones than these, and negative ones, are failures. */
const LAST_GOOD_STATUS = 2;

/** Whoever wrote is told of a failure by the promise; the library also prints it, in the call that tells it of the end. */
function keepQuiet(root: RootDatabase): void {
  const { env } = root as unknown as { readonly env: Rounds };
  const startWriting = env.startWriting.bind(env);
  const quietly: Rounds["startWriting"] = (address, onStatus) =>
    startWriting(address, (status) =>
      status >= 0 && status <= LAST_GOOD_STATUS ? onStatus(status) : withoutPrinting(() => onStatus(status)),
    );
  // Assigned it could not be: its class does not allow that.
  Object.defineProperty(env, "startWriting", { value: quietly });
}

/** How the library wants to be told of encodings. What is decoded must hold nothing of the bytes: they are used again. */
export function mapOptions<T>(keyEncoder: object, encode: (value: never) => Buffer, decode: (bytes: Buffer) => T): DatabaseOptions {
  const options = { keyEncoder, encoder: { encode, decode: (bytes: Buffer) => decode(whole(bytes)) } };
  return options as DatabaseOptions; // Its types know neither of the two.
}

export function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** The part of the library's buffer that holds what was read, until the next read. */
export function whole(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length);
}

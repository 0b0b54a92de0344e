/**
 * Opens lmdb's file as the embedded driver uses it: one map, seen through three views, each with the encoding of its part (records.ts).
 * Besides this file only disk.ts and legacy-format.ts import lmdb.
 */
import { StoreError } from "../store-error.ts";
import { silenceStdout } from "../../host/processes/silence-stdout.ts";
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

/** The library's result for a file that no other process has open. */
const NO_READERS = "(no active readers)";

export interface LmdbFile {
  readonly root: RootDatabase;
  /** Written as whole records, read without their values. */
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
    // The default writes the header that activates a commit before the commit is on disk, and relies on rollback.
    overlappingSync: false,
    // Its own batching per tick leaves a promise behind that cannot be handled when a commit fails; `Disk.write` batches.
    eventTurnBatching: false,
    maxDbs: 1,
    ...options,
  });
  if (options.readOnly !== true) keepQuiet(root);
  // Before our own reads: a sole opener finds an empty reader list, so that all entries are other processes.
  if (root.readerList().startsWith(NO_READERS)) return root;
  void root.close();
  throw new StoreError(
    "Locked",
    `Cannot open ${path}: another process has it open, maybe in another container; stop that first or choose another data directory`,
  );
}

/** Undocumented parts of the library: one write batch, and the notification of its end. */
interface Rounds {
  startWriting(address: number, onStatus: (status: number) => unknown): unknown;
}

/** Greater values, and negative ones, are failures. */
const LAST_GOOD_STATUS = 2;

/** The writer receives a failure by its promise; the library also prints it, in the call that notifies it of the end. */
function keepQuiet(root: RootDatabase): void {
  const { env } = root as unknown as { readonly env: Rounds };
  const startWriting = env.startWriting.bind(env);
  const quietly: Rounds["startWriting"] = (address, onStatus) =>
    startWriting(address, (status) =>
      status >= 0 && status <= LAST_GOOD_STATUS ? onStatus(status) : silenceStdout(() => onStatus(status)),
    );
  // Defined, not assigned: its class does not allow that.
  Object.defineProperty(env, "startWriting", { value: quietly });
}

/** The library's form of an encoding. Decoded values must not reference the bytes: they are reused. */
export function mapOptions<T>(keyEncoder: object, encode: (value: never) => Buffer, decode: (bytes: Buffer) => T): DatabaseOptions {
  const options = { keyEncoder, encoder: { encode, decode: (bytes: Buffer) => decode(whole(bytes)) } };
  return options as DatabaseOptions; // Its types know neither of the two.
}

export function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** The part of the library's buffer that holds the result, until the next read. */
export function whole(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length);
}

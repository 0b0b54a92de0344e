/**
 * Migrates a data file of format 1 to the current one: writes all of it, with revisions and history, to a new file, which then replaces the
 * old one. The old file is only read. A process that dies on the way leaves the old file intact, and the next one starts over; after the
 * rename the new file is complete.
 */
import { makePrivateFile, removeFile, replaceFile, syncFile } from "../../host/files/files.ts";
import { FIRST_REVISION } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { FORMAT, type Disk, type MetaName } from "./disk.ts";
import { LEGACY_FORMAT, LegacyDisk, type LegacyRecord } from "./legacy-format.ts";
import { spaceForValues } from "./disk-space.ts";

/** Bytes per transaction, approximately: bounded by memory. */
const BYTES_PER_PIECE = 16 * 1_048_576;

/** Suffix of the new file while it is written. */
export const MIGRATING_SUFFIX = ".migrating";

const NUMBERS = ["revision", "keys", "compacted", "cleaned"] as const satisfies readonly MetaName[];

export interface MigrateOptions {
  readonly file: string;
  readonly open: (file: string) => Disk;
  /** The key of the current format for one of format 1. */
  readonly currentKey: (key: string) => string;
}

/** Throws, leaving the old file unchanged, if it cannot be migrated. */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { file } = options;
  const copy = `${file}${MIGRATING_SUFFIX}`;
  try {
    await removeCopy(copy); // Left by a process that died during a migration.
    await makePrivateFile(copy);
    const old = new LegacyDisk(file);
    try {
      await copyAll(old, copy, options);
    } finally {
      await old.close();
    }
    await syncFile(copy);
    await replaceFile(copy, file);
  } catch (error) {
    await removeCopy(copy);
    throw explain(error, file);
  }
  await removeCopy(copy);
}

async function copyAll(old: LegacyDisk, copy: string, { file, open, currentKey }: MigrateOptions): Promise<void> {
  const format = old.number("format");
  if (format !== undefined && format !== LEGACY_FORMAT) throw unsupported(file, format);
  const disk = open(copy);
  try {
    // A store that was being restored holds only a part of a snapshot; without a format it never held anything.
    if (format === undefined || old.number("restoring") === 1) return await disk.write(() => putNumbers(disk, () => undefined));
    for (let from: number | undefined = 0; from !== undefined;)
      from = await copyPiece(old.records(from, BYTES_PER_PIECE), disk, currentKey);
    await disk.write(() => putNumbers(disk, (name) => old.number(name)));
  } finally {
    await disk.close();
  }
}

/** Writes records in order, so that each key's head ends as its last record. Returns where to continue, or undefined at the end. */
async function copyPiece(records: readonly LegacyRecord[], disk: Disk, currentKey: (key: string) => string): Promise<number | undefined> {
  const last = records.at(-1);
  if (last === undefined) return undefined;
  await disk.write(
    () => {
      for (const { position, key, deleted, previous, value } of records) {
        disk.putRecord(position, { key: currentKey(key), deleted, previous, keys: 0 }, value);
      }
    },
    spaceForValues(records.map(({ value }) => value)),
  );
  return last.position + 1;
}

function putNumbers(disk: Disk, numberOf: (name: (typeof NUMBERS)[number]) => number | undefined): void {
  disk.putMeta("format", FORMAT);
  for (const name of NUMBERS) disk.putMeta(name, numberOf(name) ?? (name === "keys" ? 0 : FIRST_REVISION));
}

async function removeCopy(copy: string): Promise<void> {
  for (const name of [copy, `${copy}-lock`]) await removeFile(name);
}

function unsupported(file: string, format: number): StoreError {
  return new StoreError(
    "Unsupported",
    `Cannot open ${file}: its format is ${format}, this version of k8ts reads formats up to ${FORMAT}; use the version that wrote it`,
  );
}

function explain(error: unknown, file: string): StoreError {
  const reason = error instanceof StoreError ? error.reason : "Unusable";
  if (reason === "Unsupported" || reason === "Locked") return error as StoreError;
  const why = reason === "Full" ? "no space left on the disk for the new file; make room and start again" : (error as Error).message;
  return new StoreError(reason, `Cannot migrate ${file} from format ${LEGACY_FORMAT} to ${FORMAT}, the file is unchanged: ${why}`, {
    cause: error,
  });
}

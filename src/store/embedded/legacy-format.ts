/**
 * Reads a data file of format 1: three named maps, `log`, `index` and `meta`, and keys of the form
 * `/<group or core>/<plural>/[<namespace>/]<name>`. The file is opened for reading only and never changed.
 *
 * A record of format 1: checksum (4 bytes, of all that follows), kind (1), position of the key's record before (8), length of
 * the key (2), key, value.
 */
import { crc32 } from "../../host/crypto/hash.ts";
import type { Database, RootDatabase } from "lmdb";
import { asIs, mapOptions, openAlone, whole } from "./lmdb-file.ts";
import { LEGACY_MAP_NAMES } from "./legacy-layout.ts";
import { damaged, decodeNumber, encodeNumber, readNumber, revisionOf } from "./records.ts";

export const LEGACY_FORMAT = 1;

const DELETE = 2;
const CHECKSUM_BYTES = 4;
const HEADER_BYTES = CHECKSUM_BYTES + 1 + 8 + 2;

export interface LegacyRecord {
  readonly position: number;
  readonly key: string;
  readonly deleted: boolean;
  readonly previous: number;
  readonly value: Uint8Array;
}

/** The numbers of format 1 that format 2 has, too. */
export type LegacyNumber = "format" | "revision" | "keys" | "compacted" | "cleaned" | "restoring";

export class LegacyDisk {
  readonly #root: RootDatabase;
  readonly #log: Database<Buffer, number> | undefined;
  readonly #meta: Database<number, string> | undefined;

  constructor(path: string) {
    this.#root = openAlone(path, { readOnly: true, maxDbs: LEGACY_MAP_NAMES.length });
    // Undefined if its process died before it had created the map.
    this.#log = this.#root.openDB("log", mapOptions(positionKeys, asIs, asIs));
    this.#meta = this.#root.openDB("meta", mapOptions(textKeys, encodeNumber, decodeNumber));
  }

  number(name: LegacyNumber): number | undefined {
    return this.#meta?.get(name);
  }

  /** Records from position `from` on until they take `bytesMax`, at least one if there is one. Throws "Damaged" at one that is not what was written. */
  records(from: number, bytesMax: number): LegacyRecord[] {
    const found: LegacyRecord[] = [];
    let sizeBytes = 0;
    for (const key of this.#log?.getKeys({ start: from, end: Number.MAX_SAFE_INTEGER }) ?? []) {
      const bytes = this.#log?.getBinaryFast(key);
      if (bytes === undefined) throw damaged(`the record of revision ${revisionOf(key)} is missing`);
      found.push(decodeLegacyRecord(key, whole(bytes)));
      sizeBytes += bytes.length;
      if (sizeBytes >= bytesMax) break;
    }
    return found;
  }

  close(): Promise<void> {
    return this.#root.close();
  }
}

function decodeLegacyRecord(position: number, bytes: Buffer): LegacyRecord {
  const keyEnd = bytes.length < HEADER_BYTES ? Infinity : HEADER_BYTES + bytes.readUInt16BE(HEADER_BYTES - 2);
  if (keyEnd > bytes.length || crc32(bytes.subarray(CHECKSUM_BYTES)) !== bytes.readUInt32BE(0)) {
    throw damaged(`the record of revision ${revisionOf(position)} is not what was written`);
  }
  return {
    position,
    key: bytes.toString("utf8", HEADER_BYTES, keyEnd),
    deleted: bytes[CHECKSUM_BYTES] === DELETE,
    previous: readNumber(bytes, CHECKSUM_BYTES + 1),
    value: Uint8Array.from(bytes.subarray(keyEnd)),
  };
}

const positionKeys = {
  writeKey(position: number, target: Buffer, start: number): number {
    target.set(encodeNumber(position), start);
    return start + 8;
  },
  readKey: (source: Buffer, start: number): number => readNumber(source, start),
};

const textKeys = {
  writeKey: (key: string, target: Buffer, start: number): number => start + target.write(key, start),
  readKey: (source: Buffer, start: number, end: number): string => source.toString("utf8", start, end),
};

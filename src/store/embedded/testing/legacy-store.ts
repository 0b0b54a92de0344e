/** Writes data files of format 1 as earlier versions did: three named maps, numbers with every commit, one transaction per write. */
import { join } from "node:path";
import { crc32 } from "../../../host/crypto/hash.ts";
import { open } from "lmdb";
import { encodeHead, encodeNumber, positionOf } from "../records.ts";

export interface LegacyWrite {
  readonly key: string;
  /** Undefined: a deletion. */
  readonly value: string | undefined;
}

export interface LegacyLife {
  readonly writes: readonly LegacyWrite[];
  readonly compacted?: number;
  readonly format?: number;
  readonly restoring?: boolean;
}

/** Creates, replaces and deletes keys; the log gets branches, and some values overflow their pages. */
export const LEGACY_LIFE: LegacyLife = {
  writes: Array.from({ length: 600 }, (_, index) => ({
    key: `/core/pods/default/p${index % 70}`,
    value: index % 11 === 10 ? undefined : `${index}-${"x".repeat((index * 37) % 6_000)}`,
  })).filter(({ value }, index) => value !== undefined || index > 70),
};

/** Writes one commit per write, the first at revision 2. */
export async function writeLegacyStore(directory: string, life: LegacyLife): Promise<void> {
  const root = open({ path: join(directory, "store.mdb"), overlappingSync: false, maxDbs: 3, encoding: "binary", keyEncoding: "binary" });
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const [log, index, meta] = ["log", "index", "meta"].map((name) => root.openDB<Buffer, Buffer>(name, binary));
  const heads = new Map<string, { readonly position: number; readonly deleted: boolean }>();
  const putNumber = (name: string, number: number) => void meta?.put(Buffer.from(name), encodeNumber(number));
  let revision = 1;
  for (const { key, value } of life.writes) {
    const before = heads.get(key);
    if (value === undefined && (before === undefined || before.deleted)) continue;
    revision += 1;
    const head = { position: positionOf(revision, 0), deleted: value === undefined };
    heads.set(key, head);
    await root.batch(() => {
      void log?.put(encodeNumber(head.position), legacyRecord(key, value, before?.position ?? 0));
      void index?.put(Buffer.from(key), encodeHead(head));
      putNumber("revision", revision);
    });
  }
  await root.batch(() => {
    putNumber("format", life.format ?? 1);
    putNumber("keys", [...heads.values()].filter(({ deleted }) => !deleted).length);
    putNumber("revision", revision);
    for (const name of ["compacted", "cleaned"]) putNumber(name, life.compacted ?? 1);
    if (life.restoring === true) putNumber("restoring", 1);
  });
  await root.close();
}

function legacyRecord(key: string, value: string | undefined, previous: number): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(key));
  const content = Buffer.concat([
    Buffer.of(value === undefined ? 2 : 1),
    encodeNumber(previous),
    length,
    Buffer.from(key),
    Buffer.from(value ?? ""),
  ]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([checksum, content]);
}

/**
 * Random histories of stores, from a seed: bursts of puts, deletions and compactions, with value lengths that use every kind of page; and a
 * description of a store's whole content.
 */
import { pick, type Random } from "../../../base/random.ts";
import { sha256 } from "../../../host/crypto/hash.ts";
import { KEY_BYTES_MAX, OBJECT_BYTES_MAX, type Operation, type Store } from "../../store.ts";
import { bytesValue } from "../../value.ts";

export interface Life {
  readonly name: string;
  readonly keys: number;
  readonly keyBytesMax: number;
  valueBytes(random: Random): number;
}

/** lmdb's page size, for drawing lengths around it; correct on most machines. */
const PAGE_BYTES = 4_096;

/** Overhead of a record, approximately; and the range around a boundary from which lengths are drawn. */
const RECORD_BYTES = 60;

export const LIVES: readonly Life[] = [
  { name: "many small values", keys: 2_000, keyBytesMax: 40, valueBytes: (random) => random.below(200) },
  { name: "long keys", keys: 300, keyBytesMax: KEY_BYTES_MAX, valueBytes: (random) => random.below(300) },
  {
    name: "values that just fit into a leaf, or do not",
    keys: 300,
    keyBytesMax: 40,
    valueBytes: (random) => PAGE_BYTES / 2 - 2 * RECORD_BYTES + random.below(2 * RECORD_BYTES),
  },
  {
    name: "values that just fit into some pages, or do not",
    keys: 100,
    keyBytesMax: 40,
    valueBytes: (random) => PAGE_BYTES * (1 + random.below(6)) - 2 * RECORD_BYTES + random.below(2 * RECORD_BYTES),
  },
  {
    name: "values up to the largest",
    keys: 30,
    keyBytesMax: 40,
    valueBytes: (random) => random.below(pick(random, [1, 10_000, 10_000, 10_000, OBJECT_BYTES_MAX]) + 1),
  },
];

/** One step: up to a hundred concurrent commits, or a compaction. */
export async function step(store: Store, life: Life, random: Random): Promise<void> {
  const kind = random.below(10);
  if (kind < 2) return compactSome(store, random);
  const operations = Array.from({ length: 1 + random.below(pick(random, [2, 20, 100])) }, () =>
    kind < 4 ? deletion(life, random) : replacement(life, random),
  );
  await Promise.all(operations.map((operation) => store.commit([operation])));
}

async function compactSome(store: Store, random: Random): Promise<void> {
  const newest = await store.currentRevision();
  await store.compact(Math.max(1, newest - random.below(50)));
}

function deletion(life: Life, random: Random): Operation {
  return { type: "delete", key: keyOf(life, random.below(life.keys)), precondition: { is: "exists" } };
}

function replacement(life: Life, random: Random): Operation {
  const value = new Uint8Array(life.valueBytes(random)).fill(random.below(256));
  return { type: "put", key: keyOf(life, random.below(life.keys)), value: bytesValue(value) };
}

function keyOf({ keyBytesMax }: Life, number: number): string {
  const name = `/pods/default/${number}-`;
  // Each number always gets the same length, some the shortest, some the longest.
  return name.padEnd(name.length + ((number * 7_919) % (keyBytesMax - name.length)), "x");
}

/** All entries, now and at the oldest readable revision, in short form. */
export async function describe(store: Store): Promise<string> {
  const { compactedRevision } = await store.statistics();
  const hash = sha256();
  let entries = 0;
  for (const options of [{}, { revision: compactedRevision }]) {
    const list = await store.list("", options);
    for (const { key, revision, value } of list.entries) {
      hash.update(new TextEncoder().encode(`${key}@${revision}=`));
      hash.update(value.bytes());
    }
    entries += list.entries.length;
  }
  return `${entries} entries at ${await store.currentRevision()}, ${Buffer.from(hash.digest()).toString("hex").slice(0, 16)}`;
}

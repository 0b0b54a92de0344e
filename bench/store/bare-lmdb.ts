/**
 * Lower bound for durable writes with lmdb: one put of one key and its value per commit, in one database, with the options of the embedded
 * store. No revision, precondition, history or checksum. lmdb batches the writes of one event-loop tick into one transaction.
 */
import { open } from "lmdb";
import type { Create } from "./load.ts";

export function openBareLmdb(path: string): Create {
  const database = open<Uint8Array, Uint8Array>({ path, overlappingSync: false, encoding: "binary", keyEncoding: "binary" });
  return async (key, bytes) => {
    await database.put(Buffer.from(key), bytes);
  };
}

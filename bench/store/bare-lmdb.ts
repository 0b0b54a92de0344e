/**
 * The least that lmdb can do for a durable write: one put of one key and its value per commit, in one map, with the options of
 * the embedded store. No revision, no precondition, no history, no checksum. lmdb makes one transaction of what comes in one turn.
 */
import { open } from "lmdb";
import type { Create } from "./load.ts";

export function openBareLmdb(path: string): Create {
  const database = open<Uint8Array, Uint8Array>({ path, overlappingSync: false, encoding: "binary", keyEncoding: "binary" });
  return async (key, bytes) => {
    await database.put(Buffer.from(key), bytes);
  };
}

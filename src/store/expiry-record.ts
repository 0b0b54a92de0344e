/**
 * Expiry records: beside an expiring key, in the same commit, a record is written whose own key begins with the time, so that records sort
 * by expiry.
 *
 * A record needs no content. It and its key were written by one commit, so that they have one revision; as soon as the key is written again
 * its revision differs, and the old record is void. store/expiry.ts acts on the records.
 */
import type { PutOperation } from "./store.ts";
import { bookkeepingPrefix } from "./key.ts";
import { bytesValue } from "./value.ts";

export const EXPIRY_PREFIX = bookkeepingPrefix("expiry");

/** Enough digits for every safe integer, so that keys sort by time. */
const TIME_DIGITS = 16;

const EMPTY = bytesValue(new Uint8Array(0));

export function expiryRecord(put: { readonly key: string; readonly expiresAtMs: number }): PutOperation {
  const time = String(Math.max(0, put.expiresAtMs)).padStart(TIME_DIGITS, "0");
  return { type: "put", key: `${EXPIRY_PREFIX}${time}${put.key}`, value: EMPTY };
}

/** Parses the key of a record; undefined if it is not a record's. */
export function parseExpiryRecord(recordKey: string): { readonly key: string; readonly expiresAtMs: number } | undefined {
  const timeEnd = EXPIRY_PREFIX.length + TIME_DIGITS;
  const time = recordKey.slice(EXPIRY_PREFIX.length, timeEnd);
  if (!recordKey.startsWith(EXPIRY_PREFIX) || !/^\d{16}$/.test(time) || recordKey[timeEnd] !== "/") return undefined;
  return { key: recordKey.slice(timeEnd), expiresAtMs: Number(time) };
}

/** How long a response may be kept, and the response with the TTLs that are left of it. Pure. */
import { RCODE, TYPE } from "../../wire/codes.ts";
import { readMessage, uint32, type FoundRecord } from "../../wire/read-message.ts";

export interface CachedMessage {
  readonly bytes: Uint8Array;
  readonly rcode: number;
  readonly ttlOffsets: readonly number[];
  readonly ttlSeconds: number;
}

export interface TtlBounds {
  readonly ttlMinSeconds: number;
  readonly ttlMaxSeconds: number;
  readonly negativeTtlMaxSeconds: number;
}

/** Failures are kept briefly, so that a broken upstream is not asked for every query; CoreDNS' time. */
const FAILURE_TTL_SECONDS = 5;

/** Undefined if it must not be kept: truncated, malformed, or a refusal. */
export function cachedMessage(bytes: Uint8Array, bounds: TtlBounds): CachedMessage | undefined {
  const message = readMessage(bytes);
  if (message === undefined || message.isTruncated) return undefined;
  const { rcode } = message;
  // The TTL field of an OPT record is not one.
  const records = message.records.filter(({ type }) => type !== TYPE.OPT);
  const ttlSeconds = ttlOf({ bytes, rcode, records }, bounds);
  if (ttlSeconds === undefined || ttlSeconds <= 0) return undefined;
  return { bytes, rcode, ttlSeconds, ttlOffsets: records.map(({ ttlOffset }) => ttlOffset) };
}

interface Response {
  readonly bytes: Uint8Array;
  readonly rcode: number;
  readonly records: readonly FoundRecord[];
}

function ttlOf({ bytes, rcode, records }: Response, bounds: TtlBounds): number | undefined {
  const { ttlMinSeconds, ttlMaxSeconds, negativeTtlMaxSeconds } = bounds;
  if (rcode === RCODE.SERVFAIL) return Math.min(FAILURE_TTL_SECONDS, negativeTtlMaxSeconds);
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return undefined;
  const lowest = Math.min(...records.map(({ ttlSeconds }) => ttlSeconds));
  if (rcode === RCODE.NOERROR && records.some(({ section }) => section === "answer"))
    return Math.min(Math.max(lowest, ttlMinSeconds), ttlMaxSeconds);
  // RFC 2308: without an SOA record a negative answer is not kept.
  const soa = records.find(({ type, section }) => type === TYPE.SOA && section === "authority");
  if (soa === undefined) return undefined;
  const minimum = soa.dataEnd - soa.dataOffset >= 20 ? uint32(bytes, soa.dataEnd - 4) : 0;
  return Math.min(Math.max(Math.min(soa.ttlSeconds, minimum, lowest), ttlMinSeconds), negativeTtlMaxSeconds);
}

/** A copy with all TTLs less `ageSeconds`, and at most what the cache keeps it for. */
export function agedMessage({ bytes, ttlOffsets, ttlSeconds }: CachedMessage, ageSeconds: number): Uint8Array {
  const aged = bytes.slice();
  const view = new DataView(aged.buffer, aged.byteOffset, aged.byteLength);
  for (const offset of ttlOffsets) view.setUint32(offset, Math.max(0, Math.min(view.getUint32(offset), ttlSeconds) - ageSeconds));
  return aged;
}

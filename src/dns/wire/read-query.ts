/**
 * Reads a query: its header, its one question and its OPT record. Bounded by the size of the packet and by RECORDS_MAX, whatever the
 * counts in its header are.
 */
import { CLASS_IN, FLAG, HEADER_BYTES, OPCODE_MASK, RCODE, TYPE, UDP_BYTES_PLAIN } from "./codes.ts";
import { MALFORMED, readName } from "./names.ts";

/** A query has an OPT record and perhaps a signature. */
const RECORDS_MAX = 8;

/** Of a record after its name: type, class, TTL, length of the data. */
const RECORD_HEADER_BYTES = 10;

const DNSSEC_OK = 0x8000;

export interface Edns {
  /** Largest response over UDP that the client accepts. */
  readonly udpBytes: number;
  readonly isDnssecOk: boolean;
  /** Cookies, padding and so on: not answered, but such a packet differs from all others. */
  readonly hasOptions: boolean;
}

export interface Query {
  readonly flags: number;
  /** In lower case. */
  readonly name: string;
  readonly type: number;
  /** The question as received: responses repeat it with its case. */
  readonly question: Uint8Array;
  readonly edns: Edns | undefined;
}

/** A packet that is answered without looking up anything. */
export interface RefusedQuery {
  readonly rcode: number;
  readonly flags: number;
  /** Absent if it could not be read. */
  readonly question?: Uint8Array;
  readonly edns?: Edns | undefined;
}

export type ReadQuery =
  | { readonly is: "query"; readonly query: Query }
  | { readonly is: "refused"; readonly refused: RefusedQuery }
  /** Not a query: too short, or a response. Answering it could start an endless exchange. */
  | { readonly is: "ignored" };

const IGNORED: ReadQuery = { is: "ignored" };

export function readQuery(bytes: Uint8Array): ReadQuery {
  if (bytes.length < HEADER_BYTES) return IGNORED;
  const flags = uint16(bytes, 2);
  if ((flags & FLAG.RESPONSE) !== 0) return IGNORED;
  if ((flags & OPCODE_MASK) !== 0) return refused({ rcode: RCODE.NOTIMP, flags });
  try {
    return readStandardQuery(bytes, flags);
  } catch (error) {
    if (error !== MALFORMED) throw error;
    return refused({ rcode: RCODE.FORMERR, flags });
  }
}

function readStandardQuery(bytes: Uint8Array, flags: number): ReadQuery {
  if (uint16(bytes, 4) !== 1) throw MALFORMED;
  // A pointer could only lead into the header, so it is malformed.
  const { name, next } = readName(bytes, HEADER_BYTES);
  if (next + 4 > bytes.length) throw MALFORMED;
  const type = uint16(bytes, next);
  const question = bytes.slice(HEADER_BYTES, next + 4);
  const edns = readEdns(bytes, next + 4);
  if (edns !== undefined && edns.version !== 0) return refused({ rcode: RCODE.BADVERS, flags, question, edns });
  if (uint16(bytes, next + 2) !== CLASS_IN || type === TYPE.AXFR || type === TYPE.IXFR)
    return refused({ rcode: RCODE.REFUSED, flags, question, edns });
  return { is: "query", query: { flags, name, type, question, edns } };
}

function refused(query: RefusedQuery): ReadQuery {
  return { is: "refused", refused: query };
}

function readEdns(bytes: Uint8Array, start: number): (Edns & { readonly version: number }) | undefined {
  const before = uint16(bytes, 6) + uint16(bytes, 8);
  const count = before + uint16(bytes, 10);
  if (count > RECORDS_MAX) throw MALFORMED;
  let found: (Edns & { readonly version: number }) | undefined;
  let offset = start;
  for (let index = 0; index < count; index++) {
    const { name, next } = readName(bytes, offset);
    if (next + RECORD_HEADER_BYTES > bytes.length) throw MALFORMED;
    const length = uint16(bytes, next + 8);
    offset = next + RECORD_HEADER_BYTES + length;
    if (offset > bytes.length) throw MALFORMED;
    if (uint16(bytes, next) !== TYPE.OPT) continue;
    // RFC 6891, 6.1.1: one, in the additional section, of the root.
    if (found !== undefined || name !== "" || index < before) throw MALFORMED;
    const udpBytes = Math.max(UDP_BYTES_PLAIN, uint16(bytes, next + 2));
    const isDnssecOk = (uint16(bytes, next + 6) & DNSSEC_OK) !== 0;
    found = { udpBytes, isDnssecOk, hasOptions: length > 0, version: bytes[next + 5] as number };
  }
  return found;
}

/** The caller has checked the bounds. */
export function uint16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number);
}

/** Numbers of the DNS protocol: record types, classes, response codes (RFC 1035, 2782, 3596, 6891). */

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

export const CLASS_IN = 1;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  /** Extended: its upper bits are in the OPT record. */
  BADVERS: 16,
} as const;

const RCODE_NAMES = new Map<number, string>(Object.entries(RCODE).map(([name, code]) => [code, name]));
const TYPE_NAMES = new Map<number, string>(Object.entries(TYPE).map(([name, code]) => [code, name]));

/** "NXDOMAIN"; the number if it has no name here. */
export function rcodeName(rcode: number): string {
  return RCODE_NAMES.get(rcode) ?? String(rcode);
}

/** "AAAA"; "other" if it has no name here, so that clients cannot create labels. */
export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? "other";
}

/** Of a message (RFC 1035, 4.1.1). */
export const HEADER_BYTES = 12;

/** Bits of the second pair of bytes of a message. */
export const FLAG = {
  RESPONSE: 0x8000,
  AUTHORITATIVE: 0x0400,
  TRUNCATED: 0x0200,
  RECURSION_DESIRED: 0x0100,
  RECURSION_AVAILABLE: 0x0080,
  CHECKING_DISABLED: 0x0010,
} as const;

export const OPCODE_MASK = 0x7800;
export const RCODE_MASK = 0x000f;

/** Of a message over TCP, whose length has 16 bits. */
export const MESSAGE_BYTES_MAX = 65_535;

/** Of a response over UDP to a client without EDNS. */
export const UDP_BYTES_PLAIN = 512;

/** Of a response over UDP to any client: passes every network without fragments (DNS flag day 2020). */
export const UDP_BYTES_MAX = 1_232;

/** Of an OPT record without options. */
export const OPT_BYTES = 11;

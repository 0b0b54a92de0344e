/**
 * Reads responses of other servers: where their records and TTLs are, and the records as values. Bounded by the size of the message: every
 * record takes at least RECORD_BYTES_MIN of it, whatever the counts in its header are.
 */
import { FLAG, HEADER_BYTES, RCODE_MASK, TYPE } from "./codes.ts";
import { MALFORMED, readName } from "./names.ts";
import { uint16 } from "./read-query.ts";
import type { DnsRecord, RecordData } from "./records.ts";

/** The root's name, type, class, TTL and the length of no data. */
const RECORD_BYTES_MIN = 11;

export type Section = "answer" | "authority" | "additional";

/** A record and where it is in the message. */
export interface FoundRecord {
  readonly section: Section;
  readonly name: string;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly ttlOffset: number;
  readonly dataOffset: number;
  readonly dataEnd: number;
}

export interface ReadMessage {
  readonly id: number;
  readonly flags: number;
  readonly rcode: number;
  readonly isTruncated: boolean;
  /** Of the first question; absent if the message has none. */
  readonly question?: { readonly name: string; readonly type: number; readonly end: number };
  /** None of a truncated message. */
  readonly records: readonly FoundRecord[];
}

/** Undefined if it is malformed or not a response. */
export function readMessage(bytes: Uint8Array): ReadMessage | undefined {
  try {
    return readResponse(bytes);
  } catch (error) {
    if (error !== MALFORMED) throw error;
    return undefined;
  }
}

function readResponse(bytes: Uint8Array): ReadMessage {
  if (bytes.length < HEADER_BYTES) throw MALFORMED;
  const flags = uint16(bytes, 2);
  const questions = uint16(bytes, 4);
  if ((flags & FLAG.RESPONSE) === 0 || questions > 1) throw MALFORMED;
  const question = questions === 0 ? undefined : readQuestion(bytes);
  const isTruncated = (flags & FLAG.TRUNCATED) !== 0;
  // Some servers cut truncated messages anywhere, and what there is of them is not used.
  const records = isTruncated ? [] : readRecords(bytes, question?.end ?? HEADER_BYTES);
  return { id: uint16(bytes, 0), flags, rcode: flags & RCODE_MASK, isTruncated, records, ...(question === undefined ? {} : { question }) };
}

function readQuestion(bytes: Uint8Array) {
  const { name, next } = readName(bytes, HEADER_BYTES);
  if (next + 4 > bytes.length) throw MALFORMED;
  return { name, type: uint16(bytes, next), end: next + 4 };
}

function readRecords(bytes: Uint8Array, start: number): FoundRecord[] {
  const answers = uint16(bytes, 6);
  const authority = uint16(bytes, 8);
  const count = answers + authority + uint16(bytes, 10);
  if (count * RECORD_BYTES_MIN > bytes.length) throw MALFORMED;
  const records: FoundRecord[] = [];
  let offset = start;
  for (let index = 0; index < count; index++) {
    const section = index < answers ? "answer" : index < answers + authority ? "authority" : "additional";
    const record = readRecord(bytes, offset, section);
    records.push(record);
    offset = record.dataEnd;
  }
  return records;
}

function readRecord(bytes: Uint8Array, start: number, section: Section): FoundRecord {
  const { name, next } = readName(bytes, start);
  const dataOffset = next + 10;
  if (dataOffset > bytes.length) throw MALFORMED;
  const dataEnd = dataOffset + uint16(bytes, next + 8);
  if (dataEnd > bytes.length) throw MALFORMED;
  const ttlSeconds = uint32(bytes, next + 4);
  return { section, name, type: uint16(bytes, next), ttlSeconds, ttlOffset: next + 4, dataOffset, dataEnd };
}

export function uint32(bytes: Uint8Array, offset: number): number {
  return uint16(bytes, offset) * 0x1_0000 + uint16(bytes, offset + 2);
}

/**
 * A record as a value that can be written into another message. Undefined if its data is malformed, or of a type that may have compressed
 * names and is not read here.
 */
export function recordValue(bytes: Uint8Array, found: FoundRecord): DnsRecord | undefined {
  const { name, type, ttlSeconds } = found;
  try {
    const data = readData(bytes, found);
    return data === undefined ? undefined : { name, type, ttlSeconds, data };
  } catch (error) {
    if (error !== MALFORMED) throw error;
    return undefined;
  }
}

/** Types of RFC 1035 whose data has names that may be compressed. */
const COMPRESSIBLE = new Set<number>([3, 4, 7, 8, 9, 14, TYPE.MX]);

function readData(bytes: Uint8Array, { type, dataOffset, dataEnd }: FoundRecord): RecordData | undefined {
  const length = dataEnd - dataOffset;
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA:
      if (length !== (type === TYPE.A ? 4 : 16)) throw MALFORMED;
      return { is: "address", bytes: bytes.slice(dataOffset, dataEnd) };
    case TYPE.CNAME:
    case TYPE.NS:
    case TYPE.PTR:
      return { is: "name", name: readWhole(bytes, dataOffset, dataEnd) };
    case TYPE.SRV:
      if (length < 7) throw MALFORMED;
      return {
        is: "srv",
        priority: uint16(bytes, dataOffset),
        weight: uint16(bytes, dataOffset + 2),
        port: uint16(bytes, dataOffset + 4),
        target: readWhole(bytes, dataOffset + 6, dataEnd),
      };
    case TYPE.TXT:
      return { is: "txt", texts: readTexts(bytes, dataOffset, dataEnd) };
    case TYPE.SOA:
      return readSoa(bytes, dataOffset, dataEnd);
    default:
      return COMPRESSIBLE.has(type) ? undefined : { is: "raw", bytes: bytes.slice(dataOffset, dataEnd) };
  }
}

function readWhole(bytes: Uint8Array, offset: number, end: number): string {
  const { name, next } = readName(bytes, offset);
  if (next !== end) throw MALFORMED;
  return name;
}

function readTexts(bytes: Uint8Array, start: number, end: number): readonly string[] {
  const texts: string[] = [];
  let offset = start;
  while (offset < end) {
    const next = offset + 1 + (bytes[offset] as number);
    if (next > end) throw MALFORMED;
    texts.push(String.fromCharCode(...bytes.subarray(offset + 1, next)));
    offset = next;
  }
  return texts;
}

function readSoa(bytes: Uint8Array, start: number, end: number): RecordData {
  const server = readName(bytes, start);
  const mailbox = readName(bytes, server.next);
  const at = mailbox.next;
  if (at + 20 !== end) throw MALFORMED;
  return {
    is: "soa",
    soa: {
      server: server.name,
      mailbox: mailbox.name,
      serial: uint32(bytes, at),
      refreshSeconds: uint32(bytes, at + 4),
      retrySeconds: uint32(bytes, at + 8),
      expireSeconds: uint32(bytes, at + 12),
      minimumSeconds: uint32(bytes, at + 16),
    },
  };
}

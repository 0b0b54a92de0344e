/**
 * Writes queries and responses. Names are compressed against all names written before. Records that do not fit are left out: of answers and
 * authority with the flag "truncated", of additional records without, since a client can do without them.
 */
import { CLASS_IN, FLAG, HEADER_BYTES, MESSAGE_BYTES_MAX, OPT_BYTES, RCODE_MASK, TYPE, UDP_BYTES_MAX } from "./codes.ts";
import { labelsOf, POINTER_MAX } from "./names.ts";
import type { Edns, Query } from "./read-query.ts";
import type { DnsRecord, RecordData } from "./records.ts";

const DNSSEC_OK_HIGH = 0x80;
/** Upper limit of one text in a TXT record. */
const TEXT_BYTES_MAX = 255;

export interface ResponseRecords {
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
}

export interface ResponseOptions {
  readonly id: number;
  /** Of the query. */
  readonly flags: number;
  readonly isRecursive: boolean;
  /** Absent if the query's could not be read. */
  readonly question?: Uint8Array | undefined;
  /** The query's name, which `question` starts with. */
  readonly name?: string;
  readonly edns?: Edns | undefined;
  readonly bytesMax: number;
}

/** Reused by all messages: one is written at a time, and copied out. */
const scratch = new Uint8Array(MESSAGE_BYTES_MAX);

export function writeResponse(records: ResponseRecords, options: ResponseOptions): Uint8Array {
  const { id, flags, isRecursive, question, name, edns } = options;
  const writer = new Writer(Math.min(options.bytesMax, MESSAGE_BYTES_MAX) - (edns === undefined ? 0 : OPT_BYTES));
  writer.uint16(id);
  writer.uint16(responseFlags(flags, { isRecursive, isAuthoritative: records.isAuthoritative }) | (records.rcode & RCODE_MASK));
  writer.uint16(question === undefined ? 0 : 1);
  writer.skip(6);
  if (question !== undefined) writer.question(question, name);
  const answers = writer.records(records.answers);
  const authority = writer.isFull ? 0 : writer.records(records.authority);
  if (writer.isFull) writer.set(2, FLAG.TRUNCATED >> 8);
  const additional = writer.isFull ? 0 : writer.records(records.additional);
  writer.count(6, answers);
  writer.count(8, authority);
  writer.count(10, additional + (edns === undefined ? 0 : 1));
  return writer.end(edns === undefined ? undefined : { edns, extendedRcode: records.rcode >> 4 });
}

function responseFlags(flags: number, { isRecursive, isAuthoritative }: { isRecursive: boolean; isAuthoritative: boolean }): number {
  return (
    (flags & ~(FLAG.RECURSION_AVAILABLE | FLAG.TRUNCATED | FLAG.AUTHORITATIVE | RCODE_MASK | 0x0060)) |
    FLAG.RESPONSE |
    (isAuthoritative ? FLAG.AUTHORITATIVE : 0) |
    (isRecursive ? FLAG.RECURSION_AVAILABLE : 0)
  );
}

/** A query to another server, with a question as received from a client. */
export function writeForwarded({ flags, question, edns }: Pick<Query, "flags" | "question" | "edns">, id: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + question.length + (edns === undefined ? 0 : OPT_BYTES));
  setUint16(bytes, 0, id);
  setUint16(bytes, 2, (flags & FLAG.CHECKING_DISABLED) | FLAG.RECURSION_DESIRED);
  setUint16(bytes, 4, 1);
  bytes.set(question, HEADER_BYTES);
  if (edns !== undefined) {
    setUint16(bytes, 10, 1);
    writeOpt(bytes, HEADER_BYTES + question.length, { edns, extendedRcode: 0 });
  }
  return bytes;
}

/** The question of a name and a type, class IN. */
export function writeQuestion(name: string, type: number): Uint8Array {
  const writer = new Writer(MESSAGE_BYTES_MAX);
  writer.name(name);
  writer.uint16(type);
  writer.uint16(CLASS_IN);
  return writer.end();
}

function writeOpt(bytes: Uint8Array, offset: number, { edns, extendedRcode }: { edns: Edns; extendedRcode: number }): void {
  bytes[offset] = 0;
  setUint16(bytes, offset + 1, TYPE.OPT);
  setUint16(bytes, offset + 3, UDP_BYTES_MAX);
  bytes[offset + 5] = extendedRcode;
  bytes[offset + 6] = 0;
  bytes[offset + 7] = edns.isDnssecOk ? DNSSEC_OK_HIGH : 0;
  bytes[offset + 8] = 0;
  setUint16(bytes, offset + 9, 0);
}

export function setUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >> 8;
  bytes[offset + 1] = value;
}

/** Writes to `scratch`. */
class Writer {
  readonly #limit: number;
  #offset = 0;
  /** Offsets of the names written so far and of their ends, by text. */
  #names: Map<string, number> | undefined;
  /** The question's name is the most frequent one: found without the map. */
  #questionName: string | undefined;
  /** True after a record did not fit. */
  isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  skip(count: number): void {
    scratch.fill(0, this.#offset, this.#offset + count);
    this.#offset += count;
  }

  uint16(value: number): void {
    scratch[this.#offset++] = value >> 8;
    scratch[this.#offset++] = value;
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value & 0xffff);
  }

  bytes(bytes: Uint8Array): void {
    // What does not fit is taken back by records().
    if (this.#offset + bytes.length <= scratch.length) scratch.set(bytes, this.#offset);
    this.#offset += bytes.length;
  }

  /** Adds bits to a byte that was written. */
  set(offset: number, bits: number): void {
    scratch[offset] = (scratch[offset] as number) | bits;
  }

  count(offset: number, count: number): void {
    setUint16(scratch, offset, count);
  }

  question(question: Uint8Array, name: string | undefined): void {
    this.#questionName = name === "" ? undefined : name;
    this.bytes(question);
  }

  /** Returns how many fit. */
  records(records: readonly DnsRecord[]): number {
    let count = 0;
    for (const record of records) {
      const start = this.#offset;
      this.#record(record);
      if (this.#offset > this.#limit) {
        this.#offset = start;
        this.isFull = true;
        return count;
      }
      count++;
    }
    return count;
  }

  #record({ name, type, ttlSeconds, data }: DnsRecord): void {
    this.name(name);
    this.uint16(type);
    this.uint16(CLASS_IN);
    this.uint32(ttlSeconds);
    const lengthAt = this.#offset;
    this.#offset += 2;
    this.#data(data);
    setUint16(scratch, lengthAt, this.#offset - lengthAt - 2);
  }

  #data(data: RecordData): void {
    switch (data.is) {
      case "address":
      case "raw":
        return this.bytes(data.bytes);
      case "name":
        return this.name(data.name);
      case "srv":
        this.uint16(data.priority);
        this.uint16(data.weight);
        this.uint16(data.port);
        // RFC 2782: not compressed.
        return this.#plainName(data.target);
      case "txt":
        for (const text of data.texts) this.#text(text.slice(0, TEXT_BYTES_MAX));
        return;
      case "soa": {
        const { server, mailbox, serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds } = data.soa;
        this.name(server);
        this.name(mailbox);
        for (const value of [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds]) this.uint32(value);
      }
    }
  }

  #text(text: string): void {
    scratch[this.#offset++] = text.length;
    for (let at = 0; at < text.length; at++) scratch[this.#offset++] = text.charCodeAt(at);
  }

  #plainName(name: string): void {
    for (const label of labelsOf(name)) this.#text(label);
    scratch[this.#offset++] = 0;
  }

  name(name: string): void {
    if (name === this.#questionName) return this.uint16(0xc000 | HEADER_BYTES);
    const labels = labelsOf(name);
    this.#names ??= this.#namesOfQuestion();
    for (let index = 0; index < labels.length; index++) {
      const rest = labels.slice(index).join("\0");
      const known = this.#names.get(rest);
      if (known !== undefined) return this.uint16(0xc000 | known);
      if (this.#offset <= POINTER_MAX && this.#offset < this.#limit) this.#names.set(rest, this.#offset);
      this.#text(labels[index] as string);
    }
    scratch[this.#offset++] = 0;
  }

  #namesOfQuestion(): Map<string, number> {
    const names = new Map<string, number>();
    const labels = labelsOf(this.#questionName ?? "");
    let offset = HEADER_BYTES;
    for (let index = 0; index < labels.length; index++) {
      names.set(labels.slice(index).join("\0"), offset);
      offset += 1 + (labels[index] as string).length;
    }
    return names;
  }

  end(opt?: { readonly edns: Edns; readonly extendedRcode: number }): Uint8Array {
    const length = Math.min(this.#offset, scratch.length);
    const message = new Uint8Array(length + (opt === undefined ? 0 : OPT_BYTES));
    message.set(scratch.subarray(0, length));
    if (opt !== undefined) writeOpt(message, length, opt);
    return message;
  }
}

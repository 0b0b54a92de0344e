import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FLAG, MESSAGE_BYTES_MAX, RCODE, TYPE } from "./codes.ts";
import { isName } from "./names.ts";
import { readMessage, recordValue } from "./read-message.ts";
import { readQuery } from "./read-query.ts";
import type { DnsRecord, RecordData } from "./records.ts";
import { writeForwarded, writeQuestion, writeResponse } from "./write-message.ts";

const NAME = "web.default.svc.cluster.local";
const edns = { udpBytes: 1_232, isDnssecOk: false, hasOptions: false };

const name = fc
  .array(fc.stringMatching(/^[a-z0-9_-]{1,20}$/), { maxLength: 6 })
  .map((labels) => labels.join("."))
  .filter(isName);
const uint16 = fc.nat(0xffff);
const uint32 = fc.nat(0xffff_ffff);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const data: fc.Arbitrary<readonly [number, RecordData]> = fc.oneof(
  bytes(4).map((address) => [TYPE.A, { is: "address", bytes: address }] as const),
  bytes(16).map((address) => [TYPE.AAAA, { is: "address", bytes: address }] as const),
  fc.tuple(fc.constantFrom(TYPE.CNAME, TYPE.NS, TYPE.PTR), name).map(([type, to]) => [type, { is: "name", name: to }] as const),
  fc
    .record({ is: fc.constant("srv" as const), priority: uint16, weight: uint16, port: uint16, target: name })
    .map((srv) => [TYPE.SRV, { ...srv }] as const),
  fc.array(fc.stringMatching(/^[ -~]{0,50}$/), { maxLength: 3 }).map((texts) => [TYPE.TXT, { is: "txt", texts }] as const),
  fc
    .record({
      ...{ server: name, mailbox: name, serial: uint32 },
      ...{ refreshSeconds: uint32, retrySeconds: uint32, expireSeconds: uint32, minimumSeconds: uint32 },
    })
    .map((soa) => [TYPE.SOA, { is: "soa", soa: { ...soa } }] as const),
  fc.uint8Array({ maxLength: 40 }).map((raw) => [99, { is: "raw", bytes: raw }] as const),
);
const record: fc.Arbitrary<DnsRecord> = fc
  .tuple(name, data, uint32)
  .map(([owner, [type, value], ttlSeconds]) => ({ name: owner, type, ttlSeconds, data: value }));
const records = fc.array(record, { maxLength: 6 });

test("a response is read back as it was written", () => {
  fc.assert(
    fc.property(uint16, name, records, records, records, fc.boolean(), (id, asked, answers, authority, additional, hasEdns) => {
      const question = writeQuestion(asked, TYPE.A);
      const options = { id, flags: FLAG.RECURSION_DESIRED, isRecursive: true, question, name: asked, bytesMax: MESSAGE_BYTES_MAX };
      const response = { rcode: RCODE.NOERROR, isAuthoritative: true, answers, authority, additional };
      const written = writeResponse(response, { ...options, edns: hasEdns ? edns : undefined });
      const message = readMessage(written);
      const values = (message?.records ?? []).filter(({ type }) => type !== TYPE.OPT).map((found) => recordValue(written, found));
      deepEqual(values, [...answers, ...authority, ...additional]);
      deepEqual([message?.id, message?.question?.name, message?.isTruncated], [id, asked, false]);
    }),
  );
});

test("any bytes are read as a message or as none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (input) => {
      const message = readMessage(input);
      for (const found of message?.records ?? []) recordValue(input, found);
      readQuery(input);
    }),
    { numRuns: 2_000 },
  );
});

test("a valid message with any changed bytes is read as a message or as none", () => {
  const answers = Array.from({ length: 5 }, (_, index): DnsRecord => {
    return { name: `${index}.${NAME}`, type: TYPE.CNAME, ttlSeconds: 5, data: { is: "name", name: `x.${NAME}` } };
  });
  const options = { id: 1, flags: 0, isRecursive: true, question: writeQuestion(NAME, TYPE.A), name: NAME, edns, bytesMax: 1_232 };
  const valid = writeResponse({ rcode: 0, isAuthoritative: true, answers, authority: [], additional: [] }, options);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 8 }), fc.nat(valid.length), (changes, length) => {
      const changed = valid.slice(0, length);
      for (const [at, byte] of changes) if (at < changed.length) changed[at] = byte;
      const message = readMessage(changed);
      for (const found of message?.records ?? []) recordValue(changed, found);
      readQuery(changed);
    }),
    { numRuns: 2_000 },
  );
});

describe("queries", () => {
  const header = (flags: number, counts: readonly [number, number, number, number]) => [
    0x12,
    0x34,
    flags >> 8,
    flags & 0xff,
    ...counts.flatMap((count) => [count >> 8, count & 0xff]),
  ];
  const question = [...writeQuestion("a.b", TYPE.A)];
  const opt = (version: number, more: readonly number[] = []) => [0, 0, 41, 0x10, 0, 0, version, 0, 0, 0, more.length, ...more];
  const classChaos = [...question.slice(0, -2), 0, 3];
  const cases: readonly [title: string, packet: readonly number[], outcome: string][] = [
    ["a query", [...header(0x0100, [1, 0, 0, 0]), ...question], "query"],
    ["a query with EDNS", [...header(0x0100, [1, 0, 0, 1]), ...question, ...opt(0)], "query"],
    ["a response", [...header(0x8100, [1, 0, 0, 0]), ...question], "ignored"],
    ["eleven bytes", header(0, [1, 0, 0, 0]).slice(0, 11), "ignored"],
    ["a notification", [...header(0x2000, [1, 0, 0, 0]), ...question], "NOTIMP"],
    ["no question", header(0, [0, 0, 0, 0]), "FORMERR"],
    ["two questions", [...header(0, [2, 0, 0, 0]), ...question, ...question], "FORMERR"],
    ["a cut question", [...header(0, [1, 0, 0, 0]), ...question.slice(0, -1)], "FORMERR"],
    ["a question that is a pointer", [...header(0, [1, 0, 0, 0]), 0xc0, 12, 0, 1, 0, 1], "FORMERR"],
    ["more records than there are", [...header(0, [1, 0, 0, 1]), ...question], "FORMERR"],
    ["65,535 records", [...header(0, [1, 0, 0, 0xffff]), ...question, ...opt(0)], "FORMERR"],
    ["two OPT records", [...header(0, [1, 0, 0, 2]), ...question, ...opt(0), ...opt(0)], "FORMERR"],
    ["an OPT record among the answers", [...header(0, [1, 1, 0, 0]), ...question, ...opt(0)], "FORMERR"],
    ["EDNS version 1", [...header(0, [1, 0, 0, 1]), ...question, ...opt(1)], "BADVERS"],
    ["class CHAOS", [...header(0, [1, 0, 0, 0]), ...classChaos], "REFUSED"],
    ["a zone transfer", [...header(0, [1, 0, 0, 0]), ...writeQuestion("a.b", TYPE.AXFR)], "REFUSED"],
  ];
  for (const [title, packet, outcome] of cases)
    test(`${title}: ${outcome}`, () => {
      const read = readQuery(new Uint8Array(packet));
      const rcode = read.is === "refused" ? Object.entries(RCODE).find(([, code]) => code === read.refused.rcode)?.[0] : read.is;
      equal(rcode, outcome);
    });

  test("a forwarded query has the client's question, and EDNS if the client has it", () => {
    const packet = new Uint8Array([...header(0x0110, [1, 0, 0, 1]), ...question, ...opt(0, [0, 10, 0, 1, 7])]);
    const read = readQuery(packet);
    const query = read.is === "query" ? read.query : undefined;
    deepEqual(query?.edns, { udpBytes: 4_096, isDnssecOk: false, hasOptions: true, version: 0 });
    const forwarded = query === undefined ? new Uint8Array() : writeForwarded(query, 0xabcd);
    deepEqual([...forwarded], [0xab, 0xcd, 0x01, 0x10, 0, 1, 0, 0, 0, 0, 0, 1, ...question, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0]);
  });
});

describe("responses", () => {
  const address = (last: number): DnsRecord => {
    return { name: NAME, type: TYPE.A, ttlSeconds: 5, data: { is: "address", bytes: new Uint8Array([10, 0, 0, last]) } };
  };
  const write = (answers: readonly DnsRecord[], more: { additional?: readonly DnsRecord[]; rcode?: number; edns?: typeof edns }) => {
    const { additional = [], rcode = 0, edns: given } = more;
    const options = {
      id: 7,
      flags: 0x0100,
      isRecursive: true,
      question: writeQuestion(NAME, TYPE.A),
      name: NAME,
      edns: given,
      bytesMax: 512,
    };
    return writeResponse({ rcode, isAuthoritative: true, answers, authority: [], additional }, options);
  };
  const many = Array.from({ length: 100 }, (_, index) => address(index));

  test("answers that do not fit are left out with the flag TC", () => {
    const response = write(many, { edns });
    equal(response.length <= 512, true);
    equal(readMessage(response)?.isTruncated, true);
  });

  test("additional records that do not fit are left out without the flag TC", () => {
    const message = readMessage(write([address(1)], { additional: many }));
    equal(message?.isTruncated, false);
    equal(
      message?.records.some(({ section }) => section === "additional"),
      true,
    );
  });

  test("the owner of a record is a pointer to the question", () => {
    equal(write([address(1)], {}).length, 12 + NAME.length + 2 + 4 + 16);
  });

  test("an extended response code has its upper bits in the OPT record", () => {
    const response = write([], { rcode: RCODE.BADVERS, edns });
    deepEqual([(response[3] as number) & 0xf, response.at(-6)], [0, 1]);
  });
});

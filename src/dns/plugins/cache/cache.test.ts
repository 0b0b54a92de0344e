import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { DEFAULT_DNS_CONFIGURATION } from "../../configuration.ts";
import type { DnsAnswer, DnsQuery, Next } from "../../plugin.ts";
import { answerText, pluginContext, query } from "../../testing/plugin-context.ts";
import { RCODE, TYPE } from "../../wire/codes.ts";
import { addressRecord, type DnsRecord } from "../../wire/records.ts";
import { writeResponse } from "../../wire/write-message.ts";
import { cache } from "./cache.ts";
import { cachedMessage } from "./cached-message.ts";

const BOUNDS = { ttlMinSeconds: 5, ttlMaxSeconds: 30, negativeTtlMaxSeconds: 10 };
const NAME = "www.example.com";
const address = (ttlSeconds: number) => addressRecord({ name: NAME, ttlSeconds, bytes: new Uint8Array([192, 0, 2, 1]) });
const soa = (ttlSeconds: number, minimumSeconds: number): DnsRecord => ({
  ...{ name: "example.com", type: TYPE.SOA, ttlSeconds },
  data: {
    is: "soa",
    soa: { server: "a", mailbox: "b", serial: 1, refreshSeconds: 1, retrySeconds: 1, expireSeconds: 1, minimumSeconds },
  },
});

function message(rcode: number, answers: readonly DnsRecord[], authority: readonly DnsRecord[] = []): Uint8Array {
  const { question, name, flags } = query(NAME);
  const edns = { udpBytes: 1_232, isDnssecOk: false, hasOptions: false };
  return writeResponse(
    { rcode, isAuthoritative: false, answers, authority, additional: [] },
    { id: 1, flags, question, name, edns, isRecursive: true, bytesMax: 512 },
  );
}

describe("the time that a response is kept", () => {
  const many = Array.from({ length: 60 }, () => address(20));
  const cases: readonly [title: string, Uint8Array, number | undefined][] = [
    ["is the lowest TTL", message(0, [address(20), address(12)]), 12],
    ["has a maximum", message(0, [address(3_600)]), 30],
    ["has a minimum", message(0, [address(1)]), 5],
    ["of a name that does not exist is the SOA's minimum", message(RCODE.NXDOMAIN, [], [soa(60, 7)]), 7],
    ["of a name that does not exist is at most the SOA's TTL", message(RCODE.NXDOMAIN, [], [soa(6, 60)]), 6],
    ["of no data has a maximum of its own", message(0, [], [soa(600, 600)]), 10],
    ["of a negative answer without an SOA record is none", message(RCODE.NXDOMAIN, []), undefined],
    ["of a failure is short", message(RCODE.SERVFAIL, []), 5],
    ["of a refusal is none", message(RCODE.REFUSED, []), undefined],
    ["of a truncated response is none", message(0, many), undefined],
    ["of garbage is none", new Uint8Array(30), undefined],
  ];
  for (const [title, bytes, ttlSeconds] of cases) test(title, () => equal(cachedMessage(bytes, BOUNDS)?.ttlSeconds, ttlSeconds));
});

async function started({ prefetch = false, ttlSeconds = 20 } = {}) {
  const clock = virtualClock();
  const asked: string[] = [];
  const configuration = { ...DEFAULT_DNS_CONFIGURATION, cache: { ...DEFAULT_DNS_CONFIGURATION.cache, prefetch, entriesMax: 2 } };
  const plugin = await cache.start(pluginContext(clock, { configuration }));
  const next: Next = async ({ name }): Promise<DnsAnswer> => {
    asked.push(name);
    return { is: "message", rcode: 0, bytes: message(0, [address(ttlSeconds)]) };
  };
  const ask = async (asking: DnsQuery = query(NAME)) => answerText(await (plugin.handle?.(asking, next) ?? next(asking)));
  return { clock, asked, ask };
}

test("a kept answer has the rest of its TTL, and is requested again when it has expired", async () => {
  const { clock, asked, ask } = await started();
  equal(await ask(), `NOERROR ${NAME} 20 A 192.0.2.1`);
  await clock.advance(15_000);
  equal(await ask(), `NOERROR ${NAME} 5 A 192.0.2.1`);
  equal(asked.length, 1);
  await clock.advance(5_000);
  equal(await ask(), `NOERROR ${NAME} 20 A 192.0.2.1`);
  equal(asked.length, 2);
});

test("queries at the same time share one request, those with another EDNS do not", async () => {
  const { asked, ask } = await started();
  const edns = { udpBytes: 1_232, isDnssecOk: true, hasOptions: false };
  await Promise.all([ask(), ask(), ask(query(NAME, "A", { edns }))]);
  equal(asked.length, 2);
});

test("the number of entries is limited", async () => {
  const { asked, ask } = await started();
  for (const name of ["a", "b", "c", "a"]) await ask(query(name));
  deepEqual(asked, ["a", "b", "c", "a"]);
});

test("an entry in use is refreshed before it expires, if prefetch is on", async () => {
  const { clock, asked, ask } = await started({ prefetch: true });
  for (let count = 0; count < 10; count++) await ask();
  await clock.advance(19_000);
  await ask();
  await clock.settle();
  equal(asked.length, 2);
  await clock.advance(2_000);
  equal(await ask(), `NOERROR ${NAME} 18 A 192.0.2.1`);
});

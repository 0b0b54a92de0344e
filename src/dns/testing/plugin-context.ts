/** Plugins in tests: a context without a server, queries, and answers as text. */
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { Clock } from "../../base/clock.ts";
import { DEFAULT_DNS_CONFIGURATION } from "../configuration.ts";
import type { DnsAnswer, DnsQuery, PluginContext } from "../plugin.ts";
import { answerRecords, failure } from "../answers.ts";
import { FLAG, RCODE, rcodeName, TYPE, typeName } from "../wire/codes.ts";
import type { DnsRecord } from "../wire/records.ts";
import { writeQuestion } from "../wire/write-message.ts";

export type TypeName = keyof typeof TYPE;

export function query(name: string, type: TypeName = "A", more: Partial<DnsQuery> = {}): DnsQuery {
  const question = writeQuestion(name, TYPE[type]);
  return { flags: FLAG.RECURSION_DESIRED, name, type: TYPE[type], question, edns: undefined, transport: "udp", depth: 0, ...more };
}

const noTransport: PluginContext["transport"] = new Proxy({} as PluginContext["transport"], {
  get() {
    throw new Error("this test has no API server");
  },
});

export function pluginContext(clock: Clock, more: Partial<PluginContext> = {}): PluginContext {
  return {
    configuration: DEFAULT_DNS_CONFIGURATION,
    transport: noTransport,
    listens: { addresses: ["127.0.0.1"], port: 53 },
    resolve: () => failure(RCODE.SERVFAIL),
    changed: () => {},
    changedAll: () => {},
    notReady: () => [],
    metrics: () => [],
    ...{ clock, random: seededRandom(1), log: silentLogger },
    ...more,
  };
}

/** "NOERROR web.default.svc.cluster.local 5 A 10.96.0.20", with authority and additional records after "|". */
export function answerText(answer: DnsAnswer): string {
  const sections = answer.is === "records" ? [answer.answers, answer.authority, answer.additional] : [answerRecords(answer)];
  const texts = sections.map((records) => records.map(recordText).join("; "));
  while (texts.at(-1) === "") texts.pop();
  return [rcodeName(answer.rcode), ...(texts.length === 0 ? [] : [texts.join(" | ")])].join(" ");
}

function recordText({ name, type, ttlSeconds, data }: DnsRecord): string {
  return `${name} ${ttlSeconds} ${typeName(type)} ${dataText(data)}`;
}

function dataText(data: DnsRecord["data"]): string {
  switch (data.is) {
    case "address":
      return data.bytes.length === 4 ? data.bytes.join(".") : Buffer.from(data.bytes).toString("hex");
    case "name":
      return data.name;
    case "srv":
      return `${data.priority} ${data.weight} ${data.port} ${data.target}`;
    case "txt":
      return JSON.stringify(data.texts.join(""));
    case "soa":
      return `${data.soa.server} ${data.soa.minimumSeconds}`;
    case "raw":
      return Buffer.from(data.bytes).toString("hex");
  }
}

/** Answers that several plugins give. */
import type { DnsAnswer, RecordsAnswer } from "./plugin.ts";
import { TYPE, type RCODE } from "./wire/codes.ts";
import { readMessage, recordValue } from "./wire/read-message.ts";
import type { DnsRecord, StartOfAuthority } from "./wire/records.ts";

/** Without records, of a server that is not responsible for the name. */
export function failure(rcode: number): RecordsAnswer {
  return { is: "records", rcode, isAuthoritative: false, answers: [], authority: [], additional: [] };
}

export interface Zone {
  readonly name: string;
  readonly ttlSeconds: number;
  readonly soa: StartOfAuthority;
}

export function soaRecord({ name, ttlSeconds, soa }: Zone): DnsRecord {
  return { name, type: TYPE.SOA, ttlSeconds, data: { is: "soa", soa } };
}

/** The name exists but has no such record (NOERROR), or does not exist (NXDOMAIN); the SOA record limits how long clients keep that. */
export function negative(zone: Zone, rcode: typeof RCODE.NOERROR | typeof RCODE.NXDOMAIN, subject: string): RecordsAnswer {
  return { is: "records", rcode, isAuthoritative: true, answers: [], authority: [soaRecord(zone)], additional: [], subject };
}

/** The records of an answer's first section, also if it is another server's response. */
export function answerRecords(answer: DnsAnswer): readonly DnsRecord[] {
  if (answer.is === "records") return answer.answers;
  const message = readMessage(answer.bytes);
  const found = message?.records.filter(({ section }) => section === "answer") ?? [];
  return found.flatMap((record) => recordValue(answer.bytes, record) ?? []);
}

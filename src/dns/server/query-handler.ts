/**
 * From the bytes of a query to the bytes of its response. Unchanged answers are kept as bytes (kept-answers.ts) and only get the query's
 * id; everything else passes through the plugins. Any input is answered or ignored: nothing throws. Not here: sockets (dns-server.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { DnsAnswer, DnsQuery, Next, Observation } from "../plugin.ts";
import { FLAG, HEADER_BYTES, MESSAGE_BYTES_MAX, RCODE, TYPE, UDP_BYTES_MAX, UDP_BYTES_PLAIN } from "../wire/codes.ts";
import { readQuery, uint16, type Query, type RefusedQuery } from "../wire/read-query.ts";
import type { DnsRecord } from "../wire/records.ts";
import { setUint16, writeResponse, type ResponseRecords } from "../wire/write-message.ts";
import { KeptAnswers } from "./kept-answers.ts";

/** A question with EDNS0 is at most 284 bytes long. What follows it does not change the answer, but would be a key of its own. */
const KEPT_PACKET_BYTES_MAX = 512;

export interface QueryHandlerOptions {
  readonly chain: Next;
  /** Whether it resolves names of other servers, too. */
  readonly isRecursive: boolean;
  readonly observed: readonly ((observation: Observation) => void)[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Called once; undefined: the packet is ignored. */
export type Reply = (response: Uint8Array | undefined) => void;

/** Queries that wait for an answer; later ones are refused. Above the limit of the plugin `forward`, which counts only its own. */
const PENDING_MAX = 4_096;

const NOTHING: readonly DnsRecord[] = [];

/** A response without records. */
function empty(rcode: number): ResponseRecords {
  return { rcode, isAuthoritative: false, answers: NOTHING, authority: NOTHING, additional: NOTHING };
}

interface Arrived {
  readonly packet: Buffer;
  readonly transport: "udp" | "tcp";
  readonly reply: Reply;
  readonly startMs: number;
  readonly key: string;
  readonly client: string | undefined;
}

export class QueryHandler {
  readonly kept = new KeptAnswers();
  readonly #options: QueryHandlerOptions;
  #pending = 0;

  constructor(options: QueryHandlerOptions) {
    this.#options = options;
  }

  /** Number of queries that wait for an answer. */
  get pending(): number {
    return this.#pending;
  }

  /** `client`: its address, over UDP. */
  receive(packet: Buffer, transport: "udp" | "tcp", reply: Reply, client?: string): void {
    const startMs = this.#options.clock.monotonic();
    // Everything but the id determines the answer; the transport determines its maximum size.
    const key = transport === "udp" ? packet.toString("latin1", 2) : `t${packet.toString("latin1", 2)}`;
    const kept = this.kept.get(key);
    if (kept !== undefined && packet.length > HEADER_BYTES) {
      const response = Buffer.allocUnsafe(kept.bytes.length);
      response.set(kept.bytes);
      response[0] = packet[0] as number;
      response[1] = packet[1] as number;
      reply(response);
      return this.#observe({ transport, startMs }, { type: kept.type, rcode: kept.rcode, bytes: response });
    }
    this.#receiveNew({ packet, transport, reply, startMs, key, client });
  }

  #receiveNew(arrived: Arrived): void {
    const read = readQuery(arrived.packet);
    switch (read.is) {
      case "ignored":
        return arrived.reply(undefined);
      case "refused":
        return this.#refuse(arrived, read.refused);
      case "query":
        return this.#answer(arrived, read.query);
    }
  }

  #refuse(arrived: Arrived, { rcode, flags, question, edns }: RefusedQuery): void {
    const bytes = writeResponse(empty(rcode), {
      id: uint16(arrived.packet, 0),
      ...{ flags, question, edns, isRecursive: this.#options.isRecursive, bytesMax: UDP_BYTES_PLAIN },
    });
    arrived.reply(bytes);
    this.#observe(arrived, { type: 0, rcode, bytes });
  }

  #answer(arrived: Arrived, read: Query): void {
    const query: DnsQuery = { ...read, transport: arrived.transport, client: arrived.client, depth: 0 };
    if (this.#pending >= PENDING_MAX) return this.#respond(arrived, query, { is: "records", ...empty(RCODE.REFUSED) });
    let handled;
    try {
      handled = this.#options.chain(query);
    } catch (error) {
      return this.#fail(arrived, query, error);
    }
    if (!(handled instanceof Promise)) return this.#respond(arrived, query, handled);
    this.#pending++;
    handled.then(
      (answer) => {
        this.#pending--;
        this.#respond(arrived, query, answer);
      },
      (error: unknown) => {
        this.#pending--;
        this.#fail(arrived, query, error);
      },
    );
  }

  /** Only without the plugin `errors`. */
  #fail(arrived: Arrived, query: DnsQuery, error: unknown): void {
    this.#options.log.debug("Answering a query failed", { name: query.name, type: query.type, error });
    this.#respond(arrived, query, { is: "records", ...empty(RCODE.SERVFAIL) });
  }

  #respond(arrived: Arrived, query: DnsQuery, answer: DnsAnswer): void {
    const bytes = answer.is === "message" ? this.#passOn(arrived, query, answer.bytes) : this.#write(arrived, query, answer);
    arrived.reply(bytes);
    this.#observe(arrived, { type: query.type, rcode: answer.rcode, bytes });
  }

  #write({ packet, key }: Arrived, query: DnsQuery, answer: DnsAnswer & { readonly is: "records" }): Uint8Array {
    const { flags, question, name, edns } = query;
    // Packets with options differ each time (cookies): keeping their answers would only fill the memory. So would large ones.
    const isKept = edns?.hasOptions !== true && packet.length <= KEPT_PACKET_BYTES_MAX;
    const subject = isKept ? answer.subject : undefined;
    const addresses = subject === undefined ? 0 : countAddresses(answer.answers);
    const rotation = addresses > 1 ? this.kept.rotation(key) : 0;
    const records = rotation === 0 ? answer : { ...answer, answers: rotate(answer.answers, rotation) };
    const bytes = writeResponse(records, {
      id: uint16(packet, 0),
      ...{ flags, question, name, edns, isRecursive: this.#options.isRecursive, bytesMax: maxBytes(query) },
    });
    if (subject !== undefined) this.kept.keep(key, { subject, addresses, bytes, type: query.type, rcode: answer.rcode });
    return bytes;
  }

  #passOn({ packet }: Arrived, query: DnsQuery, message: Uint8Array): Uint8Array {
    const { question, flags } = query;
    const id = uint16(packet, 0);
    if (message.length > maxBytes(query) || message.length < HEADER_BYTES + question.length) return this.#truncated(query, id, message);
    const bytes = message.slice();
    setUint16(bytes, 0, id);
    setUint16(bytes, 2, (uint16(message, 2) & ~FLAG.RECURSION_DESIRED) | (flags & FLAG.RECURSION_DESIRED) | FLAG.RECURSION_AVAILABLE);
    // With the client's case, which it may check.
    bytes.set(question, HEADER_BYTES);
    return bytes;
  }

  /** The client repeats its query over TCP. */
  #truncated(query: DnsQuery, id: number, message: Uint8Array): Uint8Array {
    const { flags, question, name, edns } = query;
    const rcode = uint16(message, 2) & 0x000f;
    const bytes = writeResponse(empty(rcode), { id, flags, question, name, edns, isRecursive: true, bytesMax: UDP_BYTES_PLAIN });
    setUint16(bytes, 2, uint16(bytes, 2) | FLAG.TRUNCATED);
    return bytes;
  }

  #observe(
    { transport, startMs }: Pick<Arrived, "transport" | "startMs">,
    { type, rcode, bytes }: { readonly type: number; readonly rcode: number; readonly bytes: Uint8Array },
  ): void {
    const { observed, clock } = this.#options;
    if (observed.length === 0) return;
    const observation = { transport, type, rcode, durationMs: clock.monotonic() - startMs, responseBytes: bytes.length };
    for (const observe of observed) observe(observation);
  }
}

function maxBytes({ transport, edns }: DnsQuery): number {
  if (transport !== "udp") return MESSAGE_BYTES_MAX;
  return edns === undefined ? UDP_BYTES_PLAIN : Math.min(edns.udpBytes, UDP_BYTES_MAX);
}

function countAddresses(records: readonly DnsRecord[]): number {
  return records.every(({ type }) => type === TYPE.A || type === TYPE.AAAA) ? records.length : 1;
}

function rotate(records: readonly DnsRecord[], by: number): readonly DnsRecord[] {
  const start = by % records.length;
  return [...records.slice(start), ...records.slice(0, start)];
}

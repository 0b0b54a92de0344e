/** An upstream server for tests, on real sockets: it answers, is silent, refuses, fails or truncates, by its mode. */
import { Disposables } from "../../base/disposables.ts";
import { openDatagramSocket, type DatagramPeer } from "../../host/network/datagrams.ts";
import { startFramedServer } from "../../host/network/framed-tcp.ts";
import { ListenError } from "../../host/http/server.ts";
import { FLAG, RCODE, TYPE } from "../wire/codes.ts";
import { readQuery, uint16 } from "../wire/read-query.ts";
import { addressRecord, type DnsRecord } from "../wire/records.ts";
import { setUint16, writeResponse } from "../wire/write-message.ts";

export type UpstreamMode = "answers" | "silent" | "fails" | "refuses" | "truncates" | "garbage" | "forged";

export interface TestUpstream extends AsyncDisposable {
  readonly peer: DatagramPeer;
  /** "127.0.0.1:5353". */
  readonly name: string;
  mode: UpstreamMode;
  /** Names of all queries so far. */
  readonly asked: string[];
}

type Address = readonly [number, number, number, number];

/** Another program may have the TCP port of the UDP port that the kernel chose. */
const ATTEMPTS_MAX = 10;

/** Every name has the address; names that start with "missing" do not exist. */
export async function startTestUpstream(address: Address, ttlSeconds = 60): Promise<TestUpstream> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openUpstream(address, ttlSeconds);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !(error instanceof ListenError)) throw error;
    }
  }
}

async function openUpstream(address: Address, ttlSeconds: number): Promise<TestUpstream> {
  await using opening = new Disposables();
  const asked: string[] = [];
  const state: { mode: UpstreamMode } = { mode: "answers" };
  const answer = (packet: Uint8Array, transport: "udp" | "tcp"): Uint8Array | undefined => {
    const read = readQuery(packet);
    if (read.is !== "query") return undefined;
    const { name, type, flags, question, edns } = read.query;
    asked.push(`${transport} ${name}`);
    const isMissing = name.startsWith("missing");
    const rcode = state.mode === "fails" ? RCODE.SERVFAIL : state.mode === "refuses" ? RCODE.REFUSED : isMissing ? RCODE.NXDOMAIN : 0;
    const soa: DnsRecord = {
      ...{ name: "example.com", type: TYPE.SOA, ttlSeconds },
      data: {
        is: "soa",
        soa: { server: "a", mailbox: "b", serial: 1, refreshSeconds: 1, retrySeconds: 1, expireSeconds: 1, minimumSeconds: ttlSeconds },
      },
    };
    const answers = rcode === 0 && type === TYPE.A ? [addressRecord({ name, ttlSeconds, bytes: new Uint8Array(address) })] : [];
    const authority = rcode === RCODE.SERVFAIL || rcode === RCODE.REFUSED || answers.length > 0 ? [] : [soa];
    const bytes = writeResponse(
      { rcode, isAuthoritative: false, answers, authority, additional: [] },
      { id: uint16(packet, 0), flags, isRecursive: true, question, name, edns, bytesMax: 4_096 },
    );
    if (state.mode === "truncates" && transport === "udp") setUint16(bytes, 2, uint16(bytes, 2) | FLAG.TRUNCATED);
    return bytes;
  };
  const udp = opening.use(
    await openDatagramSocket({
      ...{ host: "127.0.0.1", port: 0 },
      receive(packet, from) {
        const bytes = answer(packet, "udp");
        if (bytes === undefined || state.mode === "silent") return;
        if (state.mode === "garbage") return udp.send(new Uint8Array([...packet.subarray(0, 2), 0xff, 0xff, 0xff]), from);
        // First one with the wrong id, then the right one.
        if (state.mode === "forged")
          udp.send(new Uint8Array([...bytes.subarray(0, 1), ~(bytes[1] ?? 0) & 0xff, ...bytes.subarray(2)]), from);
        udp.send(bytes, from);
      },
    }),
  );
  opening.use(
    await startFramedServer({
      ...{ host: "127.0.0.1", port: udp.port, connectionsMax: 10, unansweredMax: 10, idleMs: 60_000 },
      receive: (packet, reply) => reply(answer(packet, "tcp")),
    }),
  );
  const peer = { address: "127.0.0.1", port: udp.port };
  const owned = opening.move();
  return Object.assign(state, {
    ...{ peer, name: `127.0.0.1:${udp.port}`, asked },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  });
}

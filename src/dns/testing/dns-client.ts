/** A DNS client for tests: queries over real sockets, repeated like a resolver does, and the responses as text. */
import { exchangeDatagram, type DatagramPeer } from "../../host/network/datagrams.ts";
import { exchangeFramed } from "../../host/network/framed-tcp.ts";
import { RCODE_MASK, TYPE } from "../wire/codes.ts";
import { readMessage } from "../wire/read-message.ts";
import { uint16 } from "../wire/read-query.ts";
import { writeForwarded } from "../wire/write-message.ts";
import { answerText, query, type TypeName } from "./plugin-context.ts";

/** A loaded machine may lose datagrams or take seconds. */
const ATTEMPTS_MAX = 30;
const ATTEMPT_MS = 2_000;

export interface AskOptions {
  readonly type?: TypeName;
  readonly transport?: "udp" | "tcp";
  /** Size of EDNS; absent: none. */
  readonly udpBytes?: number;
}

let lastId = 0;

/** The bytes of the response. */
export async function askBytes(to: DatagramPeer, name: string, { type = "A", transport = "udp", udpBytes }: AskOptions = {}) {
  const edns = udpBytes === undefined ? undefined : { udpBytes, isDnssecOk: false, hasOptions: false };
  const id = (lastId = (lastId + 1) & 0xffff);
  const bytes = writeForwarded({ ...query(name, type), edns }, id);
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    try {
      if (transport === "tcp") return await exchangeFramed({ to, bytes, signal });
      return await exchangeDatagram({ to, bytes, accepts: (answer) => uint16(answer, 0) === id, signal });
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** "NOERROR web.shop.svc.cluster.local 5 A 10.96.0.20", "NOERROR TC". */
export async function ask(to: DatagramPeer, name: string, options: AskOptions = {}): Promise<string> {
  const bytes = await askBytes(to, name, options);
  const message = readMessage(bytes);
  if (message === undefined) return "malformed";
  const text = answerText({ is: "message", rcode: uint16(bytes, 2) & RCODE_MASK, bytes });
  return `${text}${message.isTruncated ? " TC" : ""}${message.records.some(({ type }) => type === TYPE.OPT) ? " OPT" : ""}`;
}

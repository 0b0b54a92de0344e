/**
 * Four users without permissions open HTTP/2 streams with endless bodies without a length: an administrator's large object must be written
 * without delay. Large bodies queue for processing, and a body that is not received completely must not occupy the queue.
 */
import { connect, type ClientHttp2Session } from "node:http2";
import type { Attack } from "./attack.ts";
import type { Reply, Target, UserName } from "./target.ts";

const SECOND_MS = 1_000;
const ATTACKERS: readonly UserName[] = ["mallory", "trudy", "alice", "bob"];
const STREAMS_EACH = 400;
const ROUNDS = 10;
/** A write above this was delayed by the attackers. Without them it takes milliseconds; this leaves a margin for a busy machine. */
const ANSWER_MS_MAX = 2_000;
const LARGE_BYTES = 100_000;
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const MAPS = "/api/v1/namespaces/default/configmaps";
const JSON_BODY = { "content-type": "application/json" };

export const slowStreams: Attack = {
  name: "slow-streams",
  tries: "sends bodies that never end, as four users without permissions; expected: large objects of others are written immediately",
  timeoutMs: 120 * SECOND_MS,
  async run(target, signal) {
    const sessions = await Promise.all(ATTACKERS.map((user) => slowSession(target, user)));
    const breaches: string[] = [];
    let slowestMs = 0;
    for (let round = 0; round < ROUNDS && !signal.aborted; round++) {
      const started = performance.now();
      const code = await Promise.race([createLarge(target, round).then((reply) => reply.code), later(ANSWER_MS_MAX)]);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      if (code !== 201) breaches.push(`a large ConfigMap of the administrator: ${code ?? `no answer within ${ANSWER_MS_MAX} ms`}`);
    }
    for (const session of sessions) session.destroy();
    const measured = { "slowest response": `${Math.round(slowestMs)} ms` };
    return { attempts: ATTACKERS.length * STREAMS_EACH, breaches, measured };
  },
};

async function slowSession({ host, port, authority, tokenOf }: Target, user: UserName): Promise<ClientHttp2Session> {
  const session = connect(`https://${host}:${port}`, { ca: authority }).on("error", () => undefined);
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  const headers = { ":method": "POST", ":path": REVIEWS, authorization: `Bearer ${tokenOf(user)}`, ...JSON_BODY };
  for (let index = 0; index < STREAMS_EACH; index++) {
    const stream = session.request(headers, { endStream: false }).on("error", () => undefined);
    stream.resume().write("{");
  }
  return session;
}

function createLarge(target: Target, round: number): Promise<Reply> {
  const body = JSON.stringify({ metadata: { name: `large-${round}` }, data: { a: "x".repeat(LARGE_BYTES) } });
  return target.request({ method: "POST", path: MAPS, as: "administrator", headers: JSON_BODY, body });
}

function later(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());
}

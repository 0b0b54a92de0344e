/** One user repeatedly sends hundreds of concurrent requests: another user's requests must not become slow. */
import { connect, type ClientHttp2Session } from "node:http2";
import type { Attack } from "./attack.ts";
import type { Target } from "./target.ts";

const SECOND_MS = 1_000;
const CONCURRENCY = 500;
const ATTACK_MS = 10 * SECOND_MS;
/** Interval of the other user's requests. */
const QUIET_REQUESTS = 50;
/** Upstream's latency under the same load, with a margin for a busy machine: the event loop is shared by 500 responses. */
const MEDIAN_MS_MAX = 1_000;
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const REVIEW = JSON.stringify({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { nonResourceAttributes: { path: "/version", verb: "get" } },
});

export const manyRequests: Attack = {
  name: "many-requests",
  tries: "sends 500 concurrent requests as one user; expected: other users are served in turn",
  timeoutMs: 120 * SECOND_MS,
  async run(target, signal) {
    const session = connect(`https://${target.host}:${target.port}`, { ca: target.authority });
    session.on("error", () => undefined);
    let sent = 0;
    const endMs = performance.now() + ATTACK_MS;
    const attackers = Array.from({ length: CONCURRENCY }, async () => {
      while (performance.now() < endMs && !signal.aborted) {
        await review(session, target);
        sent++;
      }
    });
    const breaches: string[] = [];
    const durations: number[] = [];
    for (let index = 0; index < QUIET_REQUESTS && performance.now() < endMs; index++) {
      const started = performance.now();
      const headers = { "content-type": "application/json" };
      const { code } = await target.request({ method: "POST", path: REVIEWS, as: "alice", headers, body: REVIEW });
      durations.push(performance.now() - started);
      if (code !== 201) breaches.push(`a request of another user returned ${code}`);
    }
    await Promise.all(attackers);
    session.destroy();
    const median = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)] ?? Infinity;
    if (median > MEDIAN_MS_MAX) breaches.push(`the median latency of another user was ${Math.round(median)} ms`);
    return {
      attempts: sent,
      breaches,
      measured: { "another user's median": `${Math.round(median)} ms`, requests: String(durations.length) },
    };
  },
};

/** Resolves with the response, whatever its code. */
function review(session: ClientHttp2Session, { tokenOf }: Target): Promise<void> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": REVIEWS,
      authorization: `Bearer ${tokenOf("mallory")}`,
      "content-type": "application/json",
      "content-length": String(REVIEW.length),
    });
    stream.on("error", () => undefined).on("close", () => resolve());
    stream.resume();
    stream.end(REVIEW);
  });
}

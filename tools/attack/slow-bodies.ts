/**
 * Two users announce large bodies and never send them: requests of nodes, other users and administrators must neither be rejected nor
 * delayed.
 */
import { connect, type TLSSocket } from "node:tls";
import type { Attack } from "./attack.ts";
import type { Reply, Target, UserName } from "./target.ts";

const SECOND_MS = 1_000;
const BODY_BYTES = 3 * 1024 * 1024;
const BODIES_EACH = 300;
const ATTACKERS: readonly UserName[] = ["mallory", "trudy"];
/** Lease updates and other requests that are sent while the bodies are pending. */
const ROUNDS = 20;
/** A request above this was delayed by the attackers. Upstream responds in milliseconds; this leaves a margin for a busy machine. */
const ANSWER_MS_MAX = 2_000;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const NODE_HEADERS = { "impersonate-user": "system:node:a", "impersonate-group": "system:nodes" };

export const slowBodies: Attack = {
  name: "slow-bodies",
  tries: "announces bodies that never arrive, as two users; expected: nodes, other users and administrators are served",
  timeoutMs: 120 * SECOND_MS,
  async run(target) {
    await grantEdit(target);
    await createLease(target);
    const sockets = await Promise.all(ATTACKERS.flatMap((user) => Array.from({ length: BODIES_EACH }, () => slowBody(target, user))));
    const breaches: string[] = [];
    let slowestMs = 0;
    const timed = async (what: string, expected: number, send: () => Promise<Reply>) => {
      const started = performance.now();
      const { code } = await send();
      const tookMs = performance.now() - started;
      slowestMs = Math.max(slowestMs, tookMs);
      if (code !== expected) breaches.push(`${what} returned ${code}`);
      else if (tookMs > ANSWER_MS_MAX) breaches.push(`${what} took ${Math.round(tookMs)} ms`);
    };
    const review = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: NOTHING_MUCH });
    for (let round = 0; round < ROUNDS; round++) {
      await timed("a node's lease update", 200, () => renew(target));
      await timed("a review by another user", 201, () =>
        target.request({ method: "POST", path: REVIEWS, as: "alice", headers: JSON_BODY, body: review }),
      );
      await timed("a read by the administrator", 200, () => target.request({ path: "/api/v1/namespaces", as: "administrator" }));
    }
    for (const socket of sockets) socket.destroy();
    return { attempts: sockets.length, breaches, measured: { "slowest response": `${Math.round(slowestMs)} ms` } };
  },
};

const JSON_BODY = { "content-type": "application/json" };
const NOTHING_MUCH = { nonResourceAttributes: { path: "/version", verb: "get" } };

/** Permission to create ConfigMaps: without it, a request is rejected before its body. */
async function grantEdit(target: Target): Promise<void> {
  const subjects = ATTACKERS.map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" };
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "attackers" },
    roleRef,
    subjects,
  };
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const { code, body } = await target.request({
    method: "POST",
    path,
    as: "administrator",
    headers: JSON_BODY,
    body: JSON.stringify(binding),
  });
  if (code !== 201) throw new Error(`Cannot grant the attackers their role: ${code} ${body}`);
}

async function createLease(target: Target): Promise<void> {
  const spec = { holderIdentity: "a", leaseDurationSeconds: 40 };
  const body = JSON.stringify({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" }, spec });
  const { code, body: answer } = await target.request({
    method: "POST",
    path: LEASES,
    as: "administrator",
    headers: { ...JSON_BODY, ...NODE_HEADERS },
    body,
  });
  if (code !== 201) throw new Error(`Cannot create the node's lease: ${code} ${answer}`);
}

function renew(target: Target): Promise<Reply> {
  const headers = { ...NODE_HEADERS, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ spec: { renewTime: new Date().toISOString().replace("Z", "000Z") } });
  return target.request({ method: "PATCH", path: `${LEASES}/a`, as: "administrator", headers, body });
}

/** Resolves when the request headers are sent; the server may request the body, wait for it or reject it. */
function slowBody({ host, port, authority, tokenOf }: Target, user: UserName): Promise<TLSSocket> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, ca: authority, ALPNProtocols: ["http/1.1"] });
    const lines = [`authorization: Bearer ${tokenOf(user)}`, "host: a", `content-length: ${BODY_BYTES}`, "expect: 100-continue"];
    const head = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    socket.once("secureConnect", () => socket.write(head, () => resolve(socket)));
    socket.on("error", () => undefined).on("close", () => resolve(socket));
    socket.resume();
  });
}

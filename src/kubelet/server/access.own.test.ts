import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { clusterRoleBindings } from "../../api/rbac.authorization.k8s.io/v1/cluster-role-binding.ts";
import { clusterRoles } from "../../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { nodeIdentity } from "../../api/identities.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { testAuthority } from "../../testing/fixtures/certificates.ts";
import { startControlledServer, type ControlledServerOptions } from "../../testing/servers/controlled-server.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { KubeletServerOptions } from "./kubelet-server.ts";
import { aKubelet, serve } from "./testing/served.ts";

const clients = testAuthority("clients");
const strangers = testAuthority("strangers");

const USERS: Readonly<Record<string, { readonly name: string; readonly groups: readonly string[] }>> = {
  "token-of-ann": { name: "ann", groups: ["watchers"] },
  "token-of-root": { name: "root", groups: ["system:masters"] },
};

/** An API server that knows these tokens; `asked` records the node's requests. */
async function anApiServer() {
  const clock = virtualClock({ startMs: Date.now() });
  const asked: string[] = [];
  const authenticator: NonNullable<ControlledServerOptions["authenticator"]> = {
    authenticate: () => ({ user: { name: "admin", groups: ["system:masters", "system:authenticated"] } }),
    reviewToken: (token) => {
      const user = USERS[token];
      return Promise.resolve(user === undefined ? { authenticated: false, error: "" } : { authenticated: true, user, audiences: [] });
    },
  };
  const server = await startControlledServer(["-*"], { authenticator, clock });
  const transport = server.server.transport({ user: nodeIdentity("n1"), userAgent: "kubelet" });
  const counted: Client = createClient({
    ...transport,
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      asked.push(request.plural);
      return transport.request(request);
    },
  });
  return { ...server, clock, asked, admin: createClient(server.transport()), node: counted };
}

type ApiServer = Awaited<ReturnType<typeof anApiServer>>;

function guarded({ node, clock }: ApiServer, options: Partial<KubeletServerOptions> = {}): Partial<KubeletServerOptions> {
  return {
    authentication: { clientAuthority: clients.certificate, tokenReviewer: node },
    authorization: { mode: "Webhook", accessReviewer: node },
    clock,
    ...options,
  };
}

async function allow(admin: Client, name: string, resources: readonly string[]): Promise<void> {
  const meta = { metadata: { name } };
  await admin.create(clusterRoles, {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...meta },
    rules: [{ apiGroups: [""], resources, verbs: ["get"] }],
  });
  await admin.create(clusterRoleBindings, {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", ...meta },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
  });
}

function shown(authority: typeof clients, commonName: string, organizations: readonly string[] = []) {
  const { certificate: cert, key } = authority.sign(commonName, { subject: { commonName, organizations } });
  return { cert, key };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("a request without valid credentials is rejected with 401, also for health", async () => {
  await using api = await anApiServer();
  await using server = await serve(aKubelet(), guarded(api));

  for (const options of [
    {},
    bearer("unknown"),
    { headers: { authorization: "Basic cm9vdDpyb290" } },
    shown(strangers, "root", ["system:masters"]),
  ]) {
    const { code, body } = await server.ask("/healthz", options);
    deepEqual([code, body], [401, "Unauthorized"]);
  }
});

test("a certificate's CN is the user and its O are the groups; a token is authenticated by TokenReview", async () => {
  await using api = await anApiServer();
  await allow(api.admin, "cert", ["nodes/pods"]);
  await using server = await serve(aKubelet(), guarded(api));

  equal((await server.ask("/pods", shown(clients, "cert"))).code, 200);
  equal((await server.ask("/pods", shown(clients, "other", ["system:masters"]))).code, 200);
  equal((await server.ask("/pods", bearer("token-of-root"))).code, 200);
  const { code, body } = await server.ask("/pods", bearer("token-of-ann"));
  deepEqual([code, body], [403, "Forbidden (user=ann, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"]);
});

for (const { resource, allowed, refused } of [
  { resource: "nodes/pods", allowed: ["/pods", "/runningpods/"], refused: ["/healthz", "/metrics", "/containerLogs/default/web/main"] },
  { resource: "nodes/metrics", allowed: ["/metrics", "/metrics/resource"], refused: ["/stats/summary", "/pods"] },
  { resource: "nodes/stats", allowed: ["/stats/summary"], refused: ["/metrics"] },
  { resource: "nodes/healthz", allowed: ["/healthz", "/healthz/ping"], refused: ["/configz"] },
  { resource: "nodes/configz", allowed: ["/configz"], refused: ["/healthz"] },
  {
    resource: "nodes/proxy",
    allowed: ["/pods", "/healthz", "/configz", "/containerLogs/default/web/done"],
    refused: ["/metrics", "/stats/summary", "/logs/"],
  },
]) {
  test(`a user with ${resource} may access ${allowed.join(", ")} and not ${refused.join(", ")}`, async () => {
    await using api = await anApiServer();
    await allow(api.admin, "ann", [resource]);
    await using server = await serve(aKubelet(), guarded(api));
    const codes = async (paths: readonly string[]) =>
      Promise.all(paths.map(async (path) => (await server.ask(path, bearer("token-of-ann"))).code === 403));

    deepEqual([await codes(allowed), await codes(refused)], [allowed.map(() => false), refused.map(() => true)]);
  });
}

test("a read-only user may not run commands by POST", async () => {
  await using api = await anApiServer();
  await allow(api.admin, "ann", ["nodes/proxy"]);
  await using server = await serve(aKubelet(), guarded(api));

  const { body } = await server.ask("/run/default/web/main?cmd=ls", { method: "POST", ...bearer("token-of-ann") });
  equal(body, "Forbidden (user=ann, verb=create, resource=nodes, subresource(s)=[proxy])\n");
});

test("decisions are cached: tokens 2 minutes, allowed 5 minutes, denied 30 seconds", async () => {
  await using api = await anApiServer();
  await using server = await serve(aKubelet(), guarded(api));
  const ask = async () => {
    const before = api.asked.length;
    const { code } = await server.ask("/metrics", bearer("token-of-ann"));
    return [code, ...api.asked.slice(before)];
  };

  deepEqual(await ask(), [403, "tokenreviews", "subjectaccessreviews"]);
  deepEqual(await ask(), [403]);
  await allow(api.admin, "ann", ["nodes/metrics"]);
  await api.clock.advance(30_000);
  deepEqual(await ask(), [200, "subjectaccessreviews"]);
  await api.clock.advance(90_000);
  deepEqual(await ask(), [200, "tokenreviews"]);
  await api.clock.advance(210_000);
  deepEqual(await ask(), [200, "tokenreviews", "subjectaccessreviews"]);
});

test("while the API server is unavailable tokens are rejected, and authorization of a certificate user fails", async () => {
  await using api = await anApiServer();
  const silent = createClient({
    request: () => Promise.reject(new Error("no route to host")),
    watch: () => Promise.reject(new Error("no route to host")),
    document: () => Promise.reject(new Error("no route to host")),
  });
  await using server = await serve(aKubelet(), guarded({ ...api, node: silent }));

  const byToken = await server.ask("/pods", bearer("token-of-root"));
  const byCertificate = await server.ask("/pods", shown(clients, "cert"));
  deepEqual(
    [byToken, byCertificate].map(({ code, body }) => [code, body]),
    [
      [401, "Unauthorized"],
      [500, "Authorization error (user=cert, verb=get, resource=nodes, subresource=pods)"],
    ],
  );
});

test("anonymous requests are accepted if enabled, but invalid credentials are rejected with 401", async () => {
  await using api = await anApiServer();
  const authentication = { clientAuthority: clients.certificate, tokenReviewer: api.node, anonymous: true };
  await using server = await serve(aKubelet(), guarded(api, { authentication }));

  deepEqual((await server.ask("/pods")).body, "Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])\n");
  equal((await server.ask("/pods", bearer("unknown"))).code, 401);
  equal((await server.ask("/pods", shown(strangers, "root"))).code, 401);
});

test("with AlwaysAllow any authenticated user may access everything", async () => {
  await using api = await anApiServer();
  await using server = await serve(aKubelet(), guarded(api, { authorization: { mode: "AlwaysAllow" } }));

  equal((await server.ask("/pods", bearer("token-of-ann"))).code, 200);
  equal((await server.ask("/pods")).code, 401);
});

test("a WebSocket request is authorized as any other", async () => {
  await using api = await anApiServer();
  await using server = await serve(aKubelet(), guarded(api));
  using client = server.webSocket("/exec/default/web/main?output=1&command=ls");
  const code = await new Promise((resolve) => client.once("unexpected-response", (_, answer) => resolve(answer.statusCode)));

  equal(code, 401);
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Transport, TransportEvent, TransportRequest, TransportResponse } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { startTestApiServer, type TestApiServer } from "../../testing/servers/api-server.ts";
import { startTcpProxy } from "../../testing/servers/tcp-proxy.ts";
import type { ConnectionConfig } from "../kubeconfig/connection-config.ts";
import { httpsTransport } from "./https-transport.ts";
import { loadKubeconfig } from "../kubeconfig/load-kubeconfig.ts";
import { nextEvents } from "./testing/next-events.ts";

const OPTIONS = { clock: realClock, log: silentLogger, userAgent: "k8ts-test/1" };
const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" } as const;

/** Shared by all tests: each uses its own object names. */
let server: TestApiServer;
before(async () => {
  server = await startTestApiServer();
});
after(() => server.close());

function configOf(): Promise<ConnectionConfig> {
  return loadKubeconfig({ path: server.kubeconfig, environment: {}, homeDirectory: "/none", readFile });
}

async function connect(): Promise<Transport & AsyncDisposable> {
  return httpsTransport(await configOf(), OPTIONS);
}

function mapNamed(name: string, more: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more };
}

async function objectOf(answer: Promise<TransportResponse>): Promise<KubeObject & { readonly data?: Readonly<Record<string, string>> }> {
  const response = await answer;
  assert(response.is === "object");
  return response.object;
}

test("every verb works over HTTPS as the transport contract says", async () => {
  await using transport = await connect();
  const ask = (request: Partial<TransportRequest> & Pick<TransportRequest, "verb">) => transport.request({ ...MAPS, ...request });

  const created = await ask({ verb: "create", object: mapNamed("a", { data: { x: "ü😀" } }) });
  assert(created.is === "object" && created.created);
  const read = await objectOf(ask({ verb: "get", name: "a" }));
  assert.deepEqual(read, created.object);
  const updated = await objectOf(ask({ verb: "update", name: "a", object: { ...read, data: { x: "2" } } }));
  assert.equal(updated.data?.["x"], "2");
  const patches = [
    { type: "merge", value: { data: { merge: "1" } } },
    { type: "strategic", value: { data: { strategic: "1" } } },
    { type: "json", value: [{ op: "add", path: "/data/json", value: "1" }] },
    { type: "apply", value: mapNamed("a", { data: { apply: "1" } }) },
  ] as const;
  for (const patch of patches)
    await ask({ verb: "patch", name: "a", patch, options: patch.type === "apply" ? { fieldManager: "me" } : {} });
  assert.deepEqual((await objectOf(ask({ verb: "get", name: "a" }))).data, { x: "2", merge: "1", strategic: "1", json: "1", apply: "1" });

  const tried = await ask({ verb: "create", object: mapNamed("dry"), options: { dryRun: ["All"] } });
  assert.equal(tried.is, "object");
  await ask({ verb: "create", object: mapNamed("b") });
  const page = await ask({ verb: "list", options: { limit: 1, fieldSelector: "metadata.name!=kube-root-ca.crt" } });
  assert(page.is === "list");
  assert.deepEqual(
    page.items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
    [["v1", "ConfigMap", "a"]],
  );
  assert.notEqual(page.metadata.continue ?? "", "");
  const deleted = await ask({ verb: "delete", name: "a", object: { preconditions: { uid: read.metadata.uid ?? "" } } });
  assert(deleted.is === "value");
  assert.deepEqual([deleted.value["kind"], deleted.value["status"]], ["Status", "Success"]);
  assert.equal((await ask({ verb: "deletecollection", options: { labelSelector: "none=of-them" } })).is, "list");
});

test("subresources and unstored values are returned as such", async () => {
  await using transport = await connect();
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 2, selector: { matchLabels: { a: "b" } }, template };
  const sets = { group: "apps", version: "v1", plural: "replicasets", namespace: "default", name: "web" } as const;
  await transport.request({
    ...sets,
    verb: "create",
    object: { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "web" }, spec },
  });

  const scale = await transport.request({ ...sets, verb: "get", subresource: "scale" });
  assert(scale.is === "value");
  assert.deepEqual(scale.value["spec"], { replicas: 2 });
  const status = await transport.request({ ...sets, verb: "get", subresource: "status" });
  assert.equal(status.is, "object");
  const review = await transport.request({
    verb: "create",
    group: "authorization.k8s.io",
    version: "v1",
    plural: "selfsubjectaccessreviews",
    object: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    },
  });
  assert(review.is === "value");
  assert.equal((review.value["status"] as JsonObject)["allowed"], true);
});

test("integers beyond 2^53 keep all digits in both directions", async () => {
  await using transport = await connect();
  const tolerations = [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 9007199254740993n }];
  const spec = { containers: [{ name: "c", image: "i" }], tolerations };
  const pods = { group: "", version: "v1", plural: "pods", namespace: "default" } as const;

  await transport.request({ ...pods, verb: "create", object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec } });

  const pod = (await objectOf(transport.request({ ...pods, verb: "get", name: "a" }))) as KubeObject & { spec: typeof spec };
  assert.equal(pod.spec.tolerations[0]?.tolerationSeconds, 9007199254740993n);
});

test("an error response becomes a StatusError with everything the server reported", async () => {
  await using transport = await connect();

  await assert.rejects(transport.request({ ...MAPS, verb: "get", name: "none" }), (error: unknown) => {
    assert(isReason(error, "NotFound"));
    assert.equal(error.message, 'configmaps "none" not found');
    assert.deepEqual([error.code, error.details], [404, { name: "none", kind: "configmaps" }]);
    return true;
  });
  await assert.rejects(transport.request({ ...MAPS, verb: "create", object: mapNamed("A_b") }), (error: unknown) => {
    assert(isReason(error, "Invalid"));
    assert.equal(error.details?.causes?.[0]?.field, "metadata.name");
    return true;
  });
  await assert.rejects(transport.request({ ...MAPS, group: "none.example.com", verb: "list" }), (error: unknown) => {
    assert(isReason(error, "NotFound"));
    assert.equal(error.message, "the server could not find the requested resource (get configmaps.none.example.com)");
    return true;
  });
});

test("names that would change the request path are rejected before anything is sent", async () => {
  await using transport = await connect();
  for (const name of ["", "..", "a/b", "a%2Fb"])
    await assert.rejects(transport.request({ ...MAPS, verb: "delete", name }), (error) => isReason(error, "BadRequest"), name);
});

test("server warnings are returned with the response, and the cause is sent with the request", async () => {
  await using transport = await connect();
  const cause = { controller: "test-controller", key: "default/web ü", revision: "7" };

  const answer = await transport.request({
    ...MAPS,
    verb: "create",
    object: mapNamed("warned", { nonsense: 1 }),
    options: { fieldValidation: "Warn" },
    cause,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });

  assert.deepEqual(answer.warnings, ['unknown field "nonsense"']);
});

test("documents are read as JSON, and a missing one is NotFound", async () => {
  await using transport = await connect();

  assert.equal((await transport.document("/version"))["major"], "1");
  assert.equal((await transport.document("/apis/apps/v1"))["kind"], "APIResourceList");
  await assert.rejects(transport.document("/nothing/here"), (error) => isReason(error, "NotFound"));
  await assert.rejects(transport.document("/healthz"), (error) => isReason(error, "InternalError"));
});

test("a watch delivers nothing before it is accepted, then every change in order, and ends once", async () => {
  await using transport = await connect();
  await transport.request({ ...MAPS, verb: "create", object: mapNamed("watched", { data: { x: "ü😀" } }) });
  const received = nextEvents();

  const fieldSelector = "metadata.name=watched";
  const options = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true, fieldSelector };
  const watch = await transport.watch({ ...MAPS, options }, received.listener);
  assert.equal(received.events.length, 0);
  await received.until(2);
  await transport.request({ ...MAPS, verb: "patch", name: "watched", patch: { type: "merge", value: { data: { x: "2" } } } });
  await transport.request({ ...MAPS, verb: "delete", name: "watched" });
  await received.until(4);
  watch.stop();
  watch.stop();

  assert.deepEqual(
    received.events.map((event: TransportEvent) => (event.type === "BOOKMARK" ? `BOOKMARK ${event.initialEventsEnd}` : event.type)),
    ["ADDED", "BOOKMARK true", "MODIFIED", "DELETED"],
  );
  const [added] = received.events;
  const { kind, data } = (added?.type === "ADDED" ? added.object : {}) as KubeObject & { readonly data: JsonObject };
  assert.deepEqual([kind, data], ["ConfigMap", { x: "ü😀" }]);
  assert.equal(received.ends, 1);
});

test("a thousand concurrent requests share one connection, also with large compressed lists", async () => {
  await using transport = await connect();
  const value = "x".repeat(10_000);
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      transport.request({ ...MAPS, verb: "create", object: mapNamed(`m${index}`, { data: { value } }) }),
    ),
  );

  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => transport.request({ ...MAPS, verb: "get", name: `m${index % 100}` })),
  );
  const list = await transport.request({ ...MAPS, verb: "list" });

  assert.equal(answers.filter(({ is }) => is === "object").length, 1_000);
  assert(list.is === "list");
  assert(list.items.length >= 100);
});

test("impersonation is sent with every request", async () => {
  const extra = new Map([["Scopes.example.com/ü", ["one", "two"]]]);
  const impersonate = { user: "jane", groups: ["developers", "system:authenticated"], extra, uid: "42" };
  await using transport = httpsTransport({ ...(await configOf()), impersonate }, OPTIONS);

  const review = await transport.request({
    verb: "create",
    group: "authentication.k8s.io",
    version: "v1",
    plural: "selfsubjectreviews",
    object: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });

  assert(review.is === "value");
  assert.deepEqual((review.value["status"] as JsonObject)["userInfo"], {
    username: "jane",
    uid: "42",
    groups: ["developers", "system:authenticated"],
    extra: { "scopes.example.com/ü": ["one", "two"] },
  });
});

test("plain text where a JSON document was requested is reported as such", async () => {
  await using transport = await connect();
  for (const path of ["/healthz", "/metrics"])
    await assert.rejects(transport.document(path), new RegExp(`Cannot read the response of ${path}: it is not JSON but text/plain`));
});

test("an aborted request rejects, and one aborted beforehand is not sent", async () => {
  await using transport = await connect();
  const given = AbortSignal.abort();
  await assert.rejects(transport.request({ ...MAPS, verb: "list", signal: given }), (error) => isReason(error, "Timeout"));
  const controller = new AbortController();
  const asked = transport.request({ ...MAPS, verb: "list", signal: controller.signal });
  controller.abort();
  await assert.rejects(asked, (error) => isReason(error, "Timeout"));
});

test("several identities share one connection, and a derived transport is closed with it", async () => {
  const { port } = new URL(server.url);
  await using proxy = await startTcpProxy(Number(port));
  const { server: _direct, ...config } = await configOf();
  await using transport = httpsTransport({ ...config, server: `https://127.0.0.1:${proxy.port}` }, OPTIONS);
  const names = Array.from({ length: 5 }, (_, number) => `system:node:n${number}`);
  const transports = [transport, ...names.map((user) => transport.as({ user, groups: ["system:nodes"], extra: new Map() }))];

  const review = { group: "authentication.k8s.io", version: "v1", plural: "selfsubjectreviews", namespace: "", verb: "create" } as const;
  const object = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
  const answers = await Promise.all(transports.map((each) => each.request({ ...review, object })));

  const users = answers.map((answer) => JSON.stringify(answer).match(/"username":"(.*?)"/)?.[1]);
  assert.deepEqual(users, ["kubernetes-admin", ...names]);
  assert.equal(proxy.connections, 1);
  await transport[Symbol.asyncDispose]();
  await assert.rejects(transports[1]?.request({ ...review, object }) ?? Promise.resolve(), /the client was closed/);
});

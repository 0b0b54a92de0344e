import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { silentLogger, type LogFields, type Logger } from "../../base/logger.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Document } from "../framework/document.ts";
import { asUser, startGuardedServer, startServer, TEST_IDENTITY, type StartedServer } from "../testing/server.ts";
import { widget, widgetResource, widgetSchemas } from "../testing/widget.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const ADMINISTRATOR = { name: "admin", groups: ["system:masters"] };

/** A server whose store does not respond to commits until `release` is called. */
async function withHeldStore(config = {}): Promise<StartedServer & { release(): void; hold(): void }> {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let isHeld = false;
  const waiting: (() => void)[] = [];
  const store = wrappedStore(memory, {
    async commit(...all) {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return memory.commit(...all);
    },
  });
  const server = await startServer({ store, clock, config });
  const release = () => {
    isHeld = false;
    for (const go of waiting.splice(0)) go();
  };
  return Object.assign(server, { release, hold: () => void (isHeld = true) });
}

const JANE = { name: "jane", groups: ["dev"] };

test("a write that exceeds its client's timeout gets 504 and is not committed later", async () => {
  await using server = await withHeldStore();
  server.hold();
  const short = server.call("POST", `${MAPS}?timeout=1s`, { metadata: { name: "short" } });
  const usual = server.call("POST", MAPS, { metadata: { name: "usual" } });
  const unlimited = server.call("POST", `${MAPS}?timeout=0s`, { metadata: { name: "unlimited" } });
  const codes: Record<string, number> = {};
  for (const [name, answer] of Object.entries({ short, usual, unlimited })) void answer.then(({ code }) => (codes[name] = code));

  await server.clock.advance(999);
  assert.deepEqual(codes, {});
  await server.clock.advance(1);
  assert.deepEqual(codes, { short: 504 });
  await server.clock.advance(58_999);
  assert.deepEqual(codes, { short: 504 });
  await server.clock.advance(1);
  assert.deepEqual(codes, { short: 504, usual: 504, unlimited: 504 });

  assert.deepEqual(
    [(await short).body.reason, (await short).body.message],
    ["Timeout", "Timeout: request did not complete within the allotted timeout"],
  );
  server.release();
  await server.clock.settle();
  assert.deepEqual((await server.call("GET", MAPS)).body.items, []);
  assert.equal((await server.call("POST", `${MAPS}?timeout=x`, { metadata: { name: "a" } })).code, 400);
});

const LEVELS = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const JOE = { name: "joe", groups: [] };
const ALLOWED = { authorizationModes: ["AlwaysAllow"] };
/** So that a level with one share has one seat, and the others have several. */
const FEW_SEATS = { ...ALLOWED, maxRequestsInFlight: 50, maxMutatingRequestsInFlight: 50 };
const REJECT = { type: "Reject" };
const QUEUE = { type: "Queue", queuing: { queues: 4, handSize: 1, queueLengthLimit: 50 } };

/** A level with one seat for ConfigMap requests of all users but administrators. */
async function makeLevel(server: StartedServer, limitResponse: JsonObject): Promise<void> {
  const limited = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse };
  equalCode(await server.call("POST", LEVELS, { metadata: { name: "strict" }, spec: { type: "Limited", limited } }), 201);
  const rule = {
    subjects: [{ kind: "Group", group: { name: "system:authenticated" } }],
    resourceRules: [{ verbs: ["*"], apiGroups: [""], resources: ["configmaps"], namespaces: ["*"] }],
  };
  const level = { priorityLevelConfiguration: { name: "strict" }, matchingPrecedence: 50, distinguisherMethod: { type: "ByUser" } };
  equalCode(await server.call("POST", SCHEMAS, { metadata: { name: "strict" }, spec: { ...level, rules: [rule] } }), 201);
}

function equalCode({ code, text }: { readonly code: number; readonly text: string }, expected: number): void {
  assert.equal(code, expected, text);
}

test("a created FlowSchema and priority level take effect with the next request: 429 with upstream's message, other levels are served", async () => {
  await using server = await withHeldStore(FEW_SEATS);
  await makeLevel(server, REJECT);
  server.hold();
  const jane = server.as(JANE);
  const first = jane.call("POST", MAPS, { metadata: { name: "n0" } });
  await server.clock.settle();

  const second = await jane.call("POST", MAPS, { metadata: { name: "n1" } });
  const master = server.call("POST", MAPS, { metadata: { name: "n2" } });
  const pods = await jane.call("GET", PODS);
  server.release();

  assert.deepEqual([second.code, second.text], [429, "Too many requests, please try again later.\n"]);
  assert.deepEqual(
    [second.headers["retry-after"], second.headers["content-type"], second.headers["x-content-type-options"]],
    ["1", "text/plain; charset=utf-8", "nosniff"],
  );
  assert.deepEqual([(await first).code, (await master).code, pods.code], [201, 201, 200]);
  equalCode(await jane.call("POST", MAPS, { metadata: { name: "n1" } }), 201);
  const { text } = await server.call("GET", "/metrics");
  assert.match(
    text,
    /apiserver_flowcontrol_rejected_requests_total\{flow_schema="strict",priority_level="strict",reason="concurrency-limit"\} 1/,
  );
  assert.match(text, /apiserver_flowcontrol_dispatched_requests_total\{flow_schema="strict",priority_level="strict"\} 2/);

  equalCode(await server.call("DELETE", `${SCHEMAS}/strict`), 200);
  const { headers } = await jane.call("GET", MAPS);
  const schema = await server.call("GET", `${SCHEMAS}/global-default`);
  const level = await server.call("GET", `${LEVELS}/global-default`);
  assert.equal(headers["x-kubernetes-pf-flowschema-uid"], schema.body.metadata.uid);
  assert.equal(headers["x-kubernetes-pf-prioritylevel-uid"], level.body.metadata.uid);
});

test("a request waits in its queue until a seat is free, and is rejected after a quarter of its timeout", async () => {
  await using server = await withHeldStore(FEW_SEATS);
  await makeLevel(server, QUEUE);
  const [jane, joe] = [server.as(JANE), server.as(JOE)];
  server.hold();
  const first = jane.call("POST", MAPS, { metadata: { name: "a" } });
  await server.clock.settle();
  const codes: Record<string, number> = {};
  const waiting = { usual: joe.call("GET", MAPS), short: joe.call("GET", `${MAPS}?timeout=4s`) };
  for (const [name, answer] of Object.entries(waiting)) void answer.then(({ code }) => (codes[name] = code));
  await server.clock.advance(1_000);
  assert.deepEqual(codes, { short: 429 });
  const dump = await server.call("GET", "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1");
  assert.match(dump.text, /^strict, +strict, +\d+, +0, +joe, .* list, +\/api\/v1\/namespaces\/default\/configmaps/m);

  server.release();
  await server.clock.settle();
  assert.deepEqual([(await waiting.usual).code, (await first).code], [200, 201]);
});

test("a client that disconnects leaves its queue", async () => {
  await using server = await withHeldStore(FEW_SEATS);
  await makeLevel(server, QUEUE);
  const jane = server.as(JANE);
  server.hold();
  const first = jane.call("POST", MAPS, { metadata: { name: "a" } });
  await server.clock.settle();
  const client = new AbortController();
  const second = jane.call("POST", MAPS, { metadata: { name: "b" } }, {}, client);
  await server.clock.settle();
  client.abort();
  assert.equal((await second).code, 429);
  const { text } = await server.call("GET", "/debug/api_priority_and_fairness/dump_priority_levels");
  assert.match(text, /^strict, +0, +false, +false, +0, +1, +1, +1, +0, +1$/m);
  server.release();
  assert.equal((await first).code, 201);
});

test("bodies that arrive slowly occupy no seat, and memory is taken from the user with the largest share", async () => {
  await using server = await startServer({ config: FEW_SEATS });
  const [jane, joe] = [server.as(JANE), server.as(JOE)];
  const never = new Promise<Uint8Array>(() => undefined);
  const size = { "content-length": String(3 * 1024 * 1024) };
  const codes: number[] = [];
  // 128 MiB are 42 such bodies; Jane's level may borrow all of it.
  for (let index = 0; index < 42; index++) void jane.call("POST", MAPS, never, size).then(({ code }) => codes.push(code));
  await server.clock.settle();
  assert.deepEqual(codes, []);
  const sent = (name: string) => Promise.resolve(new TextEncoder().encode(JSON.stringify({ metadata: { name } })));
  assert.equal((await jane.call("POST", MAPS, sent("a"), size)).code, 429);

  equalCode(await joe.call("POST", MAPS, sent("b"), size), 201);
  assert.deepEqual(codes, [429]);
  const node = server.as({ name: "system:node:a", groups: ["system:nodes"] });
  equalCode(await node.call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", { metadata: { name: "a" } }), 201);
  assert.match((await server.call("GET", "/metrics")).text, /apiserver_request_total\{code="429".*resource="configmaps"/);
});

test("requests of this process pass their priority level and wait in its queues", async () => {
  await using server = await withHeldStore(FEW_SEATS);
  await makeLevel(server, QUEUE);
  const { server: core } = server;
  const transport = core.transport({ user: JANE, userAgent: "part" });
  const create = (name: string) =>
    transport.request({
      verb: "create",
      group: "",
      version: "v1",
      plural: "configmaps",
      namespace: "default",
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
    });
  server.hold();
  const [first, second] = [create("a"), create("b")];
  await server.clock.settle();
  const { text } = await server.call("GET", "/metrics");
  assert.match(text, /apiserver_flowcontrol_current_inqueue_requests\{flow_schema="strict",priority_level="strict"\} 1/);
  server.release();
  await Promise.all([first, second]);
});

test("without Priority and Fairness two plain limits apply: 429 beyond them, also for reads, but not for administrators", async () => {
  await using server = await withHeldStore({
    ...ALLOWED,
    maxRequestsInFlight: 1,
    maxMutatingRequestsInFlight: 1,
    priorityAndFairness: false,
  });
  const jane = server.as(JANE);
  server.hold();
  const first = jane.call("POST", MAPS, { metadata: { name: "a" } });
  await server.clock.settle();
  const second = await jane.call("POST", MAPS, { metadata: { name: "b" } });
  const read = await jane.call("GET", MAPS);
  const master = server.call("POST", MAPS, { metadata: { name: "c" } });
  server.release();
  assert.deepEqual([second.code, second.headers["retry-after"], second.text], [429, "1", "Too many requests, please try again later.\n"]);
  assert.deepEqual([read.code, read.headers["x-kubernetes-pf-flowschema-uid"]], [200, undefined]);
  assert.deepEqual([(await first).code, (await master).code], [201, 201]);
  assert.equal((await server.call("GET", "/debug/api_priority_and_fairness/dump_queues")).code, 404);
});

test("a FlowSchema's condition Dangling says whether its priority level exists, and kubectl shows it", async () => {
  await using server = await startServer();
  const condition = async (name: string) => (await server.call("GET", `${SCHEMAS}/${name}`)).body.status.conditions[0];
  const built = await condition("probes");
  assert.deepEqual([built.type, built.status, built.reason], ["Dangling", "False", "Found"]);
  assert.equal(built.message, 'This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists');

  const spec = { priorityLevelConfiguration: { name: "later" }, matchingPrecedence: 7 };
  equalCode(await server.call("POST", SCHEMAS, { metadata: { name: "early" }, spec }), 201);
  await server.clock.settle();
  const dangling = await condition("early");
  assert.deepEqual([dangling.status, dangling.reason], ["True", "NotFound"]);
  assert.equal(
    dangling.message,
    'This FlowSchema references the PriorityLevelConfiguration object named "later" but there is no such object',
  );
  const limited = { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } };
  equalCode(await server.call("POST", LEVELS, { metadata: { name: "later" }, spec: { type: "Limited", limited } }), 201);
  await server.clock.settle();
  assert.equal((await condition("early")).status, "False");
  const { metadata } = (await server.call("GET", `${SCHEMAS}/early`)).body;
  const [manager] = metadata.managedFields;
  assert.deepEqual(
    [manager.manager, manager.operation, manager.subresource],
    ["api-priority-and-fairness-config-consumer-v1", "Apply", "status"],
  );
});

test("requests for unknown resources share one metric series", async () => {
  await using server = await startServer();
  for (let index = 0; index < 5; index++) await server.call("GET", `/api/v1/namespaces/default/pods/p/made-up-${index}`);

  assert.doesNotMatch((await server.call("GET", "/metrics")).text, /made-up/);
});

test("a watch occupies a seat only until it streams", async () => {
  await using server = await startServer({ config: FEW_SEATS });
  await makeLevel(server, REJECT);
  const jane = server.as(JANE);
  for (let index = 0; index < 3; index++) await jane.watch(`${MAPS}?watch=1`);
  assert.equal((await jane.call("GET", MAPS)).code, 200);
});

test("a valid token is authenticated, another token is rejected, and anonymous requests may read health and version only", async () => {
  await using server = await startGuardedServer({ identity: { ...TEST_IDENTITY, staticTokens: new Map([["secret", ADMINISTRATOR]]) } });
  const code = async (path: string, authorization?: string) =>
    (await server.call("GET", path, undefined, authorization === undefined ? {} : { authorization })).code;

  assert.equal(await code(MAPS, "Bearer secret"), 200);
  for (const wrong of ["Bearer secre", "Bearer secrets"]) assert.equal(await code(MAPS, wrong), 401, wrong);
  // No header of the request looks like a token.
  for (const none of ["Bearer ", "secret", "Basic c2VjcmV0"]) assert.equal(await code(MAPS, none), 403, none);
  for (const path of [MAPS, "/api", "/openapi/v2", "/metrics"]) assert.equal(await code(path), 403, path);
  for (const path of ["/healthz", "/livez", "/readyz", "/version"]) assert.equal(await code(path), 200, path);
  const refused = await server.call("GET", MAPS, undefined, { authorization: "Bearer secrets" });
  assert.equal(refused.headers["www-authenticate"], undefined);
  assert.doesNotMatch(refused.text, /secret/);
});

test("a forbidden request is rejected with upstream's message, and a SelfSubjectAccessReview predicts it", async () => {
  await using server = await startServer({ authenticator: asUser(JANE) });
  const { code, body } = await server.call("GET", `${MAPS}/a`);
  assert.equal(code, 403);
  assert.equal(
    body.message,
    'configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "default"',
  );

  await using open = await startGuardedServer();
  const review = async (spec: JsonObject) =>
    (await open.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec })).body.status;
  const resourceAttributes = { verb: "get", resource: "configmaps", namespace: "default", name: "a" };
  assert.equal((await review({ user: "jane", groups: ["dev"], resourceAttributes })).allowed, false);
  assert.equal((await review({ user: "root", groups: ["system:masters"], resourceAttributes })).allowed, true);
  const health = { nonResourceAttributes: { verb: "get", path: "/healthz" } };
  assert.equal((await review({ user: "jane", groups: ["system:authenticated"], ...health })).allowed, true);
});

test("a create in a missing or terminating namespace is rejected, and the cluster's own namespaces cannot be deleted", async () => {
  await using server = await startServer();
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  assert.equal((await server.call("POST", "/api/v1/namespaces/n/configmaps", { metadata: { name: "a" } })).code, 201);
  const missing = await server.call("POST", "/api/v1/namespaces/none/configmaps", { metadata: { name: "a" } });
  assert.deepEqual([missing.code, missing.body.message], [404, 'namespaces "none" not found']);

  const deleted = await server.call("DELETE", "/api/v1/namespaces/n");
  assert.equal(deleted.body.status.phase, "Terminating");
  const late = await server.call("POST", "/api/v1/namespaces/n/configmaps", { metadata: { name: "b" } });
  assert.deepEqual([late.code, late.body.details.causes[0].reason], [403, "NamespaceTerminating"]);
  await server.call("PUT", "/api/v1/namespaces/n/finalize", { ...deleted.body, spec: { finalizers: [] } });
  assert.equal((await server.call("GET", "/api/v1/namespaces/n")).code, 404);
  for (const name of ["default", "kube-system", "kube-public"]) {
    assert.equal((await server.call("DELETE", `/api/v1/namespaces/${name}`)).code, 403, name);
  }
});

test("an evicted Pod has the condition DisruptionTarget before it is deleted", async () => {
  await using server = await startServer();
  const spec = { containers: [{ name: "c", image: "i" }], nodeName: "n" };
  await server.call("POST", PODS, { metadata: { name: "a" }, spec });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: "default" } };

  const dry = await server.call("POST", `${PODS}/a/eviction?dryRun=All`, eviction);
  assert.deepEqual([dry.code, (await server.call("GET", `${PODS}/a`)).body.status.conditions], [201, undefined]);
  const { code, text } = await server.call("POST", `${PODS}/a/eviction`, eviction);

  assert.equal(code, 201, text);
  const { metadata, status } = (await server.call("GET", `${PODS}/a`)).body;
  assert.equal(metadata.deletionGracePeriodSeconds, 30);
  const condition = status.conditions.find(({ type }: { type: string }) => type === "DisruptionTarget");
  assert.deepEqual([condition.status, condition.reason], ["True", "EvictionByEvictionAPI"]);
  assert.equal((await server.call("POST", `${PODS}/none/eviction`, { ...eviction, metadata: { name: "none" } })).code, 404);
});

test("a non-resource rule matches the path as the client sent it, with or without a trailing slash", async () => {
  await using server = await startGuardedServer();
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "r" } };
  const rules = [{ verbs: ["get"], nonResourceURLs: ["/metrics", "/debug/pprof/"] }];
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { ...role, rules });
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "b" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  const jane = server.as(JANE);
  const codes = await Promise.all(
    ["/metrics", "/metrics/", "/debug/pprof/", "/debug/pprof"].map(async (path) => (await jane.call("GET", path)).code),
  );

  // The third path has no document, but is allowed.
  assert.deepEqual(codes, [200, 403, 404, 403]);
  assert.match((await jane.call("GET", "/metrics/")).body.message, /cannot get path "\/metrics\/"/);
});

for (const { change, replaced, code } of [
  { change: "removed", replaced: false, code: 404 },
  { change: "replaced", replaced: true, code: 201 },
]) {
  test(`a create whose resource is ${change} while its body is received gets ${code}`, async () => {
    await using server = await startServer();
    const { endpoints } = server.server;
    const resource = widgetResource();
    endpoints.add(resource, widgetSchemas);
    let send: (body: Uint8Array) => void = () => undefined;
    const body = new Promise<Uint8Array>((resolve) => (send = resolve));
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const created = server.call("POST", path, body, { "content-type": "application/json" });
    await server.clock.settle();

    endpoints.remove(resource);
    if (replaced) endpoints.add(widgetResource(), widgetSchemas);
    send(new TextEncoder().encode(JSON.stringify(widget("a"))));

    equalCode(await created, code);
  });
}

test("a document that fails unexpectedly is logged with its step and path, and answered with 500", async () => {
  const logged: LogFields[] = [];
  const log: Logger = { ...silentLogger, error: (_message, fields = {}) => void logged.push(fields) };
  const broken: Document = {
    name: "broken",
    answers: (path) => path === "/broken",
    answer: () => Promise.reject(new Error("no such part")),
  };
  await using server = await startServer({ log, moreDocuments: [broken] });

  const { code, body } = await server.call("GET", "/broken");

  assert.deepEqual([code, body.reason], [500, "InternalError"]);
  assert.deepEqual(
    logged.map(({ step, path, verb }) => ({ step, path, verb })),
    [{ step: "verb", path: "/broken", verb: "get" }],
  );
});

test("a forbidden document is not rendered, and a rendered one occupies a seat", async () => {
  let rendered = 0;
  let running = "";
  const counted: Document = {
    name: "counted",
    answers: (path) => path === "/counted",
    answer: async () => {
      rendered++;
      const { text } = await server.call("GET", "/metrics");
      running = /^apiserver_current_inflight_requests\{request_kind="readOnly"\} (\d+)$/m.exec(text)?.[1] ?? "";
      return { code: 200, headers: {}, body: [] };
    },
  };
  await using server = await startGuardedServer({ moreDocuments: [counted] });

  const forbidden = await server.as(JANE).call("GET", "/counted");
  const allowed = await server.call("GET", "/counted");

  assert.deepEqual([forbidden.code, forbidden.body.message], [403, 'forbidden: User "jane" cannot get path "/counted"']);
  assert.deepEqual([allowed.code, rendered, running], [200, 1, "2"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../api/machinery/object.ts";
import { memoryStore } from "../testing/memory-store.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { asUser, startGuardedServer, startServer, TEST_IDENTITY, type StartedServer } from "./testing/server.ts";
import { wrappedStore } from "./testing/wrapped-store.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const ADMINISTRATOR = { name: "admin", groups: ["system:masters"] };

/** A server whose store does not answer commits until `release` is called. */
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

test("a write that takes longer than its client waits gets 504, and is not done later", async () => {
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

test("more requests at once than there is room for get 429 and when to come back; room is given back", async () => {
  await using server = await withHeldStore({ maxMutatingRequestsInFlight: 2, authorizationModes: ["AlwaysAllow"] });
  const jane = server.as(JANE);
  server.hold();
  const first = [jane, server.as({ name: "joe", groups: [] })].map((user, index) =>
    user.call("POST", MAPS, { metadata: { name: `n${index}` } }),
  );
  await server.clock.settle();

  const third = await jane.call("POST", MAPS, { metadata: { name: "n3" } });
  const read = await jane.call("GET", MAPS);
  const master = server.call("POST", MAPS, { metadata: { name: "n4" } });
  server.release();

  assert.deepEqual([third.code, third.body.reason, third.headers["retry-after"]], [429, "TooManyRequests", "1"]);
  assert.equal(read.code, 200, "reading has its own room");
  assert.deepEqual(
    (await Promise.all(first)).map(({ code }) => code),
    [201, 201],
  );
  assert.equal((await master).code, 201, "who may do everything always gets in");
  assert.equal((await jane.call("POST", MAPS, { metadata: { name: "n3" } })).code, 201);
});

test("of bodies that come slowly nobody has more than half of the room, and those who work are not held up", async () => {
  await using server = await startServer({ config: { maxMutatingRequestsInFlight: 4, authorizationModes: ["AlwaysAllow"] } });
  const [jane, joe] = [server.as(JANE), server.as({ name: "joe", groups: [] })];
  let arrive = (_bytes: Uint8Array) => {};
  const late = new Promise<Uint8Array>((resolve) => (arrive = resolve));
  const slow = [1, 2].map(() => jane.call("POST", MAPS, late));
  await server.clock.settle();

  const third = await jane.call("POST", MAPS, { metadata: { name: "c" } });
  const other = await joe.call("POST", MAPS, { metadata: { name: "d" } });
  arrive(new TextEncoder().encode("{"));

  assert.deepEqual([third.code, third.headers["retry-after"], other.code], [429, "1", 201]);
  for (const answer of slow) assert.equal((await answer).code, 400);
  assert.match((await server.call("GET", "/metrics")).text, /apiserver_request_total\{code="429".*resource="configmaps"/);
  assert.equal((await jane.call("POST", MAPS, { metadata: { name: "c" } })).code, 201);
});

test("who asks for what is not there does not make a figure of each", async () => {
  await using server = await startServer();
  for (let index = 0; index < 5; index++) await server.call("GET", `/api/v1/namespaces/default/pods/p/made-up-${index}`);

  assert.doesNotMatch((await server.call("GET", "/metrics")).text, /made-up/);
});

test("watches take room only until they stream", async () => {
  await using server = await startServer({ config: { maxRequestsInFlight: 1 } });
  for (let index = 0; index < 3; index++) await server.watch(`${MAPS}?watch=1`);
  assert.equal((await server.call("GET", MAPS)).code, 200);
});

test("the bearer of the token is let in, another token is refused, and nobody in particular sees health and version only", async () => {
  await using server = await startGuardedServer({ identity: { ...TEST_IDENTITY, staticTokens: new Map([["secret", ADMINISTRATOR]]) } });
  const code = async (path: string, authorization?: string) =>
    (await server.call("GET", path, undefined, authorization === undefined ? {} : { authorization })).code;

  assert.equal(await code(MAPS, "Bearer secret"), 200);
  for (const wrong of ["Bearer secre", "Bearer secrets"]) assert.equal(await code(MAPS, wrong), 401, wrong);
  // Nothing that could be a token was shown.
  for (const none of ["Bearer ", "secret", "Basic c2VjcmV0"]) assert.equal(await code(MAPS, none), 403, none);
  for (const path of [MAPS, "/api", "/openapi/v2", "/metrics"]) assert.equal(await code(path), 403, path);
  for (const path of ["/healthz", "/livez", "/readyz", "/version"]) assert.equal(await code(path), 200, path);
  const refused = await server.call("GET", MAPS, undefined, { authorization: "Bearer secrets" });
  assert.equal(refused.headers["www-authenticate"], undefined);
  assert.doesNotMatch(refused.text, /secret/);
});

test("who may not is told so in upstream's words, and a review says the same beforehand", async () => {
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

test("nothing is created in a namespace that is missing or going, and those of the cluster stay", async () => {
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

test("a Pod that is evicted says why before it goes", async () => {
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

test("what one may ask for is said by the path as it was asked for, with a slash at its end or without", async () => {
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

  // Nobody answers at the third, but one may ask.
  assert.deepEqual(codes, [200, 403, 404, 403]);
  assert.match((await jane.call("GET", "/metrics/")).body.message, /cannot get path "\/metrics\/"/);
});

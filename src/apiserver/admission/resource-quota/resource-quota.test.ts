import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Store } from "../../../store/store.ts";
import { StoreError } from "../../../store/store-error.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../framework/admission-config.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";
import { wrappedStore } from "../../testing/wrapped-store.ts";

const NAMESPACE = "/api/v1/namespaces/ns";
const QUOTAS = `${NAMESPACE}/resourcequotas`;
const MERGE = { "content-type": "application/merge-patch+json" };

/** Disables service accounts for Pods. */
const CONFIG = { admission: { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins: ["ServiceAccount"] } };

type Amounts = Readonly<Record<string, string>>;

async function withQuota(hard: Amounts, more: JsonObject = {}, store?: Store): Promise<StartedServer> {
  const server = await start(store === undefined ? {} : { store });
  await addQuota(server, "q", hard, more);
  return server;
}

async function start(options: { readonly store?: Store; readonly clock?: VirtualClock } = {}): Promise<StartedServer> {
  const server = await startServer({ config: CONFIG, ...options });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
  return server;
}

async function addQuota(server: StartedServer, name: string, hard: Amounts, more: JsonObject = {}): Promise<void> {
  const made = await server.call("POST", QUOTAS, { metadata: { name }, spec: { hard, ...more } });
  assert.equal(made.code, 201, made.text);
}

function aPod(name: string, requests: Amounts = {}, more: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources: { requests } }], ...more } };
}

function create(server: StartedServer, plural: string, object: JsonObject, query = ""): Promise<CallAnswer> {
  return server.call("POST", `${NAMESPACE}/${plural}${query}`, object);
}

async function used(server: StartedServer, name = "q"): Promise<Amounts> {
  return (await server.call("GET", `${QUOTAS}/${name}`)).body.status.used;
}

function refusedFor(answer: CallAnswer, message: string): void {
  assert.deepEqual([answer.code, answer.body.reason, answer.body.message], [403, "Forbidden", message]);
}

test("a quota admits objects up to its limit, and deletes release usage", async () => {
  await using server = await withQuota({ pods: "2" });

  const codes = [];
  for (const name of ["a", "b", "c"]) codes.push((await create(server, "pods", aPod(name))).code);
  assert.deepEqual([codes, await used(server)], [[201, 201, 403], { pods: "2" }]);
  refusedFor(
    await create(server, "pods", aPod("c")),
    'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  );

  await server.call("DELETE", `${NAMESPACE}/pods/a?gracePeriodSeconds=0`);
  assert.equal((await create(server, "pods", aPod("c"))).code, 201);
  assert.deepEqual(await used(server), { pods: "2" });
});

test("objects that predate a quota are counted, and a changed quota is recounted", async () => {
  await using server = await start();
  await create(server, "pods", aPod("a", { cpu: "300m" }));
  await addQuota(server, "q", { pods: "2", "requests.cpu": "1" });

  assert.equal((await create(server, "pods", aPod("b", { cpu: "0.5" }))).code, 201);
  assert.deepEqual(await used(server), { pods: "2", "requests.cpu": "800m" });

  await server.call("PATCH", `${QUOTAS}/q`, { spec: { hard: { pods: "3", services: "1" } } }, MERGE);
  assert.equal((await create(server, "pods", aPod("c", { cpu: "0.2" }))).code, 201);
  const { status, metadata } = (await server.call("GET", `${QUOTAS}/q`)).body;
  assert.deepEqual(status.hard, { pods: "3", "requests.cpu": "1", services: "1" });
  assert.deepEqual(status.used, { pods: "3", "requests.cpu": "1", services: "0" });
  const owner = metadata.managedFields.find(({ subresource }: JsonObject) => subresource === "status");
  assert.deepEqual([owner.manager, owner.operation], ["kube-apiserver", "Update"]);
});

test("a quota rejection lists all exceeded resources, and all missing ones that must be specified", async () => {
  await using server = await withQuota({ "requests.cpu": "1", memory: "1Gi", "limits.cpu": "2", pods: "0" });

  refusedFor(
    await create(server, "pods", aPod("a", { cpu: "1" })),
    'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c; memory for: c',
  );
  const resources = { requests: { cpu: "1500m", memory: "2Gi" }, limits: { cpu: "2", memory: "2Gi" } };
  refusedFor(
    await create(server, "pods", { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i", resources }] } }),
    'pods "a" is forbidden: exceeded quota: q, requested: memory=2Gi,pods=1,requests.cpu=1500m, used: memory=0,pods=0,requests.cpu=0, limited: memory=1Gi,pods=0,requests.cpu=1',
  );
});

test("invalid, duplicate and dry-run creates are not charged to a quota", async () => {
  await using server = await withQuota({ pods: "3" });
  await create(server, "pods", aPod("a"));

  assert.equal((await create(server, "pods", aPod("a"))).code, 409);
  assert.equal((await create(server, "pods", aPod("NO"))).code, 422);
  assert.equal((await create(server, "pods", aPod("b"), "?dryRun=All")).code, 201);
  assert.deepEqual(await used(server), { pods: "1" });
});

test("a dry run exceeding a quota is rejected without a status write", async () => {
  await using server = await withQuota({ pods: "0" });
  const { resourceVersion } = (await server.call("GET", `${QUOTAS}/q`)).body.metadata;

  assert.equal((await create(server, "pods", aPod("a"), "?dryRun=All")).code, 403);
  assert.equal((await server.call("GET", `${QUOTAS}/q`)).body.metadata.resourceVersion, resourceVersion);
});

function statusOf(server: StartedServer, name = "q"): Promise<unknown> {
  return server.call("GET", `${QUOTAS}/${name}`).then(({ body }) => body.status);
}

test("the first rejection by a new or changed quota writes its usage, and later ones do not", async () => {
  await using server = await start();
  for (const name of ["a", "b"]) await create(server, "pods", aPod(name));
  await addQuota(server, "q", { pods: "1" });
  assert.deepEqual(await statusOf(server), {});

  assert.equal((await create(server, "pods", aPod("c"), "?dryRun=All")).code, 403);
  assert.deepEqual(await statusOf(server), {});
  assert.equal((await create(server, "pods", aPod("c"))).code, 403);
  assert.deepEqual(await statusOf(server), { hard: { pods: "1" }, used: { pods: "2" } });

  await server.call("PATCH", `${QUOTAS}/q`, { spec: { hard: { pods: "2" } } }, MERGE);
  assert.equal((await create(server, "pods", aPod("c"))).code, 403);
  assert.deepEqual(await statusOf(server), { hard: { pods: "2" }, used: { pods: "2" } });

  const version = async () => (await server.call("GET", `${QUOTAS}/q`)).body.metadata.resourceVersion;
  const before = await version();
  assert.equal((await create(server, "pods", aPod("c"))).code, 403);
  assert.equal(await version(), before);
});

test("if one of several quotas rejects, all recounted quotas report their usage", async () => {
  await using server = await start();
  for (const name of ["a", "b"]) await create(server, "pods", aPod(name));
  await addQuota(server, "q", { pods: "9" });
  await addQuota(server, "r", { pods: "1" });

  refusedFor(
    await create(server, "pods", aPod("c")),
    'pods "c" is forbidden: exceeded quota: r, requested: pods=1, used: pods=2, limited: pods=1',
  );

  assert.deepEqual(await statusOf(server, "q"), { hard: { pods: "9" }, used: { pods: "2" } });
  assert.deepEqual(await statusOf(server, "r"), { hard: { pods: "1" }, used: { pods: "2" } });
});

test("a failed status write of a quota does not affect the rejection", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let isBroken = false;
  const store = wrappedStore(memory, {
    commit: (...all) => (isBroken ? Promise.reject(new StoreError("Unavailable", "The store does not respond")) : memory.commit(...all)),
  });
  await using server = await start({ store, clock });
  await addQuota(server, "q", { pods: "0" });
  isBroken = true;

  refusedFor(
    await create(server, "pods", aPod("a")),
    'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  );
});

test("an update charges a quota only the increase", async () => {
  await using server = await withQuota({ services: "1", "services.nodeports": "2", "requests.storage": "3Gi" });
  const service = { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } };
  await create(server, "services", service);
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "fast", volumeName: "v" };
  await create(server, "persistentvolumeclaims", { metadata: { name: "p" }, spec: claim });
  const change = (path: string, spec: JsonObject) => server.call("PATCH", `${NAMESPACE}/${path}`, { spec }, MERGE);

  assert.equal((await change("services/s", { type: "NodePort", ports: [{ port: 80 }] })).code, 200);
  assert.deepEqual(await used(server), { services: "1", "services.nodeports": "1", "requests.storage": "1Gi" });
  const ports = [1, 2, 3].map((port) => ({ name: `p${port}`, port }));
  refusedFor(
    await change("services/s", { ports }),
    'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2',
  );
  assert.equal((await change("services/s", { type: "ClusterIP" })).code, 200);
  assert.equal((await change("services/s", { type: "LoadBalancer", ports: ports.slice(1) })).code, 200);
  assert.deepEqual((await used(server))["services.nodeports"], "2");
});

test("a resize charges a quota the increase and is rejected beyond the limit", async () => {
  await using server = await withQuota({ "requests.cpu": "1" });
  await create(server, "pods", aPod("a", { cpu: "400m" }));
  const resize = (cpu: string) => {
    const spec = { containers: [{ name: "c", resources: { requests: { cpu } } }] };
    return server.call("PATCH", `${NAMESPACE}/pods/a/resize`, { spec }, { "content-type": "application/strategic-merge-patch+json" });
  };

  const enough = await resize("900m");
  assert.equal(enough.code, 200, enough.text);
  assert.deepEqual(await used(server), { "requests.cpu": "900m" });
  refusedFor(
    await resize("1100m"),
    'pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=200m, used: requests.cpu=900m, limited: requests.cpu=1',
  );
});

test("quota scopes select the Pods that count", async () => {
  const scopes: readonly [more: JsonObject, counted: JsonObject, free: JsonObject][] = [
    [{ scopes: ["BestEffort"] }, aPod("a"), aPod("b", { cpu: "1" })],
    [{ scopes: ["NotBestEffort"] }, aPod("a", { cpu: "1" }), aPod("b")],
    [{ scopes: ["Terminating"] }, aPod("a", {}, { activeDeadlineSeconds: 5 }), aPod("b")],
    [{ scopes: ["NotTerminating"] }, aPod("a"), aPod("b", {}, { activeDeadlineSeconds: 5 })],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }] } },
      aPod("a", {}, { priorityClassName: "system-node-critical" }),
      aPod("b", {}, { priorityClassName: "system-cluster-critical" }),
    ],
  ];
  for (const [more, counted, free] of scopes) {
    await using server = await withQuota({ pods: "0" }, more);

    assert.equal((await create(server, "pods", counted)).code, 403, JSON.stringify(more));
    const answer = await create(server, "pods", free);
    assert.equal(answer.code, 201, answer.text);
  }
});

test("a Pod that gets an active deadline is charged to the Terminating quota", async () => {
  await using server = await withQuota({ pods: "1" }, { scopes: ["Terminating"] });
  for (const name of ["a", "b"]) await create(server, "pods", aPod(name));
  const change = (name: string) => server.call("PATCH", `${NAMESPACE}/pods/${name}`, { spec: { activeDeadlineSeconds: 9 } }, MERGE);

  assert.deepEqual([(await change("a")).code, await used(server)], [200, { pods: "1" }]);
  refusedFor(await change("b"), 'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1');
});

test("object count quotas apply to any resource except events", async () => {
  await using server = await withQuota({
    "count/events": "0",
    "count/leases.coordination.k8s.io": "1",
    configmaps: "1",
    "count/configmaps": "5",
  });
  const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

  assert.equal((await server.call("POST", leases, { metadata: { name: "l" } })).code, 201);
  refusedFor(
    await server.call("POST", leases, { metadata: { name: "m" } }),
    'leases.coordination.k8s.io "m" is forbidden: exceeded quota: q, requested: count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=1, limited: count/leases.coordination.k8s.io=1',
  );
  assert.deepEqual([(await create(server, "configmaps", { metadata: { name: "a" } })).code], [201]);
  refusedFor(
    await create(server, "configmaps", { metadata: { name: "b" } }),
    'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  );
  const event = { metadata: { name: "e" }, involvedObject: { namespace: "ns" }, type: "Normal" };
  assert.equal((await create(server, "events", event)).code, 201);
});

test("a write charges every matching quota, or none if one rejects or the write fails", async () => {
  await using server = await withQuota({ pods: "3" });
  await addQuota(server, "r", { pods: "2", "count/pods": "9" });
  await addQuota(server, "s", { "count/pods": "9" });
  const all = () => Promise.all(["q", "r", "s"].map((name) => used(server, name)));

  for (const name of ["a", "b"]) assert.equal((await create(server, "pods", aPod(name))).code, 201);
  const charged = [{ pods: "2" }, { pods: "2", "count/pods": "2" }, { "count/pods": "2" }];
  assert.deepEqual(await all(), charged);

  refusedFor(
    await create(server, "pods", aPod("c")),
    'pods "c" is forbidden: exceeded quota: r, requested: pods=1, used: pods=2, limited: pods=2',
  );
  assert.deepEqual(await all(), charged);

  await server.call("DELETE", `${NAMESPACE}/pods/a?gracePeriodSeconds=0`);
  assert.equal((await create(server, "pods", aPod("b"))).code, 409);
  assert.deepEqual((await all())[2], { "count/pods": "1" });
});

test("quotas can limit the number of quotas", async () => {
  await using server = await withQuota({ resourcequotas: "2" });

  await addQuota(server, "r", { pods: "1" });
  assert.deepEqual(await used(server), { resourcequotas: "2" });
  refusedFor(
    await create(server, "resourcequotas", { metadata: { name: "s" }, spec: { hard: { pods: "1" } } }),
    'resourcequotas "s" is forbidden: exceeded quota: q, requested: resourcequotas=1, used: resourcequotas=2, limited: resourcequotas=2',
  );
  assert.equal((await create(server, "resourcequotas", { metadata: { name: "r" }, spec: {} }, "?dryRun=All")).code, 403);
});

for (const quotas of [1, 3]) {
  test(`of 64 concurrent creates exactly 20 succeed under a limit of 20, with quotas: ${quotas}`, async () => {
    await using server = await withQuota({ pods: "20" });
    for (let index = 1; index < quotas; index++) await addQuota(server, `r${index}`, { pods: "20" });

    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => create(server, "pods", aPod(`p${index}`))));

    const codes = answers.map(({ code }) => code);
    assert.deepEqual([codes.filter((code) => code === 201).length, codes.filter((code) => code === 403).length], [20, 44]);
    assert.deepEqual(await used(server), { pods: "20" });
    assert.equal((await server.call("GET", `${NAMESPACE}/pods`)).body.items.length, 20);
  });
}

/** Access to a shared store takes time, so the clock must advance. */
async function inTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const finished = work.finally(() => (isDone = true));
  await clock.advanceUntil(() => isDone, { withinMs: 60_000 });
  return finished;
}

for (const quotas of [1, 2]) {
  test(`two servers on one store together admit exactly the quota's limit, with quotas: ${quotas}`, async () => {
    const clock = virtualClock();
    const memory = memoryStore(clock);
    const shared = () => wrappedStore(memory, { capabilities: { ...memory.capabilities, shared: true }, close: () => Promise.resolve() });
    await using one = await start({ store: shared(), clock });
    await using two = await start({ store: shared(), clock });
    for (let index = 0; index < quotas; index++) await addQuota(one, `q${index}`, { pods: "20" });
    const createAt = (index: number) => create([one, two][index % 2] as StartedServer, "pods", aPod(`p${index}`));

    const answers = await inTime(clock, Promise.all(Array.from({ length: 64 }, (_, index) => createAt(index))));

    const codes = answers.map(({ code }) => code).filter((code) => code !== 403);
    assert.deepEqual(
      codes,
      Array.from({ length: 20 }, () => 201),
    );
    assert.equal((await inTime(clock, one.call("GET", `${NAMESPACE}/pods`))).body.items.length, 20);
    for (let index = 0; index < quotas; index++) assert.deepEqual(await used(two, `q${index}`), { pods: "20" });
  });
}

interface TwoServers extends AsyncDisposable {
  readonly clock: VirtualClock;
  /** Its Pods are charged but not written before `release`. */
  readonly one: StartedServer;
  readonly two: StartedServer;
  /** Resolves when a Pod of `one` is blocked. */
  untilHeld(): Promise<void>;
  release(): void;
}

async function startTwo(): Promise<TwoServers> {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const capabilities = { ...memory.capabilities, shared: true };
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const slow = wrappedStore(memory, {
    capabilities,
    close: () => Promise.resolve(),
    async commit(operations, options) {
      const isPod = operations.some(({ key }) => key.startsWith("/pods/"));
      isHeld ||= isPod;
      if (isPod) await released;
      return memory.commit(operations, options);
    },
  });
  const one = await start({ store: slow, clock });
  const two = await start({ store: wrappedStore(memory, { capabilities, close: () => Promise.resolve() }), clock });
  return {
    clock,
    one,
    two,
    untilHeld: () => clock.advanceUntil(() => isHeld, { withinMs: 500 }),
    release,
    async [Symbol.asyncDispose]() {
      for (const server of [one, two]) await server[Symbol.asyncDispose]();
    },
  };
}

test("an object charged in advance is not written after another server's recount dropped its charge", async () => {
  await using servers = await startTwo();
  const { clock, one, two } = servers;
  // Each Pod is charged to a quota of its own, and in advance to the shared one.
  await addQuota(one, "a", { pods: "9" }, { scopes: ["BestEffort"] });
  await addQuota(one, "b", { pods: "9" }, { scopes: ["NotBestEffort"] });
  await addQuota(one, "r", { pods: "1" });

  const first = create(one, "pods", aPod("first"));
  await servers.untilHeld();
  assert.deepEqual(await used(two, "r"), { pods: "1" });
  const second = await inTime(clock, create(two, "pods", aPod("second", { cpu: "1" })));
  servers.release();

  assert.equal(second.code, 201);
  refusedFor(await inTime(clock, first), 'pods "first" is forbidden: exceeded quota: r, requested: pods=1, used: pods=1, limited: pods=1');
  assert.deepEqual([await used(two, "b"), await used(two, "r")], [{ pods: "1" }, { pods: "1" }]);
});

test("an object is charged in advance again after another server's recount for a rejected write dropped its charge", async () => {
  await using servers = await startTwo();
  const { clock, one, two } = servers;
  await addQuota(one, "a", { pods: "9" }, { scopes: ["BestEffort"] });
  await addQuota(one, "r", { pods: "1" });
  await addQuota(one, "z", { pods: "0" }, { scopes: ["NotBestEffort"] });

  const first = create(one, "pods", aPod("first"));
  await servers.untilHeld();
  const second = await inTime(clock, create(two, "pods", aPod("second", { cpu: "1" })));
  assert.deepEqual([second.code, await used(two, "r")], [403, { pods: "0" }]);
  servers.release();

  assert.equal((await inTime(clock, first)).code, 201);
  assert.deepEqual(await used(two, "r"), { pods: "1" });
});

test("charges in advance of a crashed server are recounted before any write is rejected", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let isDying = false;
  let isDead = false;
  const dead = () => Promise.reject(new StoreError("Uncertain", "The server is gone"));
  const store = wrappedStore(memory, {
    get: (...all) => (isDead ? dead() : memory.get(...all)),
    commit: (operations, options) => {
      isDead ||= isDying && operations.some(({ key }) => key.startsWith("/pods/"));
      return isDead ? dead() : memory.commit(operations, options);
    },
  });
  const before = await start({ store, clock });
  for (const name of ["q", "r"]) await addQuota(before, name, { pods: "2" });
  await create(before, "pods", aPod("a"));
  isDying = true;
  assert.equal((await create(before, "pods", aPod("b"))).code, 504);
  await before.server.close();

  await using after = await start({ store: memory, clock });

  assert.deepEqual([await used(after, "q"), await used(after, "r")], [{ pods: "1" }, { pods: "2" }]);
  assert.equal((await create(after, "pods", aPod("b"))).code, 201);
  assert.equal((await create(after, "pods", aPod("c"))).code, 403);
  assert.deepEqual([await used(after, "q"), await used(after, "r")], [{ pods: "2" }, { pods: "2" }]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../../api/generated/core/v1.ts";
import { events } from "../../api/core/v1/event.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport, TransportRequest, TransportResponse } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { given } from "../../testing/given.ts";
import { createClient } from "../rest-client.ts";
import { createEventRecorder, LAST_EVENTS_MS, WAITING_MAX, type EventRecorderOptions } from "./create-event-recorder.ts";
import type { EventRecorder, RecordedEvent } from "./event-recorder.ts";

const web: KubeObject = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { namespace: "default", name: "web", uid: "uid-1", resourceVersion: "7" },
};
const node: KubeObject = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "uid-2" } };
const MINUTE_MS = 60_000;

interface Stage extends AsyncDisposable {
  readonly recorder: EventRecorder;
  readonly clock: VirtualClock;
  readonly server: Transport;
  /** Each request: "create", "patch". */
  readonly requests: string[];
  /** Response instead of the server's; undefined: the server is called. */
  answer: (request: TransportRequest) => Promise<TransportResponse> | undefined;
  record(event?: Partial<RecordedEvent>, about?: KubeObject): void;
  /** The Events once everything recorded is written, in order of creation. */
  events(): Promise<readonly Event[]>;
  wipe(): Promise<void>;
}

async function stage(options: Partial<EventRecorderOptions> = {}): Promise<Stage> {
  const cluster = await given();
  const { clock, client } = cluster;
  const server = cluster.server.transport();
  const requests: string[] = [];
  const transport: Transport = {
    ...server,
    request(request) {
      requests.push(request.verb);
      return made.answer(request) ?? server.request(request);
    },
  };
  const recorder = createEventRecorder({
    client: createClient(transport),
    component: "replicaset-controller",
    clock,
    random: seededRandom(1),
    log: silentLogger,
    ...options,
  });
  const made: Stage = {
    recorder,
    clock,
    server,
    requests,
    answer: () => undefined,
    record: (event = {}, about = web) => recorder.record(about, { type: "Normal", reason: "Created", message: "Created pod: p", ...event }),
    async events() {
      await clock.settle();
      const { items } = await client.list(events, {});
      return [...items].sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    },
    wipe: () => client.deleteCollection(events, { namespace: "default" }),
    async [Symbol.asyncDispose]() {
      const disposed = recorder[Symbol.asyncDispose]();
      await clock.advance(LAST_EVENTS_MS);
      await disposed;
      await cluster[Symbol.asyncDispose]();
    },
  };
  return made;
}

function unavailable(): Promise<never> {
  return Promise.reject(new StatusError("ServiceUnavailable", "Connection refused"));
}

// ── core/v1 ─────────────────────────────────────────────────────────────────────────────────────────

test("a core/v1 Event is written like client-go's older recorder does", async () => {
  await using s = await stage({ instance: "node-1" });
  s.record({ type: "Warning", reason: "FailedCreate", message: "No room" });

  const [event] = await s.events();

  const { metadata, ...rest } = event as Event;
  assert.match(metadata.name, /^web\.[0-9a-f]{16}$/);
  // The first digits are those of the nanoseconds of the start of 2026.
  assert.ok(metadata.name.startsWith("web.1886"), metadata.name);
  assert.equal(metadata.namespace, "default");
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: { kind: "ReplicaSet", namespace: "default", name: "web", uid: "uid-1", apiVersion: "apps/v1", resourceVersion: "7" },
    reason: "FailedCreate",
    message: "No room",
    source: { component: "replicaset-controller", host: "node-1" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    eventTime: null,
    count: 1,
    type: "Warning",
    reportingComponent: "replicaset-controller",
    reportingInstance: "node-1",
  });
});

test("an Event about a cluster-scoped object is stored in the namespace default", async () => {
  await using s = await stage();
  s.record({}, node);

  const [event] = await s.events();

  assert.equal(event?.metadata.namespace, "default");
  assert.deepEqual([event.source, event.reportingInstance], [{ component: "replicaset-controller" }, ""]);
  assert.deepEqual(event.involvedObject, { kind: "Node", name: "n1", uid: "uid-2", apiVersion: "v1" });
});

test("two Events about one object at the same instant have different names", async () => {
  await using s = await stage();
  s.record({ message: "one" });
  s.record({ message: "two" });

  const names = (await s.events()).map(({ metadata }) => metadata.name);

  assert.equal(new Set(names).size, 2);
});

test("Events about an object whose name is not a valid Event name are named by UUID", async () => {
  await using s = await stage();
  s.record({}, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "system:node" } });

  const [event] = await s.events();

  assert.match(event?.metadata.name ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("equal Events are counted in one, whichever version of the object they are about", async () => {
  await using s = await stage();
  s.record();
  await s.clock.advance(90_000);
  s.record({}, { ...web, metadata: { ...web.metadata, resourceVersion: "8" } });

  const all = await s.events();

  assert.deepEqual(s.requests, ["create", "patch"]);
  assert.deepEqual(
    all.map(({ count, firstTimestamp, lastTimestamp }) => ({ count, firstTimestamp, lastTimestamp })),
    [{ count: 2, firstTimestamp: "2026-01-01T00:00:00Z", lastTimestamp: "2026-01-01T00:01:30Z" }],
  );
});

test("an Event that has expired is created again with its count", async () => {
  await using s = await stage();
  s.record();
  const [first] = await s.events();
  await s.wipe();
  s.record();

  const [second, ...others] = await s.events();

  assert.deepEqual([second?.metadata.name, second?.count, others.length], [first?.metadata.name, 2, 0]);
  assert.deepEqual(s.requests, ["create", "patch", "create"]);
});

test("the tenth Event that differs only in its message, and all later ones, are aggregated into one", async () => {
  await using s = await stage();
  for (let index = 1; index <= 12; index++) {
    s.record({ message: `message ${index}` });
    await s.clock.advance(1_000);
  }

  const all = await s.events();

  const plain = all.filter(({ message }) => message?.startsWith("message"));
  assert.equal(plain.length, 9);
  const [combined] = all.filter(({ message }) => message?.startsWith("(combined"));
  assert.deepEqual([combined?.message, combined?.count], ["(combined from similar events): message 12", 3]);
  assert.deepEqual([combined?.firstTimestamp, combined?.lastTimestamp], ["2026-01-01T00:00:09Z", "2026-01-01T00:00:11Z"]);
});

test("similar Events more than ten minutes apart are not aggregated", async () => {
  await using s = await stage();
  for (let index = 1; index <= 12; index++) {
    s.record({ message: `message ${index}` });
    await s.clock.advance(index === 6 ? 10 * MINUTE_MS + 1 : 1_000);
  }

  assert.equal((await s.events()).filter(({ message }) => message?.startsWith("(combined")).length, 0);
});

test("a source with more than 25 Events about one object is limited to one every five minutes, which shows the total", async () => {
  await using s = await stage();
  for (let index = 1; index <= 40; index++) s.record();
  assert.deepEqual([(await s.events())[0]?.count, s.recorder.dropped], [25, 15]);
  // Events of another type, or about another object, are not limited.
  s.record({ type: "Warning" });
  s.record({}, node);
  assert.equal((await s.events()).length, 3);

  await s.clock.advance(5 * MINUTE_MS);
  s.record();
  s.record();

  assert.equal((await s.events()).find(({ type, involvedObject }) => type === "Normal" && involvedObject.kind === "ReplicaSet")?.count, 41);
});

test("the recorder caches at most 4,096 Events and writes evicted ones again", async () => {
  await using s = await stage();
  const about = (index: number): KubeObject => ({ ...web, metadata: { ...web.metadata, uid: `uid-${index}` } });
  s.answer = () => Promise.resolve({ is: "object", object: web, created: true, warnings: [] });
  for (let index = 0; index < 4_097; index++) {
    s.record({}, about(index));
    if (index % 500 === 0) await s.clock.settle();
  }
  await s.clock.settle();
  s.requests.length = 0;

  s.record({}, about(4_096));
  s.record({}, about(0));
  await s.clock.settle();

  assert.deepEqual(s.requests, ["patch", "create"]);
});

// ── events.k8s.io/v1 ────────────────────────────────────────────────────────────────────────────────

const NEW = { api: "events.k8s.io", component: "default-scheduler", instance: "m1" } as const;

test("an events.k8s.io/v1 Event is written like client-go's newer recorder does", async () => {
  await using s = await stage(NEW);
  s.record({ type: "Normal", reason: "Scheduled", message: "Assigned", action: "Binding", related: node });

  const [event] = await s.events();

  const { metadata, ...rest } = event as Event;
  assert.match(metadata.name, /^web\.1886[0-9a-f]{12}$/);
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: { kind: "ReplicaSet", namespace: "default", name: "web", uid: "uid-1", apiVersion: "apps/v1", resourceVersion: "7" },
    related: { kind: "Node", name: "n1", uid: "uid-2", apiVersion: "v1" },
    reason: "Scheduled",
    message: "Assigned",
    eventTime: "2026-01-01T00:00:00.000000Z",
    action: "Binding",
    type: "Normal",
    reportingComponent: "default-scheduler",
    reportingInstance: "default-scheduler-m1",
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
  });
});

test("the second Event of a kind starts a series; further ones are only counted until it is refreshed or ends", async () => {
  await using s = await stage(NEW);
  const seen = async () => (await s.events()).map(({ series }) => [series?.count, series?.lastObservedTime?.slice(11, 19)]);
  s.record();
  assert.deepEqual(await seen(), [[undefined, undefined]]);
  await s.clock.advance(1_000);
  s.record({ message: "another message" });
  assert.deepEqual(await seen(), [[2, "00:00:01"]]);

  // One event every five minutes until 31 minutes have passed.
  for (let recorded = 1; recorded <= 6; recorded++) {
    await s.clock.advance(5 * MINUTE_MS);
    s.record();
    if (recorded < 6) assert.deepEqual(await seen(), [[2, "00:00:01"]]);
  }
  assert.deepEqual(await seen(), [[7, "00:25:01"]], "after half an hour it is refreshed");
  // Checked every six minutes.
  await s.clock.advance(12 * MINUTE_MS);
  assert.deepEqual(await seen(), [[8, "00:30:01"]]);

  s.record();
  assert.deepEqual(await seen(), [
    [8, "00:30:01"],
    [undefined, undefined],
  ]);
});

test("an Event without an action uses its reason as action, since the server requires one", async () => {
  await using s = await stage(NEW);
  s.record();

  assert.equal((await s.events())[0]?.action, "Created");
});

test("the last count of a series is written when the recorder stops", async () => {
  await using s = await stage(NEW);
  for (let recorded = 0; recorded < 5; recorded++) s.record();
  const disposed = s.recorder[Symbol.asyncDispose]();
  await s.clock.settle();
  await disposed;

  assert.equal((await s.events())[0]?.series?.count, 5);
});

// ── when the server does not respond ────────────────────────────────────────────────────────────────

for (const api of ["core", "events.k8s.io"] as const) {
  test(`${api}: an Event is retried 12 times within two minutes and then dropped`, async () => {
    await using s = await stage({ api });
    s.answer = unavailable;
    s.record();

    await s.clock.advance(99_950);
    assert.deepEqual([s.requests.length, s.recorder.dropped], [11, 0]);
    await s.clock.advance(20_050);

    assert.deepEqual([s.requests.length, s.recorder.dropped], [12, 1]);
    s.answer = () => undefined;
    s.record({ reason: "Later" });
    assert.equal((await s.events()).length, 1);
  });

  test(`${api}: an Event that the server rejects is dropped without a retry, and later ones are written`, async () => {
    await using s = await stage({ api });
    s.record({}, { ...web, metadata: { ...web.metadata, namespace: "No Such Namespace" } });
    s.record();

    assert.equal((await s.events()).length, 1);
    assert.deepEqual([s.requests.length, s.recorder.dropped], [2, 1]);
  });

  test(`${api}: the queue holds at most 1,000 Events; more are dropped and counted`, async () => {
    await using s = await stage({ api });
    s.answer = unavailable;
    s.record();
    await s.clock.settle();
    for (let recorded = 0; recorded < WAITING_MAX + 3; recorded++) s.record({ reason: `Reason${recorded}` });

    assert.equal(s.recorder.dropped, 3);
  });

  test(`${api}: stopping waits for recorded Events, for a bounded time`, async () => {
    await using s = await stage({ api });
    s.answer = unavailable;
    s.record();
    s.record({ reason: "Other" });
    let disposed = false;
    void s.recorder[Symbol.asyncDispose]().then(() => (disposed = true));
    await s.clock.advance(LAST_EVENTS_MS - 1);
    assert.equal(disposed, false);
    await s.clock.advance(1);
    assert.deepEqual([disposed, s.recorder.dropped], [true, 2]);

    s.record();
    assert.equal(s.recorder.dropped, 3);
  });
}

test("an Event whose response was lost exists and is not counted as dropped", async () => {
  await using s = await stage();
  s.answer = async (request) => {
    s.answer = () => undefined;
    await s.server.request(request);
    return unavailable();
  };
  s.record();
  await s.clock.advance(10_000);

  assert.deepEqual(s.requests, ["create", "create"]);
  assert.deepEqual([(await s.events()).length, s.recorder.dropped], [1, 0]);
});

test("flushed resolves when all Events recorded before are written, in order", async () => {
  await using s = await stage();
  await s.recorder.flushed();
  for (const reason of ["One", "Two", "Three"]) s.record({ reason });
  let isFlushed = false;
  void s.recorder.flushed().then(() => (isFlushed = true));
  assert.equal(isFlushed, false);

  const all = await s.events();

  assert.equal(isFlushed, true);
  assert.deepEqual(
    all.map(({ reason }) => reason),
    ["One", "Two", "Three"],
  );
});

test("recording an Event about something that is not an object does not throw", async () => {
  await using s = await stage();
  s.record({}, {} as KubeObject);

  assert.equal(s.recorder.dropped, 1);
});

for (const api of ["core", "events.k8s.io"] as const) {
  test(`an Event of ${api} is written with its component, reason, object and the version that the component saw`, async () => {
    await using recorded = await stage({ api });
    const causes: unknown[] = [];
    recorded.answer = ({ cause }) => void causes.push(cause);

    recorded.record({ reason: "Created" });
    recorded.record({ reason: "Lost" }, node);
    await recorded.events();

    const controller = "replicaset-controller";
    assert.deepEqual(causes, [
      { controller, key: "default/web", reason: "Created", revision: "7" },
      { controller, key: "n1", reason: "Lost" },
    ]);
  });
}

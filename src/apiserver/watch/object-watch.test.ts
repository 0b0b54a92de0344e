import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, seededRandom, type Random } from "../../base/random.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Change, Store } from "../../store/store.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startServer, type StartedServer, type WatchCall } from "../testing/server.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";
import { widget, widgetResource, widgetSchemas, WIDGETS, type Widget } from "../testing/widget.ts";

const SLOW_BYTES = 300 * 1024;
const NAMESPACES = ["default", "kube-public"];
const NAMES = ["a", "b", "c"];

/** The changes, as reported by the responses to the writes. */
interface Happened {
  readonly type: "put" | "delete";
  readonly object: Widget;
}

/** All of them watch the namespaced path or that of all namespaces, each with its own selection. */
interface Wanted {
  readonly namespace: string;
  readonly query: string;
  matches(object: Widget): boolean;
}

const SELECTORS: readonly Omit<Wanted, "namespace">[] = [
  { query: "", matches: () => true },
  { query: "labelSelector=colour%3Dred", matches: ({ metadata }) => metadata.labels?.["colour"] === "red" },
  { query: "labelSelector=colour", matches: ({ metadata }) => metadata.labels?.["colour"] !== undefined },
  { query: "fieldSelector=spec.shelf%3D1", matches: ({ spec }) => spec?.shelf === "1" },
  { query: "fieldSelector=spec.shelf!%3D1", matches: ({ spec }) => spec?.shelf !== "1" },
  { query: "fieldSelector=spec.size%3D2", matches: ({ spec }) => spec?.size === 2 },
  { query: "fieldSelector=metadata.name%3Da", matches: ({ metadata }) => metadata.name === "a" },
  {
    query: "fieldSelector=metadata.name%3Da&labelSelector=colour%3Dred",
    matches: ({ metadata }) => metadata.name === "a" && metadata.labels?.["colour"] === "red",
  },
  {
    query: "fieldSelector=spec.shelf%3D1,spec.size%3D2",
    matches: ({ spec }) => spec?.shelf === "1" && spec.size === 2,
  },
];

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}

/** One line per event, the same from the wire and from the model. */
function line(type: string, object: Widget): string {
  const { namespace, name, labels, resourceVersion } = object.metadata;
  return `${type} ${namespace}/${name}@${resourceVersion} ${JSON.stringify(labels ?? {})} ${JSON.stringify(object.spec ?? {})}`;
}

/** The reference model: every change in order, matched one by one. */
function expectedLines(history: readonly Happened[], wanted: Wanted, start: { after: number; withInitial: boolean }): string[] {
  const state = new Map<string, Widget>();
  const lines: string[] = [];
  const sees = (object: Widget) => (wanted.namespace === "" || object.metadata.namespace === wanted.namespace) && wanted.matches(object);
  const showInitial = () => {
    const keys = [...state.keys()].toSorted();
    for (const key of keys) if (sees(state.get(key)!)) lines.push(line("ADDED", state.get(key)!));
  };
  let isInitialShown = !start.withInitial;
  for (const { type, object } of history.toSorted((one, other) => revisionOf(one.object) - revisionOf(other.object))) {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const previous = state.get(key);
    if (revisionOf(object) > start.after && !isInitialShown) {
      showInitial();
      isInitialShown = true;
    }
    if (type === "put") state.set(key, object);
    else state.delete(key);
    if (revisionOf(object) <= start.after) continue;
    const [before, now] = [previous !== undefined && sees(previous), type === "put" && sees(object)];
    if (now) lines.push(line(before ? "MODIFIED" : "ADDED", object));
    else if (before) {
      const last = { ...previous!, metadata: { ...previous!.metadata, resourceVersion: object.metadata.resourceVersion! } };
      lines.push(line("DELETED", last));
    }
  }
  if (!isInitialShown) showInitial();
  return lines;
}

/** Creates, changes or deletes an object; the first writer wins, and only successful writes are recorded. */
async function write(transport: Transport, random: Random, history: Happened[]): Promise<void> {
  const [namespace, name] = [pick(random, NAMESPACES), pick(random, NAMES)];
  const colour = pick(random, ["red", "blue", ""]);
  const labels = colour === "" ? {} : { labels: { colour } };
  const object = widget(name, { ...labels, shelf: pick(random, ["1", "2"]), size: random.below(3) });
  const place = { ...WIDGETS, namespace };
  const action = random.below(4);
  try {
    const answer =
      action === 0
        ? await transport.request({ ...place, verb: "create", object })
        : action === 1
          ? await transport.request({ ...place, verb: "delete", name })
          : await transport.request({ ...place, verb: "update", name, object });
    assert(answer.is === "object");
    const known = history.some((happened) => happened.object.metadata.resourceVersion === answer.object.metadata.resourceVersion);
    // An update that changes nothing writes nothing.
    if (!known) history.push({ type: action === 1 ? "delete" : "put", object: answer.object });
  } catch (error) {
    assert.match((error as { reason: string }).reason, /^(AlreadyExists|NotFound|Conflict)$/);
  }
}

interface Watcher {
  readonly wanted: Wanted;
  readonly start: { readonly after: number; readonly withInitial: boolean };
  readonly call: WatchCall;
}

async function startWatcher(server: StartedServer, random: Random, history: readonly Happened[]): Promise<Watcher> {
  const wanted: Wanted = { namespace: pick(random, ["", ...NAMESPACES]), ...pick(random, SELECTORS) };
  const now = await server.store.currentRevision();
  const past = history.length === 0 || random.below(2) === 0 ? now : revisionOf(pick(random, history).object);
  const withInitial = random.below(3) === 0;
  const version = withInitial ? pick(random, ["", "&resourceVersion=0"]) : `&resourceVersion=${past}`;
  const path = wanted.namespace === "" ? "/apis/example.com/v1/widgets" : `/apis/example.com/v1/namespaces/${wanted.namespace}/widgets`;
  const call = await server.watch(`${path}?watch=1${version}&${wanted.query}`);
  if (random.below(3) === 0) call.hold(SLOW_BYTES);
  return { wanted, start: { after: withInitial ? now : past, withInitial }, call };
}

async function startWithWidgets(clock = virtualClock(), store = memoryStore(clock)): Promise<StartedServer> {
  const server = await startServer({ clock, store });
  server.server.endpoints.add(widgetResource(), widgetSchemas);
  return server;
}

async function runModel(seed: number): Promise<void> {
  await using server = await startWithWidgets();
  const random = seededRandom(seed);
  const transport = server.transport();
  const history: Happened[] = [];
  const watchers: Watcher[] = [];
  await transport.request({ ...WIDGETS, verb: "list" });

  for (let step = 0; step < 20; step++) {
    if (random.below(2) === 0) watchers.push(await startWatcher(server, random, history));
    // Several at once, so that they overtake each other; watchers start in the middle, or read history first.
    await Promise.all(Array.from({ length: 1 + random.below(4) }, () => write(transport, random, history)));
    if (random.below(3) === 0) await server.clock.settle();
    for (const { call } of watchers) if (random.below(4) === 0) call.drain();
  }
  await settled(server, watchers);

  for (const { wanted, start, call } of watchers) {
    const seen = call.events.map(({ type, object }) => line(type, object as Widget));
    assert.deepEqual(seen, expectedLines(history, wanted, start), `seed ${seed}: ${JSON.stringify({ wanted, start })}`);
    assert.equal(call.isEnded, false);
  }
}

/** Until no work is pending. */
async function settled(server: StartedServer, watchers: readonly Watcher[]): Promise<void> {
  for (let before = -1, now = 0; before !== now;) {
    before = now;
    for (const { call } of watchers) call.drain();
    await server.clock.settle();
    now = watchers.reduce((total, { call }) => total + call.chunks.length, 0);
  }
}

test("every watch delivers exactly the matching changes after its start, once and in order", async () => {
  for (let round = 0; round < rounds({ quick: 25, full: 2_000 }); round++) await runModel(testSeed() * 10_000 + round);
});

async function put(server: StartedServer, name: string, object: JsonObject = {}): Promise<Widget> {
  const path = "/apis/example.com/v1/namespaces/default/widgets";
  const created = await server.call("POST", path, widget(name, object));
  if (created.code === 201) return created.body as Widget;
  const updated = await server.call("PUT", `${path}/${name}`, widget(name, object));
  assert.equal(updated.code, 200, updated.text);
  return updated.body as Widget;
}

const ALL = "/apis/example.com/v1/widgets?watch=1";
const CHANGES = 1_200;

test("a watcher that is far behind receives all of the history, at its own pace", async () => {
  await using server = await startWithWidgets();
  const first = await put(server, "a", { size: 0 });
  await put(server, "a", { size: 1 });
  const call = await server.watch(`${ALL}&resourceVersion=${first.metadata.resourceVersion}`);
  call.hold(SLOW_BYTES);
  await server.clock.settle();
  // More than the store buffers for one watch with a slow reader.
  const transport = server.transport();
  const place = { ...WIDGETS, verb: "update", namespace: "default", name: "a" } as const;
  for (let size = 2; size <= CHANGES; size++) await transport.request({ ...place, object: widget("a", { size }) });
  await server.clock.settle();
  const before = call.events.length;

  await settled(server, [{ call } as Watcher]);

  assert.equal(before, 1);
  assert.deepEqual(
    call.events.map(({ object }) => (object as Widget).spec?.size),
    Array.from({ length: CHANGES }, (_, index) => index + 1),
  );
  await put(server, "a", { size: CHANGES + 1 });
  assert.equal(call.events.length, CHANGES + 1);
  assert.equal(server.server.endpoints.find("example.com", "v1", "widgets")?.storage.cache.watchers, 1);
});

test("a watcher that does not read live events is disconnected without affecting others", async () => {
  await using server = await startWithWidgets();
  const [slow, quick] = [await server.watch(ALL), await server.watch(ALL)];
  await server.clock.settle();
  slow.hold(17 * 1024 * 1024);

  await put(server, "a");
  await put(server, "b");

  assert.deepEqual([slow.isAborted, slow.events.length], [true, 1]);
  assert.deepEqual([quick.isEnded, quick.events.length], [false, 2]);
});

test("a watch from a compacted resourceVersion ends with a 410 error event", async () => {
  await using server = await startWithWidgets();
  const first = await put(server, "a");
  await put(server, "b");
  const last = await put(server, "c");
  await server.store.compact(Number(last.metadata.resourceVersion));

  const call = await server.watch(`${ALL}&resourceVersion=${first.metadata.resourceVersion}`);
  await server.clock.settle();

  assert.deepEqual(
    call.events.map(({ type, object }) => [type, (object as JsonObject)["code"], (object as JsonObject)["reason"]]),
    [["ERROR", 410, "Expired"]],
  );
  assert.equal(call.isEnded, true);
});

test("a watch with allowWatchBookmarks receives a bookmark every minute, with a resourceVersion to resume from", async () => {
  await using server = await startWithWidgets();
  const [wanting, other] = [await server.watch(`${ALL}&allowWatchBookmarks=1`), await server.watch(ALL)];
  await server.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "other" } });

  await server.clock.advance(60_000);
  await server.clock.advance(60_000);

  const now = String(await server.store.currentRevision());
  assert.deepEqual(
    wanting.events.map(({ type, object }) => [type, (object as KubeObject).kind, (object as KubeObject).metadata]),
    Array.from({ length: 2 }, () => ["BOOKMARK", "Widget", { resourceVersion: now }]),
  );
  assert.equal(other.events.length, 0);
});

test("a watch that resumes after a restart and missed nothing receives bookmarks", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const maps = "/api/v1/namespaces/default/configmaps";
  const first = await startServer({ clock, store });
  const made = await first.call("POST", maps, { metadata: { name: "a" } });
  await first.call("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "later" } });
  await first.server.close();
  await using second = await startServer({ clock, store });

  const version = String(made.body.metadata.resourceVersion);
  const call = await second.watch(`${maps}?watch=1&allowWatchBookmarks=1&resourceVersion=${version}`);
  await clock.advance(60_000);

  const now = String(await store.currentRevision());
  assert.deepEqual(
    call.events.map(({ type, object }) => [type, object.metadata.resourceVersion]),
    [["BOOKMARK", now]],
  );
});

test("an in-process receiver that fails later ends only its own watch", async () => {
  await using server = await startServer();
  const place = { group: "", version: "v1", plural: "configmaps", namespace: "default" };
  const heard: string[] = [];
  const transport = server.transport();
  const failing = (): unknown => Promise.reject(new Error("rejected by the receiver"));
  await transport.watch(place, { event: failing, ended: () => void heard.push("failing ended") });
  await transport.watch(place, { event: ({ type }) => void heard.push(type), ended() {} });
  await server.clock.settle();

  for (const name of ["a", "b"]) await transport.request({ ...place, verb: "create", object: { metadata: { name } } });
  await server.clock.settle();

  assert.deepEqual(heard.toSorted(), ["ADDED", "ADDED", "failing ended"]);
});

test("initial events come in order, then a bookmark, then the changes made meanwhile", async () => {
  await using server = await startWithWidgets();
  for (const name of ["b", "a"]) await put(server, name);
  const at = await server.store.currentRevision();
  const call = await server.watch(`${ALL}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`);
  await put(server, "c");

  await server.clock.settle();

  assert.deepEqual(
    call.events.map(({ type, object }) => [type, (object as KubeObject).metadata.name ?? (object as KubeObject).metadata.resourceVersion]),
    [
      ["ADDED", "a"],
      ["ADDED", "b"],
      ["BOOKMARK", String(at)],
      ["ADDED", "c"],
    ],
  );
  assert.deepEqual((call.events[2]!.object as KubeObject).metadata.annotations, { "k8s.io/initial-events-end": "true" });
});

test("a watch ends cleanly after timeoutSeconds, and without it after 30 to 60 minutes", async () => {
  await using server = await startWithWidgets();
  const [short, long] = [await server.watch(`${ALL}&timeoutSeconds=5`), await server.watch(ALL)];

  await server.clock.advance(4_999);
  assert.equal(short.isEnded, false);
  await server.clock.advance(1);
  assert.deepEqual([short.isEnded, short.isAborted, short.events.length], [true, false, 0]);
  await server.clock.advance(1_790_000);
  assert.equal(long.isEnded, false);
  await server.clock.advance(1_810_000);
  assert.equal(long.isEnded, true);
});

test("when the server stops, all watches end cleanly, also those that have not started", async () => {
  const server = await startWithWidgets();
  const running = await server.watch(ALL);
  await server.clock.settle();
  const unbegun = await server.watch(ALL);

  await server.server.close();
  await server.clock.settle();

  assert.deepEqual(
    [running, unbegun].map(({ isEnded, isAborted }) => [isEnded, isAborted]),
    [
      [true, false],
      [true, false],
    ],
  );
  await server[Symbol.asyncDispose]();
});

test("a watch whose events cannot be encoded ends without affecting others", async () => {
  await using server = await startWithWidgets();
  // The test kind cannot be encoded as protobuf.
  const cannot = await server.watch(ALL, { accept: "application/vnd.kubernetes.protobuf;stream=watch" });
  const can = await server.watch(ALL);
  await server.clock.settle();

  await put(server, "a");
  await put(server, "b");

  assert.equal(cannot.isEnded, true);
  assert.deepEqual([can.isEnded, can.events.length], [false, 2]);
});

test("watchers of one change share the same encoded bytes", async () => {
  await using server = await startWithWidgets();
  const calls = [await server.watch(ALL), await server.watch(ALL), await server.watch(`${ALL}&labelSelector=colour`)];
  await server.clock.settle();

  await put(server, "a", { labels: { colour: "red" } });
  await put(server, "a", {});

  const [one, two, third] = calls.map(({ chunks }) => chunks);
  assert.equal(one![0], two![0]);
  assert.equal(one![0], third![0], "both see ADDED");
  assert.notEqual(one![1], third![1], "one sees MODIFIED, the other DELETED");
});

test("a watch does not repeat events that it delivered before the cache received them", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  const late: (() => void)[] = [];
  let isBehind = false;
  // The store is shared with other writers and does not report a watch's progress, so objects are read from it, not from the cache.
  const store: Store = wrappedStore(memory, {
    capabilities: { ...memory.capabilities, shared: true, progress: false },
    watch(prefix, options, listener) {
      const changes = (all: readonly Change[]) => (isBehind ? void late.push(() => void listener.changes(all)) : listener.changes(all));
      return memory.watch(prefix, options, { changes, ended: (end) => listener.ended(end) });
    },
  });
  await using server = await startWithWidgets(clock, store);
  await server.call("GET", "/apis/example.com/v1/widgets");
  isBehind = true;
  await put(server, "a", { size: 1 });
  const call = await server.watch(ALL);
  await clock.settle();
  const shown = call.events.length;

  isBehind = false;
  for (const deliver of late.splice(0)) deliver();
  await put(server, "a", { size: 2 });

  assert.equal(shown, 1);
  assert.deepEqual(
    call.events.map(({ type, object }) => `${type} ${object.spec.size}`),
    ["ADDED 1", "MODIFIED 2"],
  );
});

test("history that was cut off because its reader was slow resumes where it stopped", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let slowWatches = 0;
  const store: Store = wrappedStore(memory, {
    watch(prefix, options, listener) {
      if (slowWatches === 0) return memory.watch(prefix, options, listener);
      slowWatches--;
      void Promise.resolve().then(() => listener.ended({ reason: "slow" }));
      return { requestProgress() {}, close() {} };
    },
  });
  await using server = await startWithWidgets(clock, store);
  const first = await put(server, "a", { size: 0 });
  for (const size of [1, 2]) await put(server, "a", { size });

  slowWatches = 3;
  const call = await server.watch(`${ALL}&resourceVersion=${first.metadata.resourceVersion}`);
  await clock.settle();
  await put(server, "a", { size: 3 });

  assert.equal(slowWatches, 0);
  assert.deepEqual(
    call.events.map(({ object }) => object.spec.size),
    [1, 2, 3],
  );
  assert.equal(call.isEnded, false);
});

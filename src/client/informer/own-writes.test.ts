import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ConfigMap, Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { TransportEvent } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { byteWire, UNBROKEN } from "../../testing/fixtures/byte-wire.ts";
import { driven } from "../../testing/driven.ts";
import { given } from "../../testing/given.ts";
import type { Client, Draft } from "../client.ts";
import { createClient } from "../rest-client.ts";
import { createInformers } from "./informers.ts";
import { ownWrites } from "./own-writes.ts";
import { readerOf } from "./reader.ts";
import { buildPod } from "../../api/testing/pod.ts";

const KEY = { namespace: "default", name: "a" };

function map(data: Readonly<Record<string, string>> = {}): Draft<ConfigMap> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: KEY, data };
}

function pod(): Draft<Pod> {
  return buildPod({ metadata: KEY });
}

const LATE_MS = 500;

/** Events are half a second late, responses immediate. */
async function lateWorld() {
  const wire = await byteWire();
  const { clock } = wire;
  wire.fateOf = () => ({ ...UNBROKEN, delayMs: LATE_MS });
  const informers = createInformers({ transport: wire.transport, clock, random: seededRandom(1), log: silentLogger });
  informers.of(configMaps);
  informers.of(pods);
  await clock.advance(10 * LATE_MS);
  const client = createClient(wire.transport);
  /** Resolves with the duration and the result, under virtual time. */
  const timed = async <T>(work: Promise<T>): Promise<{ readonly took: number; readonly value: T }> => {
    const startMs = clock.monotonic();
    let tookMs: number | undefined;
    const ended = work.finally(() => (tookMs = clock.monotonic() - startMs));
    ended.catch(() => undefined);
    while (tookMs === undefined && clock.monotonic() - startMs < 10_000) await clock.advance(LATE_MS / 10);
    return { took: tookMs ?? Infinity, value: await ended };
  };
  return {
    wire,
    clock,
    client,
    informers,
    timed,
    read: readerOf(informers),
    write: ownWrites(client, informers),
    async [Symbol.asyncDispose]() {
      await informers.close();
      await wire[Symbol.asyncDispose]();
    },
  };
}

const WRITES: readonly (readonly [string, (write: Client, current: ConfigMap) => Promise<ConfigMap>])[] = [
  ["update", (write, current) => write.update(configMaps, { ...current, data: { x: "1" } })],
  ["patch", (write) => write.patch(configMaps, KEY, { type: "merge", value: { data: { x: "1" } } })],
  ["apply", (write) => write.apply(configMaps, map({ x: "1" }), { fieldManager: "me", force: true })],
  ["a client with defaults", (write, current) => write.with({ fieldManager: "me" }).update(configMaps, { ...current, data: { x: "1" } })],
];

test("create resolves when the informer shows the object", async () => {
  await using world = await lateWorld();
  const { took, value } = await world.timed(world.write.create(configMaps, map()));

  assert(took >= LATE_MS);
  assert.equal(world.read.get(configMaps, KEY)?.metadata.resourceVersion, value.metadata.resourceVersion);
});

for (const [what, change] of WRITES) {
  test(`a change resolves when the informer shows it: ${what}`, async () => {
    await using world = await lateWorld();
    const { value: current } = await world.timed(world.write.create(configMaps, map()));
    const { took } = await world.timed(change(world.write, current));

    assert(took >= LATE_MS);
    assert.deepEqual(world.read.get(configMaps, KEY)?.data, { x: "1" });
  });
}

test("writes without effect and dry runs are not waited for", async () => {
  await using world = await lateWorld();
  const { value: current } = await world.timed(world.write.create(configMaps, map()));
  const dryRun = ["All"];

  for (const work of [
    () => world.write.update(configMaps, current),
    () => world.write.update(configMaps, { ...current, data: { x: "1" } }, { dryRun }),
    () => world.write.delete(configMaps, KEY, { dryRun }),
    () => world.write.deleteCollection(configMaps, { namespace: "default", dryRun }),
  ]) {
    assert.equal((await world.timed<unknown>(work())).took, 0);
  }
});

test("delete resolves when the informer no longer shows the object", async () => {
  await using world = await lateWorld();
  await world.timed(world.write.create(configMaps, map()));
  const { took } = await world.timed(world.write.delete(configMaps, KEY));

  assert(took >= LATE_MS);
  assert.equal(world.read.get(configMaps, KEY), undefined);
});

test("delete of an object with finalizers resolves when it is shown as terminating", async () => {
  await using world = await lateWorld();
  await world.timed(world.write.create(configMaps, { ...map(), metadata: { ...KEY, finalizers: ["example.com/hold"] } }));
  const { took } = await world.timed(world.write.delete(configMaps, KEY));

  assert(took >= LATE_MS);
  assert.notEqual(world.read.get(configMaps, KEY)?.metadata.deletionTimestamp, undefined);
});

test("deleteCollection resolves when none of the removed objects is shown", async () => {
  await using world = await lateWorld();
  for (const name of ["a", "b", "c"]) {
    const labels = { labels: { keep: String(name === "c") } };
    await world.timed(world.write.create(configMaps, { ...map(), metadata: { namespace: "default", name, ...labels } }));
  }
  const { took } = await world.timed(world.write.deleteCollection(configMaps, { namespace: "default", labelSelector: "keep=false" }));

  assert(took >= LATE_MS);
  assert.deepEqual(
    world.read.list(configMaps, "default").map(({ metadata }) => metadata.name),
    ["c"],
  );
});

test("an eviction resolves when the Pod is removed or terminating; a binding when it shows its node", async () => {
  await using world = await lateWorld();
  await world.timed(world.write.create(pods, pod()));
  const target = { apiVersion: "v1", kind: "Node", name: "n1" };
  const binding = { apiVersion: "v1", kind: "Binding", metadata: KEY, target };
  const bound = await world.timed(world.write.post(pods, KEY, "binding", binding));
  assert(bound.took >= LATE_MS);
  assert.equal(world.read.get(pods, KEY)?.spec?.nodeName, "n1");

  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: KEY };
  const evicted = await world.timed(world.write.post(pods, KEY, "eviction", eviction));

  assert(evicted.took >= LATE_MS);
  const left = world.read.get(pods, KEY);
  assert(left === undefined || left.metadata.deletionTimestamp !== undefined);
});

test("waiting is cancelled by the signal of the call or of the client", async () => {
  await using world = await lateWorld();
  for (const how of ["call", "client"] as const) {
    const stop = new AbortController();
    const { signal } = stop;
    const write = how === "client" ? world.write.with({ signal }) : world.write;
    const creating = write.create(
      configMaps,
      { ...map(), metadata: { namespace: "default", name: how } },
      how === "call" ? { signal } : {},
    );
    creating.catch(() => undefined);
    await world.clock.settle();

    stop.abort(new Error("Enough"));

    await assert.rejects(driven(world.clock, creating), /Enough/);
  }
});

test("kinds without an informer are not waited for", async () => {
  await using world = await lateWorld();
  const informers = createInformers({ transport: world.wire.transport, clock: world.clock, random: seededRandom(1), log: silentLogger });
  assert.equal((await world.timed(ownWrites(world.client, informers).create(configMaps, map()))).took, 0);
});

/** Events are held back until `release` is called. */
async function deafWorld() {
  const cluster = await given(map());
  const inner = cluster.server.transport();
  let held: (() => void)[] | undefined;
  const transport: typeof inner = {
    ...inner,
    watch: (request, listener) =>
      inner.watch(request, {
        ...listener,
        event: (event: TransportEvent) => (held === undefined ? listener.event(event) : void held.push(() => listener.event(event))),
      }),
  };
  const { clock } = cluster;
  const informers = createInformers({ transport, clock, random: seededRandom(1), log: silentLogger });
  informers.of(configMaps);
  await clock.settle();
  held = [];
  return {
    cluster,
    clock,
    write: ownWrites(createClient(inner), informers),
    release() {
      for (const deliver of held ?? []) deliver();
      held = undefined;
    },
    /** The rejection after that time. */
    async failure(work: Promise<unknown>, afterMs: number): Promise<Error | undefined> {
      let failure: Error | undefined;
      void work.catch((error: Error) => (failure = error));
      await clock.advance(afterMs);
      return failure;
    },
    async [Symbol.asyncDispose]() {
      await informers.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

const UNSEEN: readonly (readonly [string, (write: Client) => Promise<unknown>])[] = [
  ["created", (write) => write.create(configMaps, { ...map(), metadata: { namespace: "default", name: "b" } })],
  ["changed", (write) => write.patch(configMaps, KEY, { type: "merge", value: { data: { x: "1" } } })],
  ["deleted", (write) => write.delete(configMaps, KEY)],
  ["deleted with others", (write) => write.deleteCollection(configMaps, { namespace: "default" })],
];

for (const [what, work] of UNSEEN) {
  test(`what was ${what} and is not shown after a minute is reported as written; further writes are rejected until it is shown`, async () => {
    await using world = await deafWorld();
    const writing = work(world.write);
    assert.equal(await world.failure(writing, 59_999), undefined);
    const failure = await world.failure(writing, 1);
    assert(isReason(failure, "Timeout"));
    assert.match(failure.message, /^Wrote configmaps "[ab]", but what is followed does not show it after 60 s$/);

    const another = () => world.write.with({}).create(configMaps, { ...map(), metadata: { namespace: "default", name: "c" } });
    assert.match(String(await world.failure(another(), 0)), /Cannot write configmaps: what was written before is not seen yet/);
    const names = async () => (await world.cluster.list(configMaps, "default")).map(({ metadata }) => metadata.name);
    assert.equal((await names()).includes("c"), false);

    world.release();
    await world.clock.settle();
    await driven(world.clock, another());
    assert((await names()).includes("c"));
  });
}

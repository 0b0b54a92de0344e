import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Store } from "../../store/store.ts";
import { CachedObjects } from "./cached-objects.ts";
import { admittingContext, admittingServer } from "../testing/admitting-server.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";

const MAPS = { group: "", plural: "configmaps" };

/** Two servers on one store: one writes, the other reads. */
function setUp(store: Store = memoryStore(virtualClock())) {
  const { objects } = admittingContext({ plugins: [], store });
  return { objects, writer: admittingServer({ plugins: [], store }) };
}

async function make(writer: Transport, name: string, namespace = "n"): Promise<void> {
  const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } };
  await writer.request({ verb: "create", ...MAPS, version: "v1", namespace, object: object });
}

function remove(writer: Transport, name: string, namespace = "n"): Promise<unknown> {
  return writer.request({ verb: "delete", ...MAPS, version: "v1", namespace, name });
}

const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

test("a loaded kind is readable from memory by name and by namespace", async () => {
  const { objects, writer } = setUp();
  await make(writer, "b");
  await make(writer, "a");
  await make(writer, "c", "other");
  const a = { namespace: "n", name: "a" };

  assert.equal(objects.cached(MAPS, a), undefined, "not loaded yet");
  assert.equal((await objects.get<KubeObject>(MAPS, a))?.metadata.name, "a");
  assert.equal(objects.cached<KubeObject>(MAPS, a)?.metadata.name, "a");
  assert.deepEqual(names(await objects.list(MAPS, "n")), ["a", "b"]);
  assert.deepEqual(names(await objects.listExact(MAPS, "")), ["a", "b", "c"]);
  assert.equal(await objects.getExact(MAPS, { namespace: "n", name: "nope" }), undefined);
});

test("a follower receives all present objects, then each change in order", async () => {
  const { objects, writer } = setUp();
  await make(writer, "a");
  const received: string[] = [];

  await objects.follow(MAPS, {
    put: ({ metadata }, previous) => void received.push(`${previous === undefined ? "new" : "changed"} ${metadata.name}`),
    remove: ({ metadata }) => void received.push(`deleted ${metadata.name}`),
    reset: () => void received.push("reset"),
  });
  await make(writer, "b");
  const labels = { metadata: { labels: { x: "y" } } };
  await writer.request({ verb: "patch", ...MAPS, version: "v1", namespace: "n", name: "b", patch: { type: "merge", value: labels } });
  await remove(writer, "a");

  assert.deepEqual(received, ["reset", "new a", "new b", "changed b", "deleted a"]);
});

test("a follower follows the resource that replaced its own, however early", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const store = memoryStore(virtualClock());
    const { objects, endpoints, schemas } = admittingContext({ plugins: [], store });
    const writer = admittingServer({ plugins: [], store });
    const followed = new Set<string>();

    const following = objects.follow(MAPS, {
      put: ({ metadata }) => void followed.add(metadata.name),
      remove: ({ metadata }) => void followed.delete(metadata.name),
      reset: () => followed.clear(),
    });
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    // The second change closes the storage that the first one replaced.
    for (let change = 0; change < 2; change++) {
      const { resource } = endpoints.stored(MAPS.group, MAPS.plural)!;
      endpoints.replace(resource, { ...resource }, schemas);
    }
    await following;
    await make(writer, "a");
    await objects.listExact(MAPS, "");

    assert.deepEqual([...followed], ["a"], `replaced after ${turns} ticks`);
  }
});

test("reads go to the store if it does not report watch progress", async () => {
  const store = memoryStore(virtualClock());
  const shared = wrappedStore(store, {
    capabilities: { ...store.capabilities, shared: true, progress: false },
    // A watch that never delivers writes of other servers.
    watch: () => ({ close() {}, requestProgress() {} }),
  });
  const { objects } = admittingContext({ plugins: [], store: shared });
  const writer = admittingServer({ plugins: [], store });
  await objects.load(MAPS);
  await make(writer, "a");

  assert.deepEqual(names(await objects.list(MAPS, "n")), []);
  assert.deepEqual(names(await objects.listExact(MAPS, "n")), ["a"]);
  assert.equal((await objects.get<KubeObject>(MAPS, { namespace: "n", name: "a" }))?.metadata.name, "a");
});

test("reading a resource that is not served fails and names it", async () => {
  const { endpoints } = admittingContext({ plugins: [] });
  await assert.rejects(
    new CachedObjects(endpoints).list({ group: "", plural: "nothings" }, ""),
    /Cannot read nothings of group "": the resource is not served/,
  );
});

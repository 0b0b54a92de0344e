import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { byteWire } from "../../testing/fixtures/byte-wire.ts";
import { given } from "../../testing/given.ts";
import type { ResourceKind } from "../client.ts";
import { createClient } from "../rest-client.ts";
import { defineIndex } from "./index.ts";
import type { InformerHandler } from "./informer.ts";
import { createInformers } from "./informers.ts";
import { ownWrites } from "./own-writes.ts";
import { readerOf } from "./reader.ts";

function map(name: string, data: Readonly<Record<string, string>> = {}, namespace = "default") {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data } as const;
}

/** One word per call. */
function recorder(lines: string[]): InformerHandler<ConfigMap> {
  const say = (is: string, { metadata, data }: ConfigMap) => void lines.push(`${is} ${metadata.name} ${JSON.stringify(data ?? {})}`);
  return {
    added: (object) => say("added", object),
    updated: (object) => say("updated", object),
    deleted: (object) => say("deleted", object),
  };
}

async function started(...objects: readonly object[]) {
  const cluster = await given(...objects);
  const transport = cluster.server.transport();
  const informers = createInformers({ transport, clock: cluster.clock, random: seededRandom(1), log: silentLogger });
  return {
    cluster,
    informers,
    read: readerOf(informers),
    write: ownWrites(createClient(transport), informers),
    async [Symbol.asyncDispose]() {
      await informers.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

test("an informer shows existing objects, then changes, in order and before the write is answered", async () => {
  await using world = await started(map("b"), map("a"));
  const informer = world.informers.of(configMaps);
  const lines: string[] = [];
  informer.listen(recorder(lines));
  await world.cluster.settled();
  assert(informer.isSynced);
  assert.deepEqual(lines, ["added a {}", "added b {}"]);
  lines.length = 0;

  const created = await world.write.create(configMaps, map("c"));
  assert.equal(world.read.get(configMaps, { namespace: "default", name: "c" }), created);
  await world.write.update(configMaps, { ...created, data: { x: "1" } });
  await world.write.delete(configMaps, { namespace: "default", name: "c" });

  assert.deepEqual(lines, ["added c {}", 'updated c {"x":"1"}', 'deleted c {"x":"1"}']);
  assert.equal(world.read.get(configMaps, { namespace: "default", name: "c" }), undefined);
});

test("an in-process write is visible in the informer when it is answered, so that nothing is waited for", async () => {
  await using world = await started();
  const informer = world.informers.of(configMaps);
  await world.cluster.settled();

  const created = await createClient(world.cluster.server.transport()).create(configMaps, map("a"));

  assert.equal(informer.reached(created.metadata.resourceVersion ?? ""), undefined);
});

test("a kind and scope have one informer, however often and by whichever kind value it is requested", async () => {
  await using world = await started();
  const sameKind: ResourceKind<ConfigMap> = {
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
    storage: { group: "", version: "v1" },
  };
  assert.equal(world.informers.running(configMaps), undefined);
  const whole = world.informers.of(configMaps);
  const part = world.informers.of(configMaps, { namespace: "default" });

  assert.equal(world.informers.of(sameKind), whole);
  assert.equal(world.informers.running(sameKind), whole);
  assert.equal(world.informers.of(configMaps, { namespace: "default" }), part);
  assert.notEqual(part, whole);
});

test("an informer of a scope shows objects that enter and leave the scope", async () => {
  await using world = await started(map("plain"), {
    ...map("red"),
    metadata: { name: "red", namespace: "default", labels: { colour: "red" } },
  });
  const informer = world.informers.of(configMaps, { namespace: "default", labelSelector: "colour=red" });
  const lines: string[] = [];
  informer.listen(recorder(lines));
  await world.cluster.settled();
  const paint = (name: string, colour: string | null) =>
    world.write.patch(configMaps, { namespace: "default", name }, { type: "merge", value: { metadata: { labels: { colour } } } });

  await paint("plain", "red");
  await paint("red", null);
  await paint("red", "red");

  assert.deepEqual(lines, ["added red {}", "added plain {}", "deleted red {}", "added red {}"]);
  assert.deepEqual(
    informer.list().map(({ metadata }) => metadata.name),
    ["plain", "red"],
  );
});

test("a reader finds objects by index, by controller and without a controller", async () => {
  const controller = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "u1", controller: true };
  const owned = { ...map("owned"), metadata: { name: "owned", namespace: "default", ownerReferences: [controller] } };
  await using world = await started(map("free", { colour: "red" }), owned);
  world.informers.of(configMaps);
  await world.cluster.settled();
  const { read } = world;
  const byColour = defineIndex(configMaps, ({ data }) => (data?.["colour"] === undefined ? [] : [data["colour"]]));
  const names = (objects: readonly ConfigMap[]) => objects.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith("kube-"));
  const owner = { ...map("owner"), metadata: { name: "owner", uid: "u1" } };

  assert.deepEqual(names(read.indexed(byColour, "red")), ["free"]);
  assert.deepEqual(names(read.controlledBy(configMaps, owner)), ["owned"]);
  assert.deepEqual(names(read.uncontrolled(configMaps, "default")), ["free"]);
  await world.write.create(configMaps, map("more", { colour: "red" }));
  assert.deepEqual(names(read.indexed(byColour, "red")), ["free", "more"]);
});

test("reading a kind that is not watched throws an error that names it", async () => {
  await using world = await started();
  assert.throws(() => world.read.list(configMaps), /who reads configmaps watches them/);
});

test("an informer resumes after a server restart on the same store", async () => {
  await using wire = await byteWire();
  const informers = createInformers({ transport: wire.transport, clock: wire.clock, random: seededRandom(1), log: silentLogger });
  const informer = informers.of(configMaps);
  await wire.clock.settle();

  await wire.stopServer();
  await wire.clock.advance(60_000);
  await wire.startServer();
  await createClient(wire.direct()).create(configMaps, map("a"));
  await wire.clock.advance(30_000);

  assert.deepEqual(
    informer.list().map(({ metadata }) => metadata.name),
    ["a"],
  );
  await informers.close();
});

test("after closing no informer is started", async () => {
  await using world = await started();
  await world.informers.close();
  assert.throws(() => world.informers.of(configMaps), /nothing is begun/);
});

test("a stopped informer is silent, rejects its waiters, and is restarted on request", async () => {
  await using world = await started(map("a"));
  const whole = world.informers.of(configMaps);
  const part = world.informers.of(configMaps, { namespace: "default" });
  const lines: string[] = [];
  part.listen(recorder(lines));
  await world.cluster.settled();
  lines.length = 0;
  const waiting = part.reached("999999");

  await world.informers.end(configMaps, { namespace: "default" });
  await assert.rejects(async () => waiting, /their informer is closed/);
  await world.write.create(configMaps, map("b"));
  assert.deepEqual([lines, world.informers.running(configMaps)], [[], whole]);

  const again = world.informers.of(configMaps, { namespace: "default" });
  await world.cluster.settled();
  assert.notEqual(again, part);
  assert.deepEqual([again.isSynced, again.list().length], [true, 2]);

  await world.informers.end(configMaps);
  await world.informers.end(configMaps);
  assert.deepEqual([world.informers.running(configMaps), world.read.knows(configMaps)], [undefined, false]);
});

test("a stopped informer sends no more requests, although the kind no longer exists", async () => {
  await using world = await started();
  let asked = 0;
  const refused = () => (asked++, Promise.reject(new StatusError("NotFound", "the server could not find the requested resource")));
  const transport = { ...world.cluster.server.transport(), watch: refused, request: refused };
  const informers = createInformers({ transport, clock: world.cluster.clock, random: seededRandom(1), log: silentLogger });
  informers.of(configMaps);
  await world.cluster.clock.advance(100_000);
  assert(asked > 2);

  await informers.end(configMaps);
  const askedBefore = asked;
  await world.cluster.clock.advance(1_000_000);
  assert.equal(asked, askedBefore);
});

/** The same over real sockets: content and handler calls are correct wherever the connections are cut. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { TransportEvent } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { pick, seededRandom } from "../../base/random.ts";
import { startHttpsWire, type HttpsWire } from "../../testing/servers/https-wire.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { createClient } from "../rest-client.ts";
import { createInformers } from "./informers.ts";
import { ownWrites } from "./own-writes.ts";
import { withGapBook } from "./testing/gap-book.ts";
import { expectedLines, deliveredLines, type Gap, type Happened } from "./testing/expected-calls.ts";

const NAMESPACE = "torture";
const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: NAMESPACE } as const;
const seed = testSeed();

/** The events as seen over an uninterrupted connection. */
async function historian({
  direct,
}: HttpsWire): Promise<{ readonly history: readonly Happened[]; received(revision: number): Promise<void> }> {
  const history: Happened[] = [];
  let wake = (): void => {};
  const note = (event: TransportEvent): void => {
    assert.notEqual(event.type, "ERROR");
    if (event.type === "BOOKMARK" || event.type === "ERROR") return;
    const { namespace, name, uid = "", resourceVersion } = event.object.metadata;
    history.push({ is: event.type === "DELETED" ? "deleted" : "put", key: `${namespace}/${name}`, uid, revision: Number(resourceVersion) });
    wake();
  };
  const options = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
  await direct.watch({ ...MAPS, options }, { event: note, ended() {} });
  return {
    history,
    async received(revision) {
      while ((history.at(-1)?.revision ?? 0) < revision) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

test("an informer over HTTPS whose connections break repeatedly delivers every change once and in order", async () => {
  await using wire = await startHttpsWire();
  await wire.server.makeNamespace(NAMESPACE);
  const random = seededRandom(seed);
  const { history, received } = await historian(wire);
  const gaps: Gap[] = [];
  const delivered: string[] = [];
  const transport = withGapBook(wire.breakable, gaps, () => informer.revision);
  await using informers = createInformers({ transport, clock: wire.clock, random, log: silentLogger });
  const informer = informers.of(configMaps, { namespace: NAMESPACE });
  informer.listen(deliveredLines(delivered));
  const client = createClient(wire.direct);
  const last = () => client.list(configMaps, { namespace: NAMESPACE });
  const put = (name: string) => {
    const data = { of: pick(random, ["plain", "süß", "雪"]), n: String(random.below(1_000)), long: "x".repeat(random.below(20_000)) };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: NAMESPACE }, data } as const;
    return client.apply(configMaps, object, { fieldManager: "torture", force: true });
  };

  for (let cuts = rounds({ quick: 40, full: 1_000 }); cuts > 0; cuts--) {
    // A connection can be broken once something has arrived over it.
    const seen = await put("seen");
    await informer.reached(seen.metadata.resourceVersion ?? "");
    const writes = Array.from({ length: random.below(6) }, async () => {
      const name = pick(random, ["a", "b", "c", "d"]);
      if (random.below(3) > 0) return put(name);
      return client.delete(configMaps, { namespace: NAMESPACE, name }).catch(() => undefined);
    });
    // While some are in flight, so that events are cut in the middle.
    if (writes.length > 0) await Promise.race(writes);
    wire.proxy.breakConnections();
    await Promise.all(writes);
  }
  // The last change is one of these objects' own: then everything before has been delivered.
  const marker = await client.apply(
    configMaps,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "z", namespace: NAMESPACE } },
    { fieldManager: "torture" },
  );
  await Promise.all([informer.reached(marker.metadata.resourceVersion ?? ""), received(Number(marker.metadata.resourceVersion))]);

  assert.deepEqual(
    informer.list().map(({ metadata }) => metadata.resourceVersion),
    (await last()).items.map(({ metadata }) => metadata.resourceVersion),
  );
  assert.deepEqual(delivered, expectedLines(history, gaps), `seed ${seed}`);
  assert(wire.proxy.connections > rounds({ quick: 40, full: 1_000 }), "every cut broke a connection");
});

test("a client over HTTPS reads its own writes at once, also while connections break", async () => {
  await using wire = await startHttpsWire();
  await wire.server.makeNamespace(NAMESPACE);
  await using informers = createInformers({ transport: wire.breakable, clock: wire.clock, random: seededRandom(seed), log: silentLogger });
  const informer = informers.of(configMaps);
  await informer.synced();
  const write = ownWrites(createClient(wire.direct), informers);
  const key = { namespace: NAMESPACE, name: "a" };

  for (let round = rounds({ quick: 10, full: 200 }); round > 0; round--) {
    const created = write.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: key });
    if (round % 2 === 0) wire.proxy.breakConnections();
    const { metadata } = await created;
    assert.equal(informer.get(key)?.metadata.uid, metadata.uid);
    const changed = await write.patch(configMaps, key, { type: "merge", value: { data: { round: String(round) } } });
    assert.deepEqual(informer.get(key)?.data, changed.data);
    await write.delete(configMaps, key);
    assert.equal(informer.get(key), undefined);
  }
});

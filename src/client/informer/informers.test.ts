import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { given } from "../../testing/given.ts";
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

test("an informer shows what there is, then what happens, in order and before the write is answered", async () => {
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

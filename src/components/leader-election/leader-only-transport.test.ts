import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { createClient } from "../../client/rest-client.ts";
import type { TransportRequest } from "../../api/machinery/transport.ts";
import { given } from "../../testing/given.ts";
import { leaderOnlyTransport } from "./leader-only-transport.ts";

const KEY = { namespace: "default", name: "a" };
const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: KEY } as const;

test("a former leader is rejected for every writing verb, and can still read", async () => {
  await using cluster = await given();
  let isLeading = true;
  const client = createClient(leaderOnlyTransport(cluster.server.transport(), { isLeading: () => isLeading }));
  const map = await client.create(configMaps, MAP);

  isLeading = false;

  for (const write of [
    () => client.create(configMaps, { ...MAP, metadata: { ...KEY, name: "b" } }),
    () => client.update(configMaps, map),
    () => client.patch(configMaps, KEY, { type: "merge", value: {} }),
    () => client.delete(configMaps, KEY),
    () => client.deleteCollection(configMaps, { namespace: "default" }),
  ]) {
    await rejects(write(), (error) => isReason(error, "Conflict") && /is no longer the leader/.test(error.message));
  }
  equal(await client.get(configMaps, KEY), map);
  deepEqual((await client.list(configMaps, { namespace: "default" })).items, [map]);
  equal((await client.document("/version"))["major"], "1");
  (await client.watch(configMaps, {}, { event() {}, ended() {} })).stop();
});

test("writes carry the leadership they were sent under, reads do not", async () => {
  await using cluster = await given();
  const inner = cluster.server.transport();
  const sent: TransportRequest[] = [];
  const transport = { ...inner, request: (request: TransportRequest) => (sent.push(request), inner.request(request)) };
  const leadership = { namespace: "kube-system", name: "manager", holder: "a" };
  const client = createClient(leaderOnlyTransport(transport, { isLeading: () => true, leadership }));

  await rejects(client.create(configMaps, MAP), (error) => isReason(error, "Conflict") && /is not held by "a"/.test(error.message));
  await client.list(configMaps);

  deepEqual(
    sent.map((request) => request.leadership),
    [leadership, undefined],
  );
});

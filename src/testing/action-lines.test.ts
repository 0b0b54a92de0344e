import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import { createClient } from "../client/rest-client.ts";
import { linesOf } from "./action-lines.ts";
import { given } from "./given.ts";
import { withinRules } from "./within-rules.ts";

const KEY = { namespace: "default", name: "a" };
const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: KEY } as const;
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } } as const;
const POD = { apiVersion: "v1", kind: "Pod", metadata: KEY, spec: { containers: [{ name: "c", image: "i" }] } } as const;

test("linesOf writes one line per write in request order, with the reason of rejected ones, and none for reads", async () => {
  await using cluster = await given();
  const lines: string[] = [];
  const client = createClient(linesOf(cluster.server.transport(), lines));
  const map = await client.create(configMaps, MAP);
  await client.create(configMaps, { ...MAP, metadata: { namespace: "default", generateName: "b-" } });
  await client.get(configMaps, KEY);
  await client.list(configMaps);
  await client.update(configMaps, map);
  await client.patch(configMaps, KEY, { type: "merge", value: { data: { a: "b" } } });
  await client.apply(configMaps, MAP, { fieldManager: "me" });
  await client.create(nodes, NODE);
  const pod = await client.create(pods, POD);
  await client.updateStatus(pods, { ...pod, status: { phase: "Running" } });
  await client.patch(pods, KEY, { type: "merge", value: { status: { message: "m" } } }, { subresource: "status" });
  await client.post(pods, KEY, "eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } });
  // Independent of each other, since concurrent requests are executed in any order.
  await Promise.allSettled([client.create(nodes, NODE), client.delete(configMaps, KEY), client.delete(nodes, { name: "none" })]);
  await client.deleteCollection(configMaps, { namespace: "default" });

  deepEqual(lines, [
    "create configmaps default/a",
    "create configmaps default/b-*",
    "update configmaps default/a",
    'patch configmaps default/a {"data":{"a":"b"}}',
    `apply configmaps default/a ${JSON.stringify(MAP)}`,
    "create nodes n",
    "create pods default/a",
    'status pods default/a {"phase":"Running"}',
    'patch pods/status default/a {"status":{"message":"m"}}',
    "create pods/eviction default/a",
    "create nodes n -> AlreadyExists",
    "delete configmaps default/a",
    "delete nodes none -> NotFound",
    "deletecollection configmaps default",
  ]);
});

test("withinRules passes only requests that the controller's rules allow, and names the missing rule", async () => {
  await using cluster = await given(MAP, POD);
  const rules = [
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get"], resourceNames: ["a"] },
    { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  ];
  const client = createClient(withinRules(cluster.server.transport(), { name: "web", rules }));
  await client.get(configMaps, KEY);
  await client.post(pods, KEY, "eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } });

  for (const [ask, missing] of [
    [() => client.get(configMaps, { ...KEY, name: "b" }), "get configmaps"],
    [() => client.list(configMaps), "list configmaps"],
    [() => client.delete(pods, KEY), "delete pods"],
    [() => client.patch(pods, KEY, { type: "merge", value: {} }, { subresource: "status" }), "patch pods/status"],
    [
      () => client.create({ ...configMaps, plural: "widgets", storage: { group: "example.com", version: "v1" } }, MAP),
      "create widgets.example.com",
    ],
  ] as const) {
    await rejects(ask(), { reason: "Forbidden", message: `web lacks a rule to ${missing}` });
  }
});

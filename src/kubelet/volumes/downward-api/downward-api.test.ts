import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { downwardAPI } from "./downward-api.ts";

const LABELS = { path: "labels", fieldRef: { fieldPath: "metadata.labels" } };

volumeSuite({
  plugin: downwardAPI,
  source: { downwardAPI: { items: [LABELS] } },
  prepare: (world) => void (world.labels = { app: "web" }),
  change: (world) => void (world.labels = { app: "db" }),
  invalid: [
    {
      source: { downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "status.podIP" } }] } },
      message: "unsupported fieldPath: status.podIP",
    },
    {
      source: { downwardAPI: { items: [{ path: "x", resourceFieldRef: { containerName: "other", resource: "limits.cpu" } }] } },
      message: "container other not found",
    },
  ],
});

test("a downwardAPI volume has labels, fields of the Pod and resources of its containers", async () => {
  const world = new VolumeWorld();
  world.labels = { b: 'say "hi"\n', a: "1" };
  const resources = { limits: { cpu: "1250m" }, requests: { memory: "10Mi" } };
  world.spec = { containers: [{ name: "main", image: "i", resources }] };
  const items = [
    LABELS,
    { path: "name", fieldRef: { fieldPath: "metadata.name" }, mode: 0o400 },
    { path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu" } },
    { path: "memory", resourceFieldRef: { containerName: "main", resource: "limits.memory", divisor: "1Mi" } },
    { path: "request", resourceFieldRef: { containerName: "main", resource: "requests.memory", divisor: "1Mi" } },
  ];

  deepEqual(await world.filesOf(downwardAPI, { downwardAPI: { items } }), [
    "cpu 644 - 2",
    'labels 644 - a="1"\nb="say \\"hi\\"\\n"',
    "memory 644 - 8192",
    "name 400 - p",
    "request 644 - 10",
  ]);
});

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { configMap } from "./config-map.ts";

const ITEMS = [
  { key: "color", path: "color" },
  { key: "size", path: "size" },
];

function world(): VolumeWorld {
  const created = new VolumeWorld();
  prepare(created);
  return created;
}

function prepare({ configMaps }: VolumeWorld): void {
  configMaps.set("c", { data: { color: "blue", "shape.txt": "round" }, binaryData: { raw: encodeBase64(new Uint8Array([0, 255])) } });
}

volumeSuite({
  plugin: configMap,
  source: { configMap: { name: "c" } },
  prepare,
  change: ({ configMaps }) => void configMaps.set("c", { data: { color: "red" } }),
  invalid: [
    { source: { configMap: { name: "none" } }, message: 'configmap "none" not found' },
    { source: { configMap: { name: "c", items: ITEMS } }, message: "configmap references non-existent config key: size" },
    {
      source: { configMap: { name: "c", items: [{ key: "color", path: "../color" }] } },
      message: "invalid path: must not contain '..': ../color",
    },
  ],
});

test("a configMap volume has all keys, with the default mode", async () => {
  deepEqual(await world().filesOf(configMap, { configMap: { name: "c" } }), [
    "color 644 - blue",
    "raw 644 - [0,255]",
    "shape.txt 644 - round",
  ]);
});

test("a configMap volume with items has only those keys, at their paths and with their modes", async () => {
  const items = [
    { key: "color", path: "x/y" },
    { key: "raw", path: "r", mode: 0o400 },
  ];
  deepEqual(await world().filesOf(configMap, { configMap: { name: "c", items, defaultMode: 0o440 } }), [
    "r 400 - [0,255]",
    "x/y 440 - blue",
  ]);
});

test("an optional ConfigMap or key may be missing", async () => {
  deepEqual(await world().filesOf(configMap, { configMap: { name: "none", optional: true } }), []);
  deepEqual(await world().filesOf(configMap, { configMap: { name: "c", items: ITEMS, optional: true } }), ["color 644 - blue"]);
});

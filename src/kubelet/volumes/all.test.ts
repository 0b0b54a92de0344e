import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { all } from "./all.ts";
import { findPlugin } from "./framework/find-plugin.ts";

for (const [source, directory] of [
  [{ emptyDir: {} }, "kubernetes.io~empty-dir"],
  [{}, "kubernetes.io~empty-dir"],
  [{ hostPath: { path: "/x" } }, "kubernetes.io~host-path"],
  [{ configMap: {} }, "kubernetes.io~configmap"],
  [{ secret: {} }, "kubernetes.io~secret"],
  [{ downwardAPI: {} }, "kubernetes.io~downward-api"],
  [{ projected: {} }, "kubernetes.io~projected"],
] as const) {
  test(`a volume with ${JSON.stringify(source)} is in upstream's directory ${directory}`, () => {
    equal(findPlugin(all, { name: "v", ...source }).directory, directory);
  });
}

test("a volume of an unsupported kind is rejected with its name", () => {
  throws(() => findPlugin(all, { name: "v", persistentVolumeClaim: { claimName: "x" } }), {
    name: "VolumeError",
    message: "volumes of type persistentVolumeClaim are not supported by this version",
  });
});

test("no two plugins share a source or a directory", () => {
  equal(new Set(all.map(({ source }) => source)).size, all.length);
  equal(new Set(all.map(({ directory }) => directory)).size, all.length);
});

import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { all } from "./all.ts";
import { findPersistentPlugin, findPlugin } from "./framework/find-plugin.ts";

for (const [source, directory] of [
  [{ emptyDir: {} }, "kubernetes.io~empty-dir"],
  [{}, "kubernetes.io~empty-dir"],
  [{ hostPath: { path: "/x" } }, "kubernetes.io~host-path"],
  [{ configMap: {} }, "kubernetes.io~configmap"],
  [{ secret: {} }, "kubernetes.io~secret"],
  [{ downwardAPI: {} }, "kubernetes.io~downward-api"],
  [{ projected: {} }, "kubernetes.io~projected"],
  [{ image: {} }, "kubernetes.io~image"],
  [{ csi: { driver: "d" } }, "kubernetes.io~csi"],
] as const) {
  test(`a volume with ${JSON.stringify(source)} is in upstream's directory ${directory}`, () => {
    equal(findPlugin(all, { name: "v", ...source }).directory, directory);
  });
}

for (const [spec, directory] of [
  [{ hostPath: { path: "/x" } }, "kubernetes.io~host-path"],
  [{ local: { path: "/x" } }, "kubernetes.io~local-volume"],
] as const) {
  test(`a PersistentVolume with ${JSON.stringify(spec)} is in upstream's directory ${directory}`, () => {
    const metadata = { name: "pv" };
    equal(findPersistentPlugin(all, { apiVersion: "v1", kind: "PersistentVolume", metadata, spec }).directory, directory);
  });
}

test("a PersistentVolume of an unsupported kind is rejected with its kind", () => {
  const spec = {
    accessModes: ["ReadWriteOnce"] as const,
    capacity: { storage: "1Gi" },
    volumeMode: "Block" as const,
    quobyte: {} as never,
  };
  throws(() => findPersistentPlugin(all, { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec }), {
    name: "VolumeError",
    message: "volumes of type quobyte are not supported by this version",
  });
});

test("a volume of an unsupported kind is rejected with its name", () => {
  throws(() => findPlugin(all, { name: "v", persistentVolumeClaim: { claimName: "x" } }), {
    name: "VolumeError",
    message: "volumes of type persistentVolumeClaim are not supported by this version",
  });
});

test("no two plugins share a source or a directory", () => {
  for (const field of ["source", "persistentSource"] as const) {
    const named = all.flatMap((plugin) => plugin[field] ?? []);
    equal(new Set(named).size, named.length);
  }
  equal(
    all.some(({ source, persistentSource }) => source === undefined && persistentSource === undefined),
    false,
  );
  equal(new Set(all.map(({ directory }) => directory)).size, all.length);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { modeForGroup } from "./file-rights.ts";
import { nestedMountPoints } from "./nested-mount-points.ts";
import { kindOf, memoryBytes } from "./volume-kind.ts";

function aPod(...containers: readonly Partial<Container>[]): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: containers.map((container, index) => ({ name: `c${index}`, image: "i", ...container })) },
  };
}

test("each kind of volume has the directory that upstream gives it, and what holds secrets is in memory", () => {
  for (const [source, kind] of [
    [{ emptyDir: {} }, { is: "empty", source: {}, directory: "kubernetes.io~empty-dir" }],
    [{}, { is: "empty", source: {}, directory: "kubernetes.io~empty-dir" }],
    [{ hostPath: { path: "/x" } }, { is: "host", source: { path: "/x" } }],
    [{ configMap: {} }, { is: "files", inMemory: false, directory: "kubernetes.io~configmap" }],
    [{ secret: {} }, { is: "files", inMemory: true, directory: "kubernetes.io~secret" }],
    [{ downwardAPI: {} }, { is: "files", inMemory: true, directory: "kubernetes.io~downward-api" }],
    [{ projected: {} }, { is: "files", inMemory: true, directory: "kubernetes.io~projected" }],
  ] as const) {
    assert.deepEqual(kindOf({ name: "v", ...source }), kind);
  }
  assert.throws(() => kindOf({ name: "v", persistentVolumeClaim: { claimName: "x" } }), {
    message: "volumes of type persistentVolumeClaim are not supported by this version",
  });
});

test("a volume in memory holds what is least of the node's memory, the Pod's limit and its own", () => {
  const limited = { resources: { limits: { memory: "64Mi" } } };
  const mebibytes = (count: number) => count * 2 ** 20;
  for (const [pod, sizeLimit, bytes] of [
    [aPod({}), undefined, mebibytes(1_024)],
    [aPod({}), "10Mi", mebibytes(10)],
    [aPod({}), "2Gi", mebibytes(1_024)],
    [aPod({}), "0", mebibytes(1_024)],
    [aPod(limited, limited), undefined, mebibytes(128)],
    [aPod(limited, {}), undefined, mebibytes(1_024)],
    [aPod(limited), "32Mi", mebibytes(32)],
  ] as const) {
    assert.equal(memoryBytes(pod, { memory: "1Gi" }, sizeLimit), bytes);
  }
  assert.equal(memoryBytes(aPod({}), {}), undefined);
});

test("a group may read what is read-only and write the rest; what is made in its directories is its own", () => {
  const modes = [true, false].flatMap((isReadOnly) =>
    [true, false].map((isDirectory) => modeForGroup(isDirectory ? 0o755 : 0o600, { isDirectory, isReadOnly }).toString(8)),
  );
  assert.deepEqual(modes, ["2755", "640", "2775", "660"]);
});

test("directories are made where other volumes are mounted inside, the outermost only", () => {
  const mounts = (...pairs: readonly (readonly [string, string])[]) => ({
    volumeMounts: pairs.map(([name, mountPath]) => ({ name, mountPath })),
  });
  const pod = aPod(
    mounts(["v", "/etc/app"], ["a", "/etc/app/inner/"], ["b", "/etc/app/inner/deep"], ["c", "/etc/app-2"], ["d", "/etc/app/inner-2"]),
    mounts(["v", "/data"], ["e", "/data/x/../y"], ["f", "/other/z"]),
  );
  assert.deepEqual(nestedMountPoints(pod, "v"), ["inner", "inner-2", "y"]);
  assert.deepEqual(nestedMountPoints(pod, "a"), ["deep"]);
  assert.deepEqual(nestedMountPoints(pod, "c"), []);
});

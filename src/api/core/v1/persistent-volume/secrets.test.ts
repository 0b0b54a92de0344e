import assert from "node:assert/strict";
import test from "node:test";
import type { PersistentVolumeSpec } from "../../../generated/core/v1.ts";
import { mountSecrets } from "./secrets.ts";

const CLAIMED = { claimRef: { namespace: "claim", name: "c" } };
const NAMED = { name: "s" };
const ELSEWHERE = { name: "s", namespace: "there" };

const SOURCES: readonly [what: string, source: PersistentVolumeSpec, secrets: readonly string[]][] = [
  ["azureFile", { azureFile: { shareName: "x", secretName: "s" } }, ["claim/s"]],
  ["azureFile elsewhere", { azureFile: { shareName: "x", secretName: "s", secretNamespace: "there" } }, ["there/s"]],
  ["cephfs", { cephfs: { monitors: [], secretRef: NAMED } }, ["claim/s"]],
  ["cephfs elsewhere", { cephfs: { monitors: [], secretRef: ELSEWHERE } }, ["there/s"]],
  ["cinder", { cinder: { volumeID: "x", secretRef: ELSEWHERE } }, ["there/s"]],
  ["cinder without a namespace", { cinder: { volumeID: "x", secretRef: NAMED } }, ["/s"]],
  ["flexVolume", { flexVolume: { driver: "x", secretRef: NAMED } }, ["claim/s"]],
  ["rbd", { rbd: { monitors: [], image: "x", secretRef: NAMED } }, ["claim/s"]],
  ["scaleIO", { scaleIO: { gateway: "x", system: "y", secretRef: NAMED } }, ["claim/s"]],
  ["iscsi", { iscsi: { targetPortal: "x", iqn: "y", lun: 1, secretRef: ELSEWHERE } }, ["there/s"]],
  ["storageos", { storageos: { secretRef: ELSEWHERE } }, ["there/s"]],
  [
    "csi",
    {
      csi: {
        driver: "x",
        volumeHandle: "y",
        nodePublishSecretRef: { name: "publish", namespace: "a" },
        nodeStageSecretRef: { name: "stage", namespace: "b" },
        nodeExpandSecretRef: { name: "expand", namespace: "c" },
        controllerPublishSecretRef: { name: "attach", namespace: "d" },
        controllerExpandSecretRef: { name: "grow", namespace: "d" },
      },
    },
    ["a/publish", "b/stage", "c/expand"],
  ],
  ["cephfs without a name", { cephfs: { monitors: [], secretRef: { namespace: "there" } } }, []],
  ["hostPath", { hostPath: { path: "/x" } }, []],
];

for (const [what, source, secrets] of SOURCES) {
  test(`mounting a volume of ${what} requires the Secrets [${secrets.join(", ")}]`, () => {
    const volume = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec: { ...CLAIMED, ...source } } as const;

    assert.deepEqual(
      mountSecrets(volume).map(({ namespace, name }) => `${namespace}/${name}`),
      secrets,
    );
  });
}

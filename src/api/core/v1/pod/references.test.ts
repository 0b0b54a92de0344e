import assert from "node:assert/strict";
import test from "node:test";
import type { Pod, PodSpec, Volume } from "../../../generated/core/v1.ts";
import { configMapNames, isMirror, resourceClaimNames, secretNames, volumeClaimNames } from "./references.ts";
import { buildPod } from "../../../testing/pod.ts";

function specOf(spec: Partial<PodSpec>): PodSpec {
  return { containers: [], ...spec };
}

function volumes(...sources: readonly Omit<Volume, "name">[]): PodSpec {
  return specOf({ volumes: sources.map((source, index) => ({ name: `v${index}`, ...source })) });
}

function podOf(spec: Partial<PodSpec>, status: Pod["status"] = {}): Pod {
  return buildPod({ metadata: { name: "p" }, spec: specOf(spec), status });
}

const ENVIRONMENT = {
  name: "c",
  image: "i",
  envFrom: [{ secretRef: { name: "s1" } }, { configMapRef: { name: "c1" } }, {}],
  env: [
    { name: "A", valueFrom: { secretKeyRef: { name: "s2", key: "k" } } },
    { name: "B", valueFrom: { configMapKeyRef: { name: "c2", key: "k" } } },
    { name: "C", value: "x" },
  ],
};

const SECRETS: readonly [what: string, spec: PodSpec, names: readonly string[]][] = [
  ["pull secrets", specOf({ imagePullSecrets: [{ name: "a" }, { name: "" }, { name: "a" }] }), ["a"]],
  ["containers", specOf({ containers: [ENVIRONMENT] }), ["s1", "s2"]],
  ["init containers", specOf({ initContainers: [ENVIRONMENT] }), ["s1", "s2"]],
  ["ephemeral containers", specOf({ ephemeralContainers: [ENVIRONMENT] }), ["s1", "s2"]],
  ["secret volumes", volumes({ secret: { secretName: "a" } }, { secret: {} }), ["a"]],
  ["projected volumes", volumes({ projected: { sources: [{ secret: { name: "a" } }, { configMap: { name: "b" } }] } }), ["a"]],
  ["azureFile volumes", volumes({ azureFile: { secretName: "a", shareName: "x" } }), ["a"]],
  ["cephfs volumes", volumes({ cephfs: { monitors: [], secretRef: { name: "a" } } }), ["a"]],
  ["cinder volumes", volumes({ cinder: { volumeID: "x", secretRef: { name: "a" } } }), ["a"]],
  ["flex volumes", volumes({ flexVolume: { driver: "x", secretRef: { name: "a" } } }), ["a"]],
  ["rbd volumes", volumes({ rbd: { monitors: [], image: "x", secretRef: { name: "a" } } }), ["a"]],
  ["scaleIO volumes", volumes({ scaleIO: { gateway: "x", system: "y", secretRef: { name: "a" } } }), ["a"]],
  ["iscsi volumes", volumes({ iscsi: { targetPortal: "x", iqn: "y", lun: 1, secretRef: { name: "a" } } }), ["a"]],
  ["storageos volumes", volumes({ storageos: { secretRef: { name: "a" } } }), ["a"]],
  ["CSI volumes", volumes({ csi: { driver: "x", nodePublishSecretRef: { name: "a" } } }), ["a"]],
  ["other volumes", volumes({ emptyDir: {} }, { configMap: { name: "b" } }), []],
];

for (const [what, spec, names] of SECRETS) {
  test(`the Secrets of ${what} are [${names.join(", ")}]`, () => {
    assert.deepEqual([...secretNames(spec)], names);
  });
}

test("the ConfigMaps of a Pod are those of its environment and of its volumes", () => {
  const { volumes: ofVolumes = [] } = volumes({ configMap: { name: "c3" } }, { projected: { sources: [{ configMap: { name: "c4" } }] } });

  assert.deepEqual([...configMapNames(specOf({ containers: [ENVIRONMENT], volumes: ofVolumes }))], ["c1", "c2", "c3", "c4"]);
});

test("the PersistentVolumeClaims of a Pod are the named ones and those of ephemeral volumes", () => {
  const { volumes: mounted = [] } = volumes({ persistentVolumeClaim: { claimName: "a" } }, { ephemeral: {} }, { emptyDir: {} });

  assert.deepEqual([...volumeClaimNames(podOf({ volumes: mounted }))], ["a", "p-v1"]);
});

test("ResourceClaims from a template are known once they are created", () => {
  const resourceClaims = [
    { name: "a", resourceClaimName: "named" },
    { name: "b", resourceClaimTemplateName: "t" },
    { name: "c", resourceClaimTemplateName: "t" },
    { name: "d", resourceClaimTemplateName: "t" },
  ];
  const status = {
    resourceClaimStatuses: [{ name: "b", resourceClaimName: "made" }, { name: "c" }],
    extendedResourceClaimStatus: { resourceClaimName: "extended", requestMappings: [] },
  };

  assert.deepEqual([...resourceClaimNames(podOf({ resourceClaims }))], ["named"]);
  assert.deepEqual([...resourceClaimNames(podOf({ resourceClaims }, status))], ["named", "made", "extended"]);
});

test("a mirror Pod has the annotation, with any value", () => {
  const withAnnotations = (annotations: Record<string, string>): Pod => ({ ...podOf({}), metadata: { name: "p", annotations } });

  assert.deepEqual([withAnnotations({ "kubernetes.io/config.mirror": "" }), withAnnotations({ a: "b" }), podOf({})].map(isMirror), [
    true,
    false,
    false,
  ]);
});

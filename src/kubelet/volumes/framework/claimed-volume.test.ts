import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../api/generated/core/v1.ts";
import { checkNodeAffinity, claimedVolume, migratedInline } from "./claimed-volume.ts";

const NEVER = new AbortController().signal;

interface Objects {
  readonly claim?: Partial<PersistentVolumeClaim> | "missing" | Error;
  readonly volume?: Partial<PersistentVolume> | "missing";
  readonly podVolume?: Volume;
  readonly use?: "volumeMounts" | "volumeDevices";
}

const BOUND: PersistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "ns", uid: "claim" },
  spec: { volumeName: "pv" },
  status: { phase: "Bound" },
};
const VOLUME: PersistentVolume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pv" },
  spec: { claimRef: { uid: "claim" }, local: { path: "/x" } },
};
const EPHEMERAL: Volume = { name: "v", ephemeral: { volumeClaimTemplate: { spec: {} } } };
const CLAIMED: Volume = { name: "v", persistentVolumeClaim: { claimName: "c" } };

function find({ claim = {}, volume = {}, podVolume = CLAIMED, use = "volumeMounts" }: Objects) {
  const uses =
    use === "volumeMounts" ? { volumeMounts: [{ name: "v", mountPath: "/v" }] } : { volumeDevices: [{ name: "v", devicePath: "/v" }] };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", uid: "pod" },
    spec: { containers: [{ name: "c", image: "i", ...uses }], volumes: [podVolume] },
  };
  const references = {
    async persistentVolumeClaim(): Promise<PersistentVolumeClaim | undefined> {
      if (claim instanceof Error) throw claim;
      return claim === "missing" ? undefined : { ...BOUND, ...claim };
    },
    persistentVolume: async () => (volume === "missing" ? undefined : { ...VOLUME, ...volume }),
  };
  return claimedVolume(pod, podVolume, { references, signal: NEVER });
}

test("a volume without a claim has no PersistentVolume", async () => {
  equal(await find({ podVolume: { name: "v", emptyDir: {} } }), undefined);
});

test("a claim is resolved to the PersistentVolume that it is bound to", async () => {
  deepEqual(await find({}), { claim: BOUND, volume: VOLUME });
});

test("a PersistentVolume of a plugin that a CSI driver has replaced is one of the driver", async () => {
  const spec = { claimRef: { uid: "claim" }, cinder: { volumeID: "x" } };
  const found = await find({ volume: { spec } });
  deepEqual(found?.volume.spec, { claimRef: { uid: "claim" }, csi: { driver: "cinder.csi.openstack.org", volumeHandle: "x" } });
});

test("a volume of a plugin that a CSI driver has replaced, but not for this disk, is refused", async () => {
  const reason = "failed to translate in-tree pv to CSI: kind(Dedicated) is not supported in csi migration";
  const azureDisk = { diskName: "d", diskURI: "u", kind: "Dedicated" as const };
  await rejects(find({ volume: { spec: { claimRef: { uid: "claim" }, azureDisk } } }), { name: "ClaimError", message: reason });
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" } };
  throws(() => migratedInline(pod, { name: "v", azureDisk }), { name: "ClaimError", message: reason });
});

test("an ephemeral volume uses the claim that its Pod owns", async () => {
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "pod", controller: true };
  const metadata = { ...BOUND.metadata, name: "p-v", ownerReferences: [owner] };
  equal((await find({ podVolume: EPHEMERAL, claim: { metadata } }))?.claim.metadata.name, "p-v");
});

test("a claim that is being deleted is used while it is protected", async () => {
  const metadata = { ...BOUND.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes.io/pvc-protection"] };
  deepEqual((await find({ claim: { metadata } }))?.volume, VOLUME);
});

const PREFIX = "error processing PVC ns/c: ";

for (const [message, objects] of [
  [`${PREFIX}failed to fetch PVC from API server: persistentvolumeclaims "c" not found`, { claim: "missing" }],
  [`${PREFIX}failed to fetch PVC from API server: refused`, { claim: new Error("refused") }],
  [`${PREFIX}PVC is being deleted`, { claim: { metadata: { ...BOUND.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } } }],
  [`${PREFIX}PVC is not bound`, { claim: { status: { phase: "Lost" } } }],
  [`${PREFIX}PVC has empty pvc.Spec.VolumeName`, { claim: { spec: {} } }],
  [`${PREFIX}failed to fetch PV pv from API server: persistentvolumes "pv" not found`, { volume: "missing" }],
  [`${PREFIX}found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`, { volume: { spec: {} } }],
  [
    `${PREFIX}found PV object pv but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim`,
    { volume: { spec: { claimRef: { uid: "other" } } } },
  ],
  ["PVC ns/c was not created for pod ns/p (pod is not owner)", { podVolume: EPHEMERAL }],
  ["volume v has volumeMode Filesystem, but is specified in volumeDevices", { use: "volumeDevices" }],
  [
    "volume v has volumeMode Block, but is specified in volumeMounts",
    { volume: { spec: { claimRef: { uid: "claim" }, volumeMode: "Block" } } },
  ],
] as const satisfies readonly (readonly [string, Objects])[]) {
  test(`a claim that cannot be used is refused: ${message}`, async () => {
    await rejects(find(objects), { name: "ClaimError", message });
  });
}

test("a PersistentVolume is refused on a node that its affinity excludes", () => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In" as const, values: ["a"] }] }] };
  const volume: PersistentVolume = { ...VOLUME, spec: { nodeAffinity: { required } } };
  const node = (zone: string): Node => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels: { zone } } });

  checkNodeAffinity(volume, node("a"));
  checkNodeAffinity(VOLUME, node("b"));
  throws(() => checkNodeAffinity(volume, node("b")), { name: "NodeAffinityError", message: "no matching NodeSelectorTerms" });
});

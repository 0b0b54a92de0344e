import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { aClaim, aVolume, type VolumeFacts } from "./testing/storage.ts";
import { planReclaim, planVolume, unbound } from "./volume-plan.ts";

const CLAIM_REF = { namespace: "default", name: "c", uid: "1" };
const OURS = { "pv.kubernetes.io/bound-by-controller": "yes" };
const MADE = { "pv.kubernetes.io/provisioned-by": "example.com/disks" };
const bound = (facts: VolumeFacts = {}) => aVolume("v", { claimRef: CLAIM_REF, ...facts });
const claim = (volumeName?: string) => aClaim("c", { uid: "1", ...(volumeName === undefined ? {} : { volumeName }) });

const PLANS: readonly (readonly [string, PersistentVolume, PersistentVolumeClaim | undefined, string])[] = [
  ["without a claim", aVolume("v"), undefined, "phase Available"],
  ["reserved for a claim", aVolume("v", { claimRef: { namespace: "default", name: "c" } }), undefined, "phase Available"],
  ["of a deleted claim", bound(), undefined, "reclaim"],
  ["whose claim does not name it yet", bound(), claim(), "wake-claim"],
  ["whose claim has another mode", bound({ volumeMode: "Block" }), claim(), "report-mismatch"],
  ["whose claim names it", bound(), claim("v"), "phase Bound"],
  ["whose claim has another volume", bound({ annotations: OURS }), claim("w"), "unbind"],
  ["reserved by a user for a claim with another volume", bound(), claim("w"), "unbind"],
  [
    "made for a claim that has another volume",
    bound({ annotations: MADE, persistentVolumeReclaimPolicy: "Delete" }),
    claim("w"),
    "reclaim",
  ],
  ["made and retained for a claim that has another volume", bound({ annotations: MADE }), claim("w"), "unbind"],
];

for (const [what, volume, of, expected] of PLANS) {
  test(`a volume ${what}: ${expected}`, () => {
    const plan = planVolume(volume, of);
    assert.equal(plan.is === "phase" ? `phase ${plan.phase}` : plan.is, expected);
  });
}

test("unbinding removes a reference of the binder, and keeps a reservation of a user without its uid", () => {
  assert.deepEqual(unbound(bound({ annotations: OURS })), aVolume("v"));
  assert.deepEqual(unbound(bound()), aVolume("v", { claimRef: { namespace: "default", name: "c" } }));
});

const DELETE = { persistentVolumeReclaimPolicy: "Delete" } as const;
const RECYCLE = { persistentVolumeReclaimPolicy: "Recycle" } as const;
const NO_DELETER = 'VolumeFailedDelete: error getting deleter volume plugin for volume "v": ';
/** A volume without hostPath. */
function of(facts: VolumeFacts): PersistentVolume {
  const { hostPath: _path, ...spec } = bound({ ...DELETE, ...facts }).spec ?? {};
  return { ...bound(facts), spec };
}

const RECLAIMS: readonly (readonly [string, PersistentVolume, string])[] = [
  ["Retain", bound(), "leave"],
  ["Recycle of a host path", bound(RECYCLE), "recycle"],
  ["Recycle of NFS", of({ ...RECYCLE, nfs: { server: "s", path: "/" } }), "recycle"],
  ["Recycle of another kind", of({ ...RECYCLE, local: { path: "/d" } }), "VolumeFailedRecycle: No recycler plugin found for the volume!"],
  ["Recycle of a migrated plugin", bound({ ...RECYCLE, annotations: { "pv.kubernetes.io/migrated-to": "d" } }), "leave"],
  [
    "an unknown policy",
    bound({ persistentVolumeReclaimPolicy: "Burn" as never }),
    "VolumeUnknownReclaimPolicy: Volume has unrecognized PersistentVolumeReclaimPolicy",
  ],
  ["Delete by its external provisioner", bound({ ...DELETE, annotations: MADE }), "leave"],
  ["Delete by its CSI driver", of({ csi: { driver: "d", volumeHandle: "h" } }), "leave"],
  ["Delete of a migrated plugin", bound({ ...DELETE, annotations: { "pv.kubernetes.io/migrated-to": "d" } }), "leave"],
  ["Delete of a host path", bound(DELETE), "VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /data"],
  ["Delete of a local volume", of({ local: { path: "/d" } }), `${NO_DELETER}no volume plugin matched`],
  ["Delete of NFS", of({ nfs: { server: "s", path: "/" } }), `${NO_DELETER}no deletable volume plugin matched`],
  [
    "Delete by a plugin that no longer exists",
    bound({ ...DELETE, annotations: { "pv.kubernetes.io/provisioned-by": "kubernetes.io/rbd" } }),
    "VolumeFailedDelete: no volume plugin matched name: kubernetes.io/rbd",
  ],
];

for (const [what, volume, expected] of RECLAIMS) {
  test(`a released volume with ${what}`, () => {
    const plan = planReclaim(volume);
    assert.equal(plan.is === "fail" ? `${plan.event.reason}: ${plan.event.message}` : plan.is, expected);
  });
}

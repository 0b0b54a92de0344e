/**
 * One reconciliation of a claim or a volume in the situations that upstream's tests of its binder describe (binder_test, provision_test,
 * delete_test, recycle_test of 1.36): what each object is afterwards, and the event. Sizes are 1Gi unless the case is about them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, PROVISIONED_BY } from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import { given, type Given } from "../../testing/given.ts";
import { persistentVolumeBinderController } from "./persistent-volume-binder-controller.ts";
import { aClaim, aClass, aVolume, withoutClass, type ClaimFacts, type VolumeFacts } from "./testing/storage.ts";
import { VOLUME } from "./watches.ts";

const OURS = { [BOUND_BY_CONTROLLER]: "yes" };
const DONE = { [BIND_COMPLETED]: "yes" };
const BOTH = { ...OURS, ...DONE };
const WAIT = aClass("wait", { volumeBindingMode: "WaitForFirstConsumer" });
const LABELS = { foo: "true" };

interface Case {
  readonly it: string;
  readonly volumes?: readonly PersistentVolume[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly classes?: readonly StorageClass[];
  /** The claim "c", unless it is about a volume. */
  readonly volume?: string;
  /** "v Bound c ours": phase, claim ("c?" without its uid, "c!" with another one), set by the binder. */
  readonly after: readonly string[];
  readonly event?: string;
  readonly fails?: RegExp;
}

/** Replaced by the uid that the claim of this name gets. */
const ITS_UID = "its uid";
const reserved = { claimRef: { namespace: "default", name: "c" } };
const referring = { claimRef: { namespace: "default", name: "c", uid: ITS_UID } };
const referringToAnother = { claimRef: { namespace: "default", name: "c", uid: "another" } };
const referringToOther = { claimRef: { namespace: "default", name: "other", uid: "another" } };
const v = (facts: VolumeFacts = {}, name = "v") => aVolume(name, { phase: "Available", ...facts });
const c = (facts: ClaimFacts = {}) => aClaim("c", { phase: "Pending", ...facts });

/** Only volumes of CSI drivers have attributes. */
const withAttributes: PersistentVolume = (() => {
  const { spec: { hostPath: _path, ...spec } = {}, ...volume } = v({ volumeAttributesClassName: "gold" });
  return { ...volume, spec: { ...spec, csi: { driver: "disks.example.com", volumeHandle: "h" } } };
})();

const ANY: readonly Case[] = [
  { it: "binds a fitting volume", volumes: [v()], claims: [c()], after: ["c Bound v done ours", "v Bound c ours"] },
  {
    it: "stays pending without a fitting volume",
    volumes: [v()],
    claims: [c({ size: "10Gi" })],
    after: ["c Pending -", "v Available -"],
    event: "Normal FailedBinding",
  },
  {
    it: "is reset to Pending without a fitting volume",
    volumes: [v()],
    claims: [c({ size: "10Gi", phase: "Bound" })],
    after: ["c Pending -", "v Available -"],
    event: "Normal FailedBinding",
  },
  {
    it: "gets the smallest volume",
    volumes: [v({ size: "10Gi" }), v({}, "w")],
    claims: [c()],
    after: ["c Bound w done ours", "v Available -", "w Bound c ours"],
  },
  {
    it: "gets a volume that names it, although a smaller one is free",
    volumes: [v({ size: "10Gi", ...reserved }), v({}, "w")],
    claims: [c()],
    after: ["c Bound v done ours", "v Bound c", "w Available -"],
  },
  {
    it: "gets a volume with its uid, although a smaller one is free",
    volumes: [v({ size: "10Gi", ...referring }), v({}, "w")],
    claims: [c()],
    after: ["c Bound v done ours", "v Bound c", "w Available -"],
  },
  {
    it: "does not get a volume of an earlier claim of its name",
    volumes: [v({ size: "10Gi", ...referringToAnother })],
    claims: [c()],
    after: ["c Pending -", "v Available c!"],
    event: "Normal FailedBinding",
  },
  {
    it: "completes a binding that stopped after the volume's reference",
    volumes: [v({ annotations: OURS, ...referring })],
    claims: [c()],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "completes a binding that stopped after the volume's phase",
    volumes: [v({ annotations: OURS, phase: "Bound", ...referring })],
    claims: [c()],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "completes a binding that stopped after the claim's reference",
    volumes: [v({ annotations: OURS, phase: "Bound", ...referring })],
    claims: [c({ annotations: BOTH, volumeName: "v" })],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "binds a volume that its selector matches",
    volumes: [v({ labels: LABELS })],
    claims: [c({ selector: { matchLabels: LABELS } })],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "does not bind a volume that its selector does not match",
    volumes: [v()],
    claims: [c({ selector: { matchLabels: LABELS } })],
    after: ["c Pending -", "v Available -"],
    event: "Normal FailedBinding",
  },
  {
    it: "waits for its first consumer",
    volumes: [v({ storageClassName: "wait" })],
    claims: [c({ storageClassName: "wait" })],
    classes: [WAIT],
    after: ["c Pending -", "v Available -"],
    event: "Normal WaitForFirstConsumer",
  },
  {
    it: "does not wait for its first consumer if a volume names it",
    volumes: [v({ storageClassName: "wait", ...reserved })],
    claims: [c({ storageClassName: "wait" })],
    classes: [WAIT],
    after: ["c Bound v done ours", "v Bound c"],
  },
  {
    it: "gets the volume that the scheduler reserved",
    volumes: [v({ storageClassName: "wait", ...referring })],
    claims: [c({ storageClassName: "wait", annotations: { "volume.kubernetes.io/selected-node": "n" } })],
    classes: [WAIT],
    after: ["c Bound v done ours", "v Bound c"],
  },
  {
    it: "does not bind volumes that are not available",
    volumes: [v({ phase: "Pending" }), v({ phase: "Failed" }, "w"), v({ phase: "Released" }, "x")],
    claims: [c()],
    after: ["c Pending -", "v Pending -", "w Failed -", "x Released -"],
    event: "Normal FailedBinding",
  },
  {
    it: "gets a larger volume of its class instead of a smaller one without",
    volumes: [v(), v({ size: "10Gi", storageClassName: "gold" }, "w")],
    claims: [c({ storageClassName: "gold" })],
    after: ["c Bound w done ours", "v Available -", "w Bound c ours"],
  },
  {
    it: "without a class gets a larger volume without instead of a smaller one with",
    volumes: [v({ storageClassName: "gold" }), v({ size: "10Gi" }, "w")],
    claims: [withoutClass(c())],
    after: ["c Bound w done ours", "v Available -", "w Bound c ours"],
  },
  {
    it: "gets a volume of its class instead of a smaller one of another",
    volumes: [v({ storageClassName: "silver" }), v({ size: "10Gi", storageClassName: "gold" }, "w")],
    claims: [c({ storageClassName: "gold" })],
    after: ["c Bound w done ours", "v Available -", "w Bound c ours"],
  },
];

const NAMED: readonly Case[] = [
  { it: "waits for a volume that does not exist", claims: [c({ volumeName: "v" })], after: ["c Pending v"] },
  { it: "is reset to Pending without it", claims: [c({ volumeName: "v", phase: "Bound" })], after: ["c Pending v"] },
  { it: "binds it if it is free", volumes: [v()], claims: [c({ volumeName: "v" })], after: ["c Bound v done", "v Bound c ours"] },
  {
    it: "binds it although a smaller one is free",
    volumes: [v({ size: "10Gi" }), v({}, "w")],
    claims: [c({ volumeName: "v" })],
    after: ["c Bound v done", "v Bound c ours", "w Available -"],
  },
  {
    it: "binds it if it is reserved for it by name",
    volumes: [v(reserved)],
    claims: [c({ volumeName: "v" })],
    after: ["c Bound v done", "v Bound c"],
  },
  {
    it: "binds it if it is reserved for it by uid",
    volumes: [v(referring)],
    claims: [c({ volumeName: "v" })],
    after: ["c Bound v done", "v Bound c"],
  },
  {
    it: "is reset to Pending if another claim has it",
    volumes: [v({ phase: "Bound", ...referringToOther })],
    claims: [c({ volumeName: "v", phase: "Bound" })],
    after: ["c Pending v", "v Bound other!"],
    event: "Warning FailedBinding",
  },
  {
    it: "that the binder chose and another claim has is an error",
    volumes: [v({ phase: "Bound", ...referringToOther })],
    claims: [c({ volumeName: "v", phase: "Bound", annotations: OURS })],
    after: ["c Bound v ours", "v Bound other!"],
    event: "Warning FailedBinding",
    fails: /invalid binding of claim "default\/c" to volume "v"/,
  },
  {
    it: "binds it although its selector does not match",
    volumes: [v()],
    claims: [c({ volumeName: "v", selector: { matchLabels: LABELS } })],
    after: ["c Bound v done", "v Bound c ours"],
  },
  ...(
    [
      ["is too small", {}, { size: "2Gi" }],
      ["has another class", { storageClassName: "gold" }, {}],
      ["has another mode", { volumeMode: "Block" }, {}],
      ["has other access modes", {}, { accessModes: ["ReadWriteMany"] }],
    ] as const
  ).map(([why, volume, claim]): Case => ({
    it: `is reset to Pending if it ${why}`,
    volumes: [v(volume)],
    claims: [c({ volumeName: "v", phase: "Bound", ...(claim as ClaimFacts) })],
    after: ["c Pending v", "v Available -"],
    event: "Warning VolumeMismatch",
  })),
  {
    it: "is reset to Pending if it has other attributes",
    volumes: [withAttributes],
    claims: [c({ volumeName: "v", phase: "Bound" })],
    after: ["c Pending v", "v Available -"],
    event: "Warning VolumeMismatch",
  },
  {
    it: "binds it if it has the same attributes",
    volumes: [withAttributes],
    claims: [c({ volumeName: "v", volumeAttributesClassName: "gold" })],
    after: ["c Bound v done", "v Bound c ours"],
  },
];

const MODES: readonly Case[] = (["Block", "Filesystem"] as const).flatMap((volumeMode): Case[] => {
  const other = volumeMode === "Block" ? "Filesystem" : "Block";
  return [
    {
      it: `of ${volumeMode} binds a volume of that mode`,
      volumes: [v({ volumeMode })],
      claims: [c({ volumeMode })],
      after: ["c Bound v done ours", "v Bound c ours"],
    },
    {
      it: `of ${volumeMode} does not bind one of ${other}`,
      volumes: [v({ volumeMode: other })],
      claims: [c({ volumeMode })],
      after: ["c Pending -", "v Available -"],
      event: "Normal FailedBinding",
    },
    {
      it: `of ${volumeMode} does not bind one of its class and of ${other}`,
      volumes: [v({ volumeMode: other, storageClassName: "gold" })],
      claims: [c({ volumeMode, storageClassName: "gold" })],
      after: ["c Pending -", "v Available -"],
      event: "Warning ProvisioningFailed",
    },
    {
      it: `of ${volumeMode} binds one that is reserved for it`,
      volumes: [v({ volumeMode, ...reserved })],
      claims: [c({ volumeMode })],
      after: ["c Bound v done ours", "v Bound c"],
    },
    {
      it: `of ${volumeMode} does not bind one of ${other} that is reserved for it`,
      volumes: [v({ volumeMode: other, ...reserved })],
      claims: [c({ volumeMode })],
      after: ["c Pending -", "v Available c?"],
      event: "Normal FailedBinding",
    },
    {
      it: `of ${volumeMode}: a volume of ${other} with its uid says why it is not bound`,
      volumes: [v({ volumeMode: other, annotations: OURS, ...referring })],
      claims: [c({ volumeMode })],
      volume: "v",
      after: ["c Pending -", "v Available c ours"],
      event: "Warning VolumeMismatch",
    },
    {
      it: `of ${volumeMode}: a volume of that mode with its uid leaves the binding to the claim`,
      volumes: [v({ volumeMode, annotations: OURS, ...referring })],
      claims: [c({ volumeMode })],
      volume: "v",
      after: ["c Pending -", "v Available c ours"],
    },
  ];
});

const BOUND: readonly Case[] = [
  {
    it: "without its reference is lost",
    claims: [c({ phase: "Bound", annotations: BOTH })],
    after: ["c Lost - done ours"],
    event: "Warning ClaimLost",
  },
  {
    it: "without its volume is lost",
    claims: [c({ phase: "Bound", annotations: BOTH, volumeName: "v" })],
    after: ["c Lost v done ours"],
    event: "Warning ClaimLost",
  },
  {
    it: "gives its volume the reference back",
    volumes: [v()],
    claims: [c({ annotations: BOTH, volumeName: "v" })],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "gives its volume the reference back although its selector does not match",
    volumes: [v()],
    claims: [c({ annotations: BOTH, volumeName: "v", selector: { matchLabels: LABELS } })],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "is lost if its volume has another uid",
    volumes: [v(referringToAnother)],
    claims: [c({ annotations: BOTH, volumeName: "v" })],
    after: ["c Lost v done ours", "v Available c!"],
    event: "Warning ClaimMisbound",
  },
  {
    it: "is lost if another claim has its volume",
    volumes: [v(referringToOther)],
    claims: [c({ annotations: DONE, volumeName: "v" })],
    after: ["c Lost v done", "v Available other!"],
    event: "Warning ClaimMisbound",
  },
  {
    it: "and its volume get the phase Bound",
    volumes: [v(referring)],
    claims: [c({ annotations: DONE, volumeName: "v" })],
    after: ["c Bound v done", "v Bound c"],
  },
];

const MADE = { annotations: { [PROVISIONED_BY]: "example.com/disks" }, persistentVolumeReclaimPolicy: "Delete" } as const;
const VOLUMES: readonly Case[] = [
  { it: "without a phase becomes available", volumes: [aVolume("v")], volume: "v", after: ["v Available -"] },
  { it: "that is reserved becomes available", volumes: [aVolume("v", reserved)], volume: "v", after: ["v Available c?"] },
  { it: "of a missing claim is released", volumes: [v({ phase: "Bound", ...referringToAnother })], volume: "v", after: ["v Released c!"] },
  {
    it: "of an earlier claim of the name is released",
    volumes: [v({ phase: "Bound", ...referringToAnother })],
    claims: [c({ phase: "Bound", annotations: DONE, volumeName: "v" })],
    volume: "v",
    after: ["c Bound v done", "v Released c!"],
  },
  {
    it: "whose claim is not bound stays",
    volumes: [v({ phase: "Bound", annotations: OURS, ...referring })],
    claims: [c()],
    volume: "v",
    after: ["c Pending -", "v Bound c ours"],
  },
  {
    it: "whose claim is bound to it gets the phase Bound",
    volumes: [v({ persistentVolumeReclaimPolicy: "Delete", ...referring })],
    claims: [c({ phase: "Bound", volumeName: "v" })],
    volume: "v",
    after: ["c Bound v", "v Bound c"],
  },
  {
    it: "that the binder gave to a claim with another volume is free again",
    volumes: [v({ phase: "Bound", annotations: OURS, ...referring })],
    claims: [c({ phase: "Bound", volumeName: "w" })],
    volume: "v",
    after: ["c Bound w", "v Available -"],
  },
  {
    it: "that a user reserved for a claim with another volume stays reserved",
    volumes: [v({ phase: "Bound", ...referring })],
    claims: [c({ phase: "Bound", volumeName: "w" })],
    volume: "v",
    after: ["c Bound w", "v Available c?"],
  },
  {
    it: "that was provisioned for a claim with another volume is released for its provisioner to delete",
    volumes: [v({ phase: "Bound", ...MADE, ...referring })],
    claims: [c({ phase: "Bound", volumeName: "w" })],
    volume: "v",
    after: ["c Bound w", "v Released c"],
  },
  {
    it: "of a missing claim without a deleter fails",
    volumes: [v({ persistentVolumeReclaimPolicy: "Delete", ...referringToAnother })],
    volume: "v",
    after: ["v Failed c!"],
    event: "Warning VolumeFailedDelete",
  },
  {
    it: "of a missing claim with an external deleter is released",
    volumes: [v({ phase: "Bound", ...MADE, ...referringToAnother })],
    volume: "v",
    after: ["v Released c!"],
  },
  {
    it: "that a user reserved with a uid of a missing claim is released, too",
    volumes: [v({ phase: "Bound", ...referringToOther })],
    volume: "v",
    after: ["v Released other!"],
  },
];

const PROVISIONING: readonly Case[] = [
  {
    it: "of a class without an object fails",
    claims: [c({ storageClassName: "gold" })],
    after: ["c Pending -"],
    event: "Warning ProvisioningFailed",
  },
  {
    it: 'of the class "" is not provisioned',
    claims: [c()],
    classes: [aClass("std", { isDefault: true })],
    after: ["c Pending -"],
    event: "Normal FailedBinding",
  },
  {
    it: "without a class and a default is not provisioned",
    claims: [withoutClass(c())],
    after: ["c Pending -"],
    event: "Normal FailedBinding",
  },
  {
    it: "of a class with an external provisioner is annotated for it",
    claims: [c({ storageClassName: "std" })],
    classes: [aClass("std")],
    after: ["c Pending - for example.com/disks"],
    event: "Normal ExternalProvisioning",
  },
  {
    it: "of a class of an unknown plugin fails",
    claims: [c({ storageClassName: "std" })],
    classes: [aClass("std", { provisioner: "kubernetes.io/unknown" })],
    after: ["c Pending -"],
    event: "Warning ProvisioningFailed",
  },
  {
    it: "of a migrated class is annotated for its CSI driver",
    claims: [c({ storageClassName: "std" })],
    classes: [aClass("std", { provisioner: "kubernetes.io/gce-pd" })],
    after: ["c Pending - for pd.csi.storage.gke.io"],
    event: "Normal ExternalProvisioning",
  },
  {
    it: "of a class with a provisioner gets a free volume",
    volumes: [v({ storageClassName: "std" })],
    claims: [c({ storageClassName: "std" })],
    classes: [aClass("std")],
    after: ["c Bound v done ours", "v Bound c ours"],
  },
  {
    it: "with a selected node is provisioned, and not given a free volume",
    volumes: [v({ storageClassName: "wait" })],
    claims: [c({ storageClassName: "wait", annotations: { "volume.kubernetes.io/selected-node": "n" } })],
    classes: [WAIT],
    after: ["c Pending - for example.com/disks", "v Available -"],
    event: "Normal ExternalProvisioning",
  },
  {
    it: "gets the volume that was provisioned for it",
    volumes: [v({ storageClassName: "std", ...MADE, ...referring })],
    claims: [c({ storageClassName: "std", annotations: { "volume.kubernetes.io/storage-provisioner": "example.com/disks" } })],
    classes: [aClass("std")],
    after: ["c Bound v done ours for example.com/disks", "v Bound c"],
  },
];

async function started({ volumes = [], claims = [], classes = [] }: Case): Promise<Given> {
  const cluster = await given(...classes, ...claims);
  const uids = new Map((await cluster.list(persistentVolumeClaims)).map(({ metadata }) => [metadata.name, metadata.uid ?? ""]));
  for (const { status, ...volume } of volumes) {
    const claimRef = volume.spec?.claimRef;
    const uid = claimRef?.uid === ITS_UID ? uids.get(claimRef.name ?? "") : claimRef?.uid;
    const spec =
      claimRef === undefined ? volume.spec : { ...volume.spec, claimRef: { ...claimRef, ...(uid === undefined ? {} : { uid }) } };
    const created = await cluster.client.create(persistentVolumes, { ...volume, ...(spec === undefined ? {} : { spec }) });
    if (status !== undefined) await cluster.client.updateStatus(persistentVolumes, { ...created, status });
  }
  return cluster;
}

async function linesOf(cluster: Given): Promise<readonly string[]> {
  const claims = await cluster.list(persistentVolumeClaims);
  const uids = new Map(claims.map(({ metadata }) => [metadata.name, metadata.uid]));
  const marks = ({ metadata: { annotations = {} } }: PersistentVolume | PersistentVolumeClaim) => [
    ...(BIND_COMPLETED in annotations ? ["done"] : []),
    ...(BOUND_BY_CONTROLLER in annotations ? ["ours"] : []),
    ...("volume.kubernetes.io/storage-provisioner" in annotations
      ? [`for ${annotations["volume.kubernetes.io/storage-provisioner"]}`]
      : []),
  ];
  const claimOf = ({ spec }: PersistentVolume): string => {
    const { name = "", uid = "" } = spec?.claimRef ?? {};
    if (name === "") return "-";
    return `${name}${uid === "" ? "?" : uid === uids.get(name) ? "" : "!"}`;
  };
  return [
    ...claims.map((claim) => [claim.metadata.name, claim.status?.phase, claim.spec?.volumeName ?? "-", ...marks(claim)].join(" ")),
    ...(await cluster.list(persistentVolumes)).map((volume) =>
      [volume.metadata.name, volume.status?.phase, claimOf(volume), ...marks(volume)].join(" "),
    ),
  ];
}

/** A claim that gets a volume needs the binder's index of volumes, which a running controller has: then until nothing is left to do. */
async function reconciled(cluster: Given, { volume, event, fails }: Case): Promise<void> {
  if (volume === undefined && event === undefined) {
    await cluster.run(persistentVolumeBinderController());
    return cluster.settled();
  }
  const key = volume === undefined ? "default/c" : { kind: VOLUME, namespace: "", name: volume };
  const pass = cluster.reconcile(persistentVolumeBinderController(), key);
  if (fails === undefined) await pass;
  else await assert.rejects(pass, fails);
}

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  "a claim for any volume": ANY,
  "a claim that names its volume": NAMED,
  "a claim": MODES,
  "a bound claim": BOUND,
  "a volume": VOLUMES,
  "a claim without a volume": PROVISIONING,
};

for (const [subject, cases] of Object.entries(GROUPS)) {
  describe(subject, () => {
    for (const row of cases) {
      test(`${subject} ${row.it}`, async () => {
        await using cluster = await started(row);
        await reconciled(cluster, row);

        const [event] = cluster.events.map((line) => line.split(" ").slice(0, 2).join(" "));
        assert.deepEqual([await linesOf(cluster), event], [row.after, row.event]);
      });
    }
  });
}

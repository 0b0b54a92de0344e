import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import { planClaim, type ClaimPlan, type ClaimView } from "./claim-plan.ts";
import { aClaim, aClass, aVolume, withoutClass } from "./testing/storage.ts";

const DONE = { "pv.kubernetes.io/bind-completed": "yes" };
const CHOSEN = { "volume.kubernetes.io/selected-node": "n1" };
const OURS = { "pv.kubernetes.io/bound-by-controller": "yes" };

interface Given {
  readonly claim: PersistentVolumeClaim;
  readonly volumes?: readonly PersistentVolume[];
  readonly match?: PersistentVolume;
  readonly classes?: readonly StorageClass[];
  readonly pods?: readonly string[];
}

/** "wait Normal FailedBinding: message". */
function lineOf(plan: ClaimPlan): string {
  const event = "event" in plan && plan.event !== undefined ? ` ${plan.event.type} ${plan.event.reason}: ${plan.event.message}` : "";
  const what =
    "volume" in plan
      ? ` ${plan.volume.metadata.name}`
      : "className" in plan
        ? ` ${plan.className}`
        : "provisioner" in plan
          ? ` ${plan.provisioner}`
          : "";
  return `${plan.is}${what}${event}${"error" in plan ? ` (${plan.error})` : ""}`;
}

function plan({ claim, volumes = [], match, classes = [], pods = [] }: Given): string {
  const view: ClaimView = {
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    match: (_claim, { onlyReserved }) => (onlyReserved && match?.spec?.claimRef === undefined ? undefined : match),
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    defaultClass: () => classes.find(({ metadata }) => metadata.annotations !== undefined),
    waitingPods: () => pods,
  };
  return lineOf(planClaim(claim, view));
}

const referring = (uid?: string, name = "c") => ({ claimRef: { namespace: "default", name, ...(uid === undefined ? {} : { uid }) } });
const WAITING = aClass("slow", { volumeBindingMode: "WaitForFirstConsumer" });
const ofClass = (storageClassName: string, annotations = {}) => aClaim("c", { storageClassName, annotations });
const inTree = (provisioner: string): Given => ({ claim: ofClass("x"), classes: [aClass("x", { provisioner })] });

const UNBOUND: readonly (readonly [string, Given, string])[] = [
  ["a fitting volume", { claim: aClaim("c"), match: aVolume("v") }, "bind v"],
  [
    "none and no class",
    { claim: aClaim("c") },
    "wait Normal FailedBinding: no persistent volumes available for this claim and no storage class is set",
  ],
  [
    "a default class that appeared later",
    { claim: withoutClass(aClaim("c")), classes: [aClass("std", { isDefault: true })] },
    "assign-class std",
  ],
  [
    "a default class, but opts out",
    { claim: aClaim("c"), classes: [aClass("std", { isDefault: true })] },
    "wait Normal FailedBinding: no persistent volumes available for this claim and no storage class is set",
  ],
  ["a class with an external provisioner", { claim: ofClass("std"), classes: [aClass("std")] }, "provision example.com/disks"],
  ["a migrated class", inTree("kubernetes.io/aws-ebs"), "provision ebs.csi.aws.com"],
  [
    "a class that does not exist",
    { claim: ofClass("std") },
    'fail-provisioning Warning ProvisioningFailed: storageclass.storage.k8s.io "std" not found',
  ],
  [
    "a class without provisioner",
    inTree("kubernetes.io/no-provisioner"),
    "fail-provisioning Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner",
  ],
  [
    "the host path provisioner",
    inTree("kubernetes.io/host-path"),
    'fail-provisioning Warning ProvisioningFailed: Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
  ],
  [
    "a delayed class without Pods",
    { claim: ofClass("slow"), classes: [WAITING], match: aVolume("v") },
    "wait Normal WaitForFirstConsumer: waiting for first consumer to be created before binding",
  ],
  [
    "a delayed class with a Pod",
    { claim: ofClass("slow"), classes: [WAITING], pods: ["p"] },
    "wait Normal WaitForPodScheduled: waiting for pod p to be scheduled",
  ],
  [
    "a delayed class with two Pods",
    { claim: ofClass("slow"), classes: [WAITING], pods: ["p", "q"] },
    "wait Normal WaitForPodScheduled: waiting for pods p,q to be scheduled",
  ],
  ["a delayed class and a node", { claim: ofClass("slow", CHOSEN), classes: [WAITING], pods: ["p"] }, "provision example.com/disks"],
  ["a delayed class and a reserved volume", { claim: ofClass("slow"), classes: [WAITING], match: aVolume("v", referring()) }, "bind v"],
];

const named = (volume?: PersistentVolume, facts: Parameters<typeof aClaim>[1] = {}): Given => ({
  claim: aClaim("c", { volumeName: "v", uid: "1", ...facts }),
  ...(volume === undefined ? {} : { volumes: [volume] }),
});
const MISMATCH = 'wait Warning VolumeMismatch: Cannot bind to requested volume "v": ';
const TAKEN = 'Warning FailedBinding: volume "v" already bound to a different claim.';

const NAMED: readonly (readonly [string, Given, string])[] = [
  ["that does not exist", named(), "wait"],
  ["that is free", named(aVolume("v")), "bind v"],
  ["that is too small", named(aVolume("v"), { size: "2Gi" }), `${MISMATCH}requested PV is too small`],
  ["of another class", named(aVolume("v", { storageClassName: "x" })), `${MISMATCH}storageClassName does not match`],
  ["of other attributes", named(aVolume("v", { volumeAttributesClassName: "x" })), `${MISMATCH}volumeAttributesClassName does not match`],
  ["of another mode", named(aVolume("v", { volumeMode: "Block" })), `${MISMATCH}incompatible volumeMode`],
  ["with other access modes", named(aVolume("v"), { accessModes: ["ReadWriteMany"] }), `${MISMATCH}incompatible accessMode`],
  ["reserved for it", named(aVolume("v", referring())), "bind v"],
  ["bound to it", named(aVolume("v", referring("1"))), "bind v"],
  ["bound to another", named(aVolume("v", referring("2", "d"))), `wait ${TAKEN}`],
  ["bound to an earlier one of its name", named(aVolume("v", referring("0"))), `wait ${TAKEN}`],
  [
    "that the binder chose and another has",
    named(aVolume("v", referring("2", "d")), { annotations: OURS }),
    `fail ${TAKEN} (invalid binding of claim "default/c" to volume "v": volume already claimed by "default/d")`,
  ],
];

const LOST = "lose Warning ClaimLost: Bound claim has lost";
const BOUND: readonly (readonly [string, Given, string])[] = [
  [
    "whose reference was removed",
    { claim: aClaim("c", { annotations: DONE }) },
    `${LOST} reference to PersistentVolume. Data on the volume is lost!`,
  ],
  ["whose volume was deleted", named(undefined, { annotations: DONE }), `${LOST} its PersistentVolume. Data on the volume is lost!`],
  ["whose volume lost its reference", named(aVolume("v"), { annotations: DONE }), "bind v"],
  ["whose volume is bound to it", named(aVolume("v", referring("1")), { annotations: DONE }), "bind v"],
  [
    "whose volume is bound to another",
    named(aVolume("v", referring("2", "d")), { annotations: DONE }),
    "lose Warning ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly",
  ],
];

for (const [what, given, expected] of UNBOUND) test(`a claim with ${what}`, () => assert.equal(plan(given), expected));
for (const [what, given, expected] of NAMED) test(`a claim for a named volume ${what}`, () => assert.equal(plan(given), expected));
for (const [what, given, expected] of BOUND) test(`a bound claim ${what}`, () => assert.equal(plan(given), expected));

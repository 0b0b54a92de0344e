/**
 * Binds PersistentVolumeClaims to PersistentVolumes: a claim gets the smallest volume that fits, or its class's provisioner is asked for
 * one; a volume whose claim was deleted is released and reclaimed. Both directions of a binding are written one after the other (bind.ts),
 * so that a crash anywhere is completed by the next reconciliation.
 *
 * Data is at stake, so absence is verified: a claim that the informers do not show is looked up on the server before its volume is
 * released. Keys are claims and volumes. Not here: creating and deleting storage (provisioners), choosing a volume for a claim that waits
 * for its first consumer (scheduler).
 */
import { STORAGE_PROVISIONER, STORAGE_PROVISIONER_BETA, withAnnotations } from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { storageClasses } from "../../api/storage.k8s.io/v1/storage-class.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { after, defineController, onChange, watch, type Controller, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";
import { BinderMetrics, countRetroactiveClass, pluginOf } from "./binder-metrics.ts";
import { bind, writePhase } from "./bind.ts";
import { unboundStatus } from "./claim-status.ts";
import { planClaim, type ClaimPlan } from "./claim-plan.ts";
import { normal, warning } from "./events.ts";
import { migratedClaim, migratedVolume } from "./migration.ts";
import { Recyclers } from "./recyclers.ts";
import { claimKey, keysOfClaim, keysOfClass, keysOfPod, keysOfVolume, VOLUME } from "./watches.ts";
import { planReclaim, planVolume, unbound } from "./volume-plan.ts";
import { VolumeChoice } from "./volume-choice.ts";

/**
 * Requeue delay of a claim that waits: its event is repeated as long as the reason holds, and a volume that triggered no claim is found. Upstream does so
 * every 15 s for every object.
 */
const WAITING_RETRY_MS = 60_000;

/**
 * State of one run. All of it can be lost: it saves time, keeps concurrent reconciliations from choosing the same volume, and distinguishes own
 * recycler Pods from others.
 */
interface Binder {
  readonly choice: VolumeChoice;
  readonly metrics: BinderMetrics;
  readonly recyclers: Recyclers;
}

export function persistentVolumeBinderController(): Controller {
  const binder: Binder = { choice: new VolumeChoice(), metrics: new BinderMetrics(), recyclers: new Recyclers() };
  return defineController({
    name: "persistentvolume-binder-controller",
    aliases: ["persistentvolume-binder"],
    account: "persistent-volume-binder",
    component: "persistentvolume-controller",
    rules: [
      { apiGroups: [""], resources: ["persistentvolumes", "persistentvolumeclaims"], verbs: ["get", "list", "watch", "update"] },
      { apiGroups: [""], resources: ["persistentvolumes/status", "persistentvolumeclaims/status"], verbs: ["update"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "create", "delete"] },
      { apiGroups: [""], resources: ["events"], verbs: ["watch"] },
      { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["get", "list", "watch"] },
    ],
    watches: [
      watch(
        persistentVolumes,
        (change) => {
          binder.choice.follow(change);
          return keysOfVolume(change);
        },
        { count: (change, metrics) => binder.metrics.countVolume(change, metrics) },
      ),
      watch(persistentVolumeClaims, keysOfClaim, { count: (change, metrics) => binder.metrics.countClaim(change, metrics) }),
      watch(storageClasses, keysOfClass),
      watch(pods, keysOfPod),
    ],
    start: () => (key, pass) => (key.kind === VOLUME ? reconcileVolume(key, pass, binder) : reconcileClaim(key, pass, binder)),
  });
}

async function reconcileClaim(key: WorkKey, pass: Pass, binder: Binder): Promise<Outcome> {
  const { read, write } = pass;
  const known = read.get(persistentVolumeClaims, key);
  binder.choice.arrived(key);
  if (known === undefined) {
    binder.metrics.forget(objectText(key));
    return onChange;
  }
  const marked = migratedClaim(known);
  const claim = marked === known ? known : await write.update(persistentVolumeClaims, marked);
  return actOnClaim(claim, planClaim(claim, binder.choice.viewOf(claim, read)), pass, binder);
}

async function actOnClaim(claim: PersistentVolumeClaim, plan: ClaimPlan, pass: Pass, binder: Binder): Promise<Outcome> {
  const { write, events } = pass;
  switch (plan.is) {
    case "bind":
      await bindReserved(plan.volume, claim, pass, binder);
      return onChange;
    case "assign-class":
      await assignClass(claim, plan.className, pass);
      return onChange;
    case "provision":
      await requestProvisioning(claim, plan.provisioner, pass, binder);
      return after(WAITING_RETRY_MS);
    case "wait":
      if (plan.event !== undefined) events.record(claim, plan.event);
      await writeUnbound(claim, "Pending", write);
      return after(WAITING_RETRY_MS);
    case "fail-provisioning":
      events.record(claim, plan.event);
      return after(WAITING_RETRY_MS);
    case "fail":
      events.record(claim, plan.event);
      throw new Error(plan.error);
    case "lose":
      if (claim.status?.phase === "Lost") return onChange;
      await writeUnbound(claim, "Lost", write);
      events.record(claim, plan.event);
      return onChange;
  }
}

/** Until the binding is written, no other claim is given the volume. */
async function bindReserved(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  pass: Pass,
  { choice, metrics }: Binder,
): Promise<void> {
  const name = objectText(claim.metadata);
  using _reserved = choice.reserve(volume, claim);
  try {
    await bind(volume, claim, pass.write);
  } catch (error) {
    metrics.fail(name, pass.metrics);
    throw error;
  }
  metrics.end(name, pass.clock.monotonic(), pass.metrics);
}

async function assignClass(claim: PersistentVolumeClaim, storageClassName: string, { write, metrics }: Pass): Promise<void> {
  try {
    await write.update(persistentVolumeClaims, { ...claim, spec: { ...claim.spec, storageClassName } });
  } catch (error) {
    countRetroactiveClass("error", metrics);
    throw error;
  }
  countRetroactiveClass("success", metrics);
}

async function requestProvisioning(claim: PersistentVolumeClaim, provisioner: string, pass: Pass, binder: Binder): Promise<void> {
  const { write, events, clock } = pass;
  binder.metrics.begin(objectText(claim.metadata), "provision", provisioner, clock.monotonic());
  const marked = migratedClaim(withAnnotations(claim, { [STORAGE_PROVISIONER_BETA]: provisioner, [STORAGE_PROVISIONER]: provisioner }));
  const asked = marked === claim ? claim : await write.update(persistentVolumeClaims, marked);
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    "If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
  events.record(asked, normal("ExternalProvisioning", message));
}

async function writeUnbound(claim: PersistentVolumeClaim, phase: "Pending" | "Lost", write: Client): Promise<void> {
  const status = unboundStatus(claim, phase);
  if (status !== undefined) await write.updateStatus(persistentVolumeClaims, { ...claim, status });
}

async function reconcileVolume(key: WorkKey, pass: Pass, binder: Binder): Promise<Outcome> {
  const { read, write, events, clock } = pass;
  const known = read.get(persistentVolumes, { name: key.name });
  if (known === undefined) {
    binder.metrics.end(key.name, clock.monotonic(), pass.metrics);
    await binder.recyclers.abandon(key.name, pass);
    return onChange;
  }
  const marked = migratedVolume(known);
  const volume = marked === known ? known : await write.update(persistentVolumes, marked);
  const claim = await claimOf(volume, pass);
  const plan = planVolume(volume, claim);
  switch (plan.is) {
    case "phase":
      await writePhase(volume, plan.phase, write);
      if (plan.phase === "Available") for (const waiting of binder.choice.claimsFor(volume, read)) pass.wake(waiting);
      return onChange;
    case "wake-claim":
      if (claim !== undefined) pass.wake(claimKey(claim.metadata));
      return onChange;
    case "report-mismatch":
      events.record(volume, plan.ofVolume);
      if (claim !== undefined) events.record(claim, plan.ofClaim);
      return onChange;
    case "unbind":
      await writePhase(await write.update(persistentVolumes, unbound(volume)), "Available", write);
      return onChange;
    case "reclaim":
      return reclaim(volume, pass, binder);
  }
}

/** The claim that the volume references, verified on the server before it counts as deleted. */
async function claimOf({ spec, status }: PersistentVolume, { read, write }: Pass): Promise<PersistentVolumeClaim | undefined> {
  const { namespace = "", name = "", uid = "" } = spec?.claimRef ?? {};
  if (uid === "") return undefined;
  const known = read.get(persistentVolumeClaims, { namespace, name });
  if (known?.metadata.uid === uid) return known;
  // Released and failed volumes have been verified before.
  if (known === undefined && (status?.phase === "Released" || status?.phase === "Failed")) return undefined;
  try {
    const live = await write.get(persistentVolumeClaims, { namespace, name });
    return live.metadata.uid === uid ? live : undefined;
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function reclaim(volume: PersistentVolume, pass: Pass, binder: Binder): Promise<Outcome> {
  const { write, clock } = pass;
  const released = volume.status?.phase === "Failed" ? volume : await writePhase(volume, "Released", write);
  const { name } = released.metadata;
  if (released.spec?.persistentVolumeReclaimPolicy === "Delete")
    binder.metrics.begin(name, "delete", pluginOf(released), clock.monotonic());
  const plan = planReclaim(released);
  switch (plan.is) {
    case "leave":
      return onChange;
    case "recycle":
      return recycle(released, pass, binder);
    case "fail":
      binder.metrics.fail(name, pass.metrics);
      await markFailed(released, plan.event, pass);
      return onChange;
  }
}

/** The event is emitted once, with the change of the phase. */
async function markFailed(volume: PersistentVolume, event: RecordedEvent, { write, events }: Pass): Promise<void> {
  if (volume.status?.phase === "Failed") return;
  events.record(await writePhase(volume, "Failed", write, event.message), event);
}

async function recycle(volume: PersistentVolume, pass: Pass, { recyclers }: Binder): Promise<Outcome> {
  const { read, write, events } = pass;
  const { namespace, name = "" } = volume.spec?.claimRef ?? {};
  const claim = { namespace, name };
  const users = read.indexed(podsByClaim, objectText(claim)).filter((pod) => !isTerminal(pod));
  // If the claim exists, it is a later one of the same name, with another volume, and the Pods are its.
  if (users.length > 0 && read.get(persistentVolumeClaims, claim) === undefined) {
    events.record(
      volume,
      normal("VolumeFailedRecycle", `Volume is used by pods: ${users.map(({ metadata }) => objectText(metadata)).join(",")}`),
    );
    return after(WAITING_RETRY_MS);
  }
  const result = await recyclers.advance(volume, pass);
  if (result.is === "under-way") return onChange;
  if (result.is === "backing-off") return after(result.remainingMs);
  if (result.is === "failed") {
    await markFailed(volume, warning("VolumeFailedRecycle", result.message), pass);
    return after(WAITING_RETRY_MS);
  }
  events.record(volume, normal("VolumeRecycled", "Volume recycled"));
  await writePhase(await write.update(persistentVolumes, unbound(volume)), "Available", write);
  return onChange;
}

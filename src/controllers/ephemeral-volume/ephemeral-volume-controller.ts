/**
 * Creates the claims of ephemeral volumes: a Pod with a `volumeClaimTemplate` gets the claim `<pod>-<volume>`, owned by the Pod, so that the
 * garbage collector deletes it with the Pod. A claim of that name which belongs to another owner is never used: the Pod waits, and an event
 * says why.
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { volumeClaimName } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { EphemeralVolumeSource, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { CounterDefinition } from "../../base/metrics/metric-set.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { messageOf } from "../shared/pod-control.ts";
import { defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { controlledBy, controllerReference, keyOf, objectText } from "../runtime/keys.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";

const CREATIONS: CounterDefinition = {
  type: "counter",
  name: "ephemeral_volume_controller_create_total",
  help: "Number of requests to create a claim of an ephemeral volume",
};
const FAILURES: CounterDefinition = {
  type: "counter",
  name: "ephemeral_volume_controller_create_failures_total",
  help: "Number of such requests that failed",
};

/** Keys are Pods. */
export const ephemeralVolumeController = defineController({
  name: "ephemeral-volume-controller",
  aliases: ["ephemeral-volume"],
  account: "ephemeral-volume-controller",
  component: "ephemeral_volume",
  rules: [
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create"] },
    // As owner of a claim.
    { apiGroups: [""], resources: ["pods/finalizers"], verbs: ["update"] },
  ],
  watches: [
    // The volumes of a Pod never change.
    watch(pods, ({ is, object }) => (is === "added" && needsClaims(object) ? [keyOf(object)] : [])),
    watch(persistentVolumeClaims, keysOfClaim),
  ],
  reconcile,
});

function needsClaims({ metadata, spec }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true;
}

/** A deleted claim is created again for its Pod, and may have been in the way of another's. */
function* keysOfClaim({ is, object }: Change<PersistentVolumeClaim>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted") return;
  for (const pod of read.indexed(podsByClaim, objectText(object.metadata))) if (needsClaims(pod)) yield keyOf(pod);
}

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, events } = pass;
  const pod = read.get(pods, key);
  if (pod === undefined || !needsClaims(pod)) return onChange;
  for (const volume of pod.spec?.volumes ?? []) {
    const name = volumeClaimName(pod.metadata.name, volume);
    if (volume.ephemeral === undefined || name === undefined) continue;
    try {
      await ensureClaim(pod, name, volume.ephemeral, pass);
    } catch (error) {
      events.record(pod, { type: "Warning", reason: "FailedBinding", message: `ephemeral volume ${volume.name}: ${messageOf(error)}` });
      throw error;
    }
  }
  return onChange;
}

async function ensureClaim(pod: Pod, name: string, { volumeClaimTemplate }: EphemeralVolumeSource, pass: Pass): Promise<void> {
  const { namespace = "" } = pod.metadata;
  const found = pass.read.get(persistentVolumeClaims, { namespace, name });
  if (found !== undefined) return mustBeFor(pod, found);
  const { metadata: { annotations, labels } = {}, spec = {} } = volumeClaimTemplate ?? {};
  const copied = { ...(annotations === undefined ? {} : { annotations }), ...(labels === undefined ? {} : { labels }) };
  const metadata = { namespace, name, ownerReferences: [controlledBy(pod)], ...copied };
  pass.metrics.count(CREATIONS);
  try {
    await pass.write.create(persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
  } catch (error) {
    pass.metrics.count(FAILURES);
    throw new Error(`create PVC ${name}: ${messageOf(error)}`, { cause: error });
  }
}

function mustBeFor(pod: Pod, claim: PersistentVolumeClaim): void {
  if (controllerReference(claim)?.uid === pod.metadata.uid) return;
  throw new Error(`PVC ${objectText(claim.metadata)} was not created for pod ${objectText(pod.metadata)} (pod is not owner)`);
}

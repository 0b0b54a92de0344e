/**
 * Creates the ResourceClaims of Pods that reference a template, reserves allocated claims for Pods that were placed without the scheduler,
 * and releases claims whose consumers ended: their reservations, their devices, and, if they were created for a Pod, the claims themselves.
 * Not here: allocation (the scheduler), the decisions (pod-claims.ts, generated-claim.ts, release-plan.ts).
 */
import { pods } from "../../api/core/v1/pod.ts";
import { resourceClaimNames } from "../../api/core/v1/pod/references.ts";
import type { Pod, PodResourceClaimStatus } from "../../api/generated/core/v1.ts";
import type { ResourceClaim, ResourceClaimConsumerReference, ResourceClaimTemplate } from "../../api/generated/resource.k8s.io/v1.ts";
import type { OwnerReference } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceClaimTemplates } from "../../api/resource.k8s.io/v1/resource-claim-template.ts";
import { deepEqual } from "../../base/deep.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { controllerReference, keyOf, kindName, objectText } from "../runtime/keys.ts";
import { countClaim, countCreation } from "./claim-metrics.ts";
import { generatedClaim } from "./generated-claim.ts";
import { needsReservation, podClaimOf, surplusClaims } from "./pod-claims.ts";
import { CLAIM_FINALIZER, isPodDone, isPodReference, planRelease } from "./release-plan.ts";

/** Field manager of the Pods' statuses, as upstream. */
const FIELD_MANAGER = "ResourceClaimController";
const GROUP = "resource.k8s.io";
const CLAIM = kindName(resourceClaims);

export const resourceClaimController = defineController({
  name: "resourceclaim-controller",
  aliases: ["resource-claim-controller"],
  account: "resource-claim-controller",
  component: "resource_claim",
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
    // As owner of a claim.
    { apiGroups: [""], resources: ["pods/finalizers"], verbs: ["update"] },
    { apiGroups: [GROUP], resources: ["resourceclaims"], verbs: ["create", "delete", "update"] },
    { apiGroups: [GROUP], resources: ["resourceclaims/status", "resourceclaims/binding"], verbs: ["update"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [
    watch(pods, keysOfPod),
    watch(resourceClaims, keysOfClaim, { count: countClaim }),
    watch(resourceClaimTemplates, keysOfTemplate),
  ],
  concurrency: 50,
  reconcile: (key, pass) => (key.kind === CLAIM ? reconcileClaim(key, pass) : reconcilePod(key, pass)),
});

/** Hot path (called for every version of every Pod): most Pods have no claims. */
function hasClaims({ spec, status }: Pod): boolean {
  return spec?.resourceClaims !== undefined || status?.extendedResourceClaimStatus !== undefined;
}

const podsByClaim = defineIndex(pods, (pod) => {
  if (!hasClaims(pod)) return [];
  const { namespace } = pod.metadata;
  return [...resourceClaimNames(pod)].map((name) => objectText({ namespace, name }));
});

const podsByTemplate = defineIndex(pods, ({ metadata: { namespace }, spec }) =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name === undefined ? [] : [objectText({ namespace, name })],
  ),
);

function* keysOfPod({ is, object, previous }: Change<Pod>): Iterable<WorkKey> {
  if (hasClaims(object)) {
    if (is === "deleted" || isPodDone(object)) yield* claimKeys(object);
    if (is !== "deleted" && object.metadata.deletionTimestamp === undefined) yield keyOf(object);
  }
  // Replaced by another of its name, unobserved.
  if (previous !== undefined && previous.metadata.uid !== object.metadata.uid && hasClaims(previous)) yield* claimKeys(previous);
}

function* claimKeys(pod: Pod): Iterable<WorkKey> {
  const { namespace } = pod.metadata;
  for (const name of resourceClaimNames(pod)) yield { kind: CLAIM, namespace, name };
}

function* keysOfClaim({ is, object }: Change<ResourceClaim>, read: Reader): Iterable<WorkKey> {
  const { namespace } = object.metadata;
  if (is !== "deleted") yield { kind: CLAIM, ...keyOf(object) };
  const owner = ownerPod(object);
  if (owner !== undefined) yield { namespace, name: owner.name };
  for (const pod of read.indexed(podsByClaim, objectText(object.metadata))) yield keyOf(pod);
}

function* keysOfTemplate({ is, object }: Change<ResourceClaimTemplate>, read: Reader): Iterable<WorkKey> {
  if (is === "deleted") return;
  for (const pod of read.indexed(podsByTemplate, objectText(object.metadata))) yield keyOf(pod);
}

async function reconcilePod(key: WorkKey, pass: Pass): Promise<Outcome> {
  const pod = pass.read.get(pods, key);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return onChange;
  const statuses = await claimStatuses(pod, pass);
  if (!hasStatuses(pod, statuses)) {
    const status = { resourceClaimStatuses: statuses };
    const { namespace = "", name } = pod.metadata;
    const object = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name }, status } as const;
    await pass.write.apply(pods, object, { subresource: "status", fieldManager: FIELD_MANAGER, force: true });
  }
  await deleteSurplus(pod, statuses, pass);
  // Of the others the scheduler reserves the claims.
  if ((pod.spec?.nodeName ?? "") !== "") await reserveClaims(pod, statuses, pass);
  return onChange;
}

/** Creates missing claims. An entry whose template does not exist is reported and left out until the template is created. */
async function claimStatuses(pod: Pod, { read, write, events, metrics }: Pass): Promise<readonly PodResourceClaimStatus[]> {
  const statuses: PodResourceClaimStatus[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const found = podClaimOf(pod, entry, read.controlledBy(resourceClaims, pod));
    if (found.is === "existing") statuses.push({ name: entry.name, resourceClaimName: found.claimName });
    if (found.is !== "missing") continue;
    const { templateName } = found;
    const failed = (problem: string) =>
      events.record(pod, {
        type: "Warning",
        reason: "FailedResourceClaimCreation",
        message: `PodResourceClaim ${entry.name}: ${problem}`,
      });
    const template = read.get(resourceClaimTemplates, { namespace: pod.metadata.namespace, name: templateName });
    if (template === undefined) {
      failed(`resource claim template "${templateName}": resourceclaimtemplate.${GROUP} "${templateName}" not found`);
      continue;
    }
    const draft = generatedClaim(pod, entry.name, template);
    try {
      const created = await write.create(resourceClaims, draft);
      countCreation("success", draft, metrics);
      statuses.push({ name: entry.name, resourceClaimName: created.metadata.name });
    } catch (error) {
      countCreation("failure", draft, metrics);
      failed(`create ResourceClaim : ${(error as Error).message}`);
      throw error;
    }
  }
  return statuses;
}

async function deleteSurplus(pod: Pod, statuses: readonly PodResourceClaimStatus[], { read, write }: Pass): Promise<void> {
  for (const { metadata } of surplusClaims(statuses, read.controlledBy(resourceClaims, pod))) {
    const { namespace, name, uid = "", resourceVersion = "" } = metadata;
    // With its resourceVersion, too: it may just have been allocated.
    await write.delete(resourceClaims, { namespace, name }, { preconditions: { uid, resourceVersion } });
  }
}

function hasStatuses({ status }: Pod, wanted: readonly PodResourceClaimStatus[]): boolean {
  const current = new Map(status?.resourceClaimStatuses?.map((entry) => [entry.name, entry]));
  return wanted.every((entry) => deepEqual(current.get(entry.name), entry));
}

async function reserveClaims(pod: Pod, statuses: readonly PodResourceClaimStatus[], { read, write }: Pass): Promise<void> {
  const { namespace, name: podName, uid = "" } = pod.metadata;
  const given = (pod.spec?.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName);
  for (const name of [...given, ...statuses.map(({ resourceClaimName }) => resourceClaimName)]) {
    const claim = name === undefined ? undefined : read.get(resourceClaims, { namespace, name });
    if (claim === undefined || !needsReservation(claim, pod)) continue;
    const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: "pods", name: podName, uid }];
    await write.updateStatus(resourceClaims, { ...claim, status: { ...claim.status, reservedFor } });
  }
}

async function reconcileClaim({ namespace, name }: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, write } = pass;
  let claim = read.get(resourceClaims, { namespace, name });
  if (claim === undefined) return onChange;
  const plan = planRelease(claim, await remainingConsumers(claim, pass));
  if (plan.status !== undefined) claim = await write.updateStatus(resourceClaims, { ...claim, status: plan.status });
  if (plan.removesFinalizer) claim = await withoutFinalizer(claim, pass);
  if (!plan.isReserved && claim.metadata.deletionTimestamp === undefined && isOwnerDone(claim, read)) {
    const { uid = "" } = claim.metadata;
    await write.delete(resourceClaims, { namespace, name }, { preconditions: { uid } });
  }
  return onChange;
}

function withoutFinalizer(claim: ResourceClaim, { write }: Pass): Promise<ResourceClaim> {
  const finalizers = claim.metadata.finalizers?.filter((finalizer) => finalizer !== CLAIM_FINALIZER) ?? [];
  return write.update(resourceClaims, { ...claim, metadata: { ...claim.metadata, finalizers } });
}

async function remainingConsumers({ metadata, status }: ResourceClaim, pass: Pass): Promise<readonly ResourceClaimConsumerReference[]> {
  const remaining = [];
  for (const consumer of status?.reservedFor ?? []) {
    // Consumers of other kinds remove their own reservations.
    if (!isPodReference(consumer) || (await mayStillRun(metadata.namespace, consumer, pass))) remaining.push(consumer);
  }
  return remaining;
}

/** Queries the server about a Pod that the informers do not know: the scheduler may be placing it, and needs its reservation. */
async function mayStillRun(
  namespace: string | undefined,
  { name, uid }: ResourceClaimConsumerReference,
  { read, write }: Pass,
): Promise<boolean> {
  const known = read.get(pods, { namespace, name });
  if (known !== undefined) return known.metadata.uid === uid && !isPodDone(known);
  try {
    return (await write.get(pods, { namespace, name })).metadata.uid === uid;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}

/** False if the Pod is unknown: the garbage collector deletes claims of deleted Pods. */
function isOwnerDone(claim: ResourceClaim, read: Reader): boolean {
  const owner = ownerPod(claim);
  if (owner === undefined) return false;
  const pod = read.get(pods, { namespace: claim.metadata.namespace, name: owner.name });
  return pod !== undefined && (pod.metadata.uid !== owner.uid || isPodDone(pod));
}

function ownerPod(claim: ResourceClaim): OwnerReference | undefined {
  const owner = controllerReference(claim);
  return owner?.kind === "Pod" && owner.apiVersion === "v1" ? owner : undefined;
}

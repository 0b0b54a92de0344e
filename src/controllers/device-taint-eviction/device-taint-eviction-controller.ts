/**
 * Evicts Pods that use devices with NoExecute taints, when the tolerations of their claims expire (eviction-time.ts). A Pod gets a
 * DisruptionTarget condition before it is deleted. Taints come from the drivers, in ResourceSlices; DeviceTaintRules are off by default.
 */
import { pods } from "../../api/core/v1/pod.ts";
import { disruptionTarget } from "../../api/core/v1/pod/disruption-target.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { resourceClaimNames } from "../../api/core/v1/pod/references.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ResourceClaim, ResourceSlice } from "../../api/generated/resource.k8s.io/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceSlices } from "../../api/resource.k8s.io/v1/resource-slice.ts";
import { deepEqual } from "../../base/deep.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf, objectText } from "../runtime/keys.ts";
import { hasEvictingTaint, podEvictionMs } from "./eviction-time.ts";

const WHY = {
  status: "True",
  reason: "DeletionByDeviceTaintManager",
  message: "Device Taint manager: deleting due to NoExecute taint",
} as const;

/** Pods with a pending eviction, by "namespace/name", to report its cancellation; may be lost at any time. */
type Pending = Set<string>;

export const deviceTaintEvictionController = defineController({
  name: "device-taint-eviction-controller",
  account: "device-taint-eviction-controller",
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["delete"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [watch(pods, keysOfPod), watch(resourceClaims, keysOfClaim), watch(resourceSlices, keysOfSlice)],
  // Upstream's number of workers.
  concurrency: 8,
  start() {
    const pending: Pending = new Set();
    return (key, pass) => evictOrWait(key, pass, pending);
  },
});

function poolText(driver: string, pool: string): string {
  return `${driver} ${pool}`;
}

const slicesByPool = defineIndex(resourceSlices, ({ spec }) => [poolText(spec.driver, spec.pool.name)]);

const claimsByPool = defineIndex(
  resourceClaims,
  ({ status }) => new Set(status?.allocation?.devices?.results?.map(({ driver, pool }) => poolText(driver, pool))),
);

/** Hot path (called for every version of every Pod): most Pods have no claims. */
function* keysOfPod({ is, object, previous }: Change<Pod>): Iterable<WorkKey> {
  if (object.spec?.resourceClaims === undefined || object.spec.nodeName === undefined) return;
  const isSame =
    object.spec.nodeName === previous?.spec?.nodeName &&
    deepEqual(object.status?.resourceClaimStatuses, previous.status?.resourceClaimStatuses);
  if (is !== "updated" || !isSame) yield keyOf(object);
}

/** The Pods for which it is reserved, or was. */
function* keysOfClaim({ object, previous }: Change<ResourceClaim>): Iterable<WorkKey> {
  const { namespace } = object.metadata;
  const consumers = [...(object.status?.reservedFor ?? []), ...(previous?.status?.reservedFor ?? [])];
  for (const name of new Set(consumers.map((consumer) => consumer.name))) yield { namespace, name };
}

/** A slice without taints matters, too: a new generation of a pool replaces slices that have some. */
function* keysOfSlice({ object, previous }: Change<ResourceSlice>, read: Reader): Iterable<WorkKey> {
  const pool = poolText(object.spec.driver, object.spec.pool.name);
  const slices = [object, ...(previous === undefined ? [] : [previous]), ...read.indexed(slicesByPool, pool)];
  if (!slices.some(hasEvictingTaint)) return;
  for (const claim of read.indexed(claimsByPool, pool)) yield* keysOfClaim({ is: "added", object: claim });
}

async function evictOrWait(key: WorkKey, pass: Pass, pending: Pending): Promise<Outcome> {
  const { read, clock } = pass;
  const pod = read.get(pods, key);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return forget(key, pending);
  const evictionMs = podEvictionMs(pod, claimsOf(pod, read), ({ driver, pool }) => read.indexed(slicesByPool, poolText(driver, pool)));
  if (evictionMs === undefined) {
    if (pending.has(objectText(key))) emitEvent(pod, "Cancelling deletion", pass);
    return forget(key, pending);
  }
  const leftMs = evictionMs - clock.now();
  if (leftMs > 0) {
    pending.add(objectText(key));
    return after(leftMs);
  }
  await evict(pod, pass);
  return forget(key, pending);
}

function forget(key: WorkKey, pending: Pending): Outcome {
  pending.delete(objectText(key));
  return onChange;
}

function claimsOf(pod: Pod, read: Reader): readonly ResourceClaim[] {
  const { namespace } = pod.metadata;
  return [...resourceClaimNames(pod)].flatMap((name) => read.get(resourceClaims, { namespace, name }) ?? []);
}

async function evict(pod: Pod, pass: Pass): Promise<void> {
  const { uid = "" } = pod.metadata;
  emitEvent(pod, "Marking for deletion", pass);
  const condition = disruptionTarget(pod, WHY, pass.clock.now());
  try {
    if (condition !== undefined) {
      const value = { metadata: { uid }, status: { conditions: [{ ...condition }] } };
      await pass.write.patch(pods, keyOf(pod), { type: "strategic", value }, { subresource: "status" });
    }
    await pass.write.delete(pods, keyOf(pod), { preconditions: { uid } });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

function emitEvent(pod: Pod, message: string, { events }: Pass): void {
  events.record(pod, { type: "Normal", reason: "DeviceTaintManagerEviction", message });
}

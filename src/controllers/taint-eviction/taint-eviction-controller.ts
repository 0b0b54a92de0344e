/**
 * Evicts Pods from Nodes with NoExecute taints, when their toleration expires (eviction-time.ts). A Pod gets a DisruptionTarget condition
 * before it is deleted. The origin of the taint does not matter: the node lifecycle controller, or a user.
 *
 * The remaining time is computed once, from the stored timestamps, and then measured by the monotonic clock: a jump of the wall clock
 * evicts nothing.
 */
import { nodes } from "../../api/core/v1/node.ts";
import { nodeOf, podsByNode } from "../../api/core/v1/pod/by-node.ts";
import { disruptionTarget } from "../../api/core/v1/pod/disruption-target.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf, objectText } from "../runtime/keys.ts";
import { noExecuteTaints, stayOf } from "./eviction-time.ts";

const WHY = { status: "True", reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" } as const;

/** Pods with a pending eviction, by "namespace/name"; may be lost at any time. */
type Stays = Map<string, { readonly pod: Pod; readonly endMs: number }>;

export const taintEvictionController = defineController({
  name: "taint-eviction-controller",
  account: "node-controller",
  component: "taint-eviction-controller",
  rules: [
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "delete"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [
    { kind: pods, keys: keysOfPod },
    { kind: nodes, keys: keysOfNode },
  ],
  // Upstream's number of workers.
  concurrency: 8,
  start() {
    const stays: Stays = new Map();
    return (key, pass) => lookAtPod(key, pass, stays);
  },
});

function* keysOfPod({ is, object, previous }: Change<Pod>): Iterable<WorkKey> {
  if (nodeOf(object) === "") return;
  const isSame = nodeOf(object) === nodeOf(previous ?? object) && deepEqual(object.spec?.tolerations, previous?.spec?.tolerations);
  if (is !== "updated" || !isSame) yield keyOf(object);
}

function* keysOfNode({ is, object, previous }: Change<Node>, read: Reader): Iterable<WorkKey> {
  const taints = noExecuteTaints(object.spec?.taints);
  const isSame = is === "updated" ? deepEqual(taints, noExecuteTaints(previous?.spec?.taints)) : taints.length === 0;
  if (!isSame) yield* read.indexed(podsByNode, object.metadata.name).map(keyOf);
}

async function lookAtPod(key: WorkKey, pass: Pass, stays: Stays): Promise<Outcome> {
  const pod = pass.read.get(pods, key);
  const node = pod === undefined ? undefined : pass.read.get(nodes, { name: nodeOf(pod) });
  const taints = noExecuteTaints(node?.spec?.taints);
  if (pod === undefined || taints.length === 0) return cancel(key, pass, stays);
  if (pod.metadata.deletionTimestamp !== undefined) return forget(key, stays);

  const stay = stayOf(pod, taints, pass.clock.now());
  if (stay.is === "forever") return cancel(key, pass, stays);
  const nowMs = pass.clock.monotonic();
  if (stay.is === "over") cancel(key, pass, stays);
  else {
    const known = stays.get(objectText(key));
    // Another taint may shorten a running timer, but does not restart it.
    const isKnown = known?.pod.metadata.uid === pod.metadata.uid;
    const endMs = isKnown && known !== undefined ? Math.min(known.endMs, nowMs + stay.totalMs) : nowMs + stay.remainingMs;
    if (endMs > nowMs) {
      stays.set(objectText(key), { pod, endMs });
      return after(endMs - nowMs);
    }
  }
  await evict(pod, pass);
  return forget(key, stays);
}

function cancel(key: WorkKey, pass: Pass, stays: Stays): Outcome {
  const stay = stays.get(objectText(key));
  if (stay !== undefined) emitEvent(stay.pod, `Cancelling deletion of Pod ${objectText(key)}`, pass);
  return forget(key, stays);
}

function forget(key: WorkKey, stays: Stays): Outcome {
  stays.delete(objectText(key));
  return onChange;
}

async function evict(pod: Pod, pass: Pass): Promise<void> {
  const { uid } = pod.metadata;
  emitEvent(pod, `Marking for deletion Pod ${objectText(pod.metadata)}`, pass);
  const condition = disruptionTarget(pod, WHY, pass.clock.now());
  try {
    if (condition !== undefined) {
      const value = { metadata: { uid }, status: { conditions: [{ ...condition }] } };
      await pass.write.patch(pods, keyOf(pod), { type: "strategic", value }, { subresource: "status" });
    }
    await pass.write.delete(pods, keyOf(pod), uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

function emitEvent(pod: Pod, message: string, { events }: Pass): void {
  events.record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
}

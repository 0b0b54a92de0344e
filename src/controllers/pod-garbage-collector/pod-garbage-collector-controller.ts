/**
 * Deletes orphaned Pods (collectable.ts): at once those that no kubelet has or will have, after a delay those of a deleted Node, and the
 * surplus of terminated ones. Such a Pod is first marked as failed, since no kubelet will, and then deleted without a grace period.
 * Upstream scans all Pods every 20 s. Here changes trigger, and only terminated ones are counted at most that often.
 */
import { nodes } from "../../api/core/v1/node.ts";
import { nodeOf, podsByNode } from "../../api/core/v1/pod/by-node.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, type Change, type Controller } from "../runtime/controller.ts";
import type { Outcome, Pass, WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import {
  endedStatus,
  isDone,
  isTerminating,
  isTerminatingNow,
  isOutOfService,
  isUnscheduledAndTerminating,
  surplusOf,
  type Ending,
} from "./collectable.ts";

export interface PodGarbageCollectorSettings {
  /** Maximum number of terminated Pods; 0 or less: all are kept. --terminated-pod-gc-threshold. Default: 12,500. */
  readonly terminatedPodThreshold: number;
}

const THRESHOLD_DEFAULT = 12_500;

/** How long a Node must be missing before its Pods count as orphaned: informers of Nodes and Pods are not synchronised. */
const QUARANTINE_MS = 40_000;

/** Counting gets slower with their number, and a few too many do no harm. */
const COUNT_INTERVAL_MS = 20_000;

const NODE = "nodes";
const ENDED: WorkKey = { kind: "ended", name: "all" };

const NODE_IS_GONE = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

const endedPods = defineIndex(pods, (pod) => (isTerminal(pod) ? [ENDED.name] : []));

/** All of it may be lost at any time. */
interface Memory {
  readonly missingSinceMs: Map<string, number>;
  countedAtMs: number | undefined;
}

export function podGarbageCollectorController(given: Partial<PodGarbageCollectorSettings> = {}): Controller {
  const { terminatedPodThreshold = THRESHOLD_DEFAULT } = given;
  return defineController({
    name: "pod-garbage-collector-controller",
    aliases: ["podgc"],
    account: "pod-garbage-collector",
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "delete"] },
      { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
    ],
    watches: [
      { kind: pods, keys: keysOfPod },
      { kind: nodes, keys: keysOfNode },
    ],
    start() {
      const memory: Memory = { missingSinceMs: new Map(), countedAtMs: undefined };
      return (key, pass) => {
        if (key.kind === ENDED.kind) return lookAtEnded(pass, memory, terminatedPodThreshold);
        return key.kind === NODE ? lookAtNode(key.name, pass, memory) : lookAtPod(key, pass);
      };
    },
  });
}

function* keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is === "deleted") return;
  if (isTerminal(object) && (previous === undefined || !isTerminal(previous))) yield ENDED;
  if (isUnscheduledAndTerminating(object)) yield keyOf(object);
  const name = nodeOf(object);
  const node = name === "" ? undefined : read.get(nodes, { name });
  const isLeftAlone = !isDone(object) && (node === undefined || (isTerminating(object) && isOutOfService(node)));
  if (name !== "" && isLeftAlone) yield { kind: NODE, name };
}

function* keysOfNode({ is, object }: Change<Node>): Iterable<WorkKey> {
  if (is === "deleted" || isOutOfService(object)) yield { kind: NODE, name: object.metadata.name };
}

async function lookAtPod(key: WorkKey, pass: Pass): Promise<Outcome> {
  const pod = pass.read.get(pods, key);
  if (pod !== undefined && isUnscheduledAndTerminating(pod)) await remove([pod], { nowMs: pass.clock.now() }, pass);
  return onChange;
}

async function lookAtNode(name: string, pass: Pass, { missingSinceMs }: Memory): Promise<Outcome> {
  const { read, clock } = pass;
  const node = read.get(nodes, { name });
  const itsPods = read.indexed(podsByNode, name);
  if (node !== undefined || itsPods.every(isDone)) {
    missingSinceMs.delete(name);
    const isOff = node !== undefined && isOutOfService(node);
    if (isOff) await remove(itsPods.filter(isTerminating), { nowMs: clock.now() }, pass);
    return onChange;
  }
  const sinceMs = missingSinceMs.get(name) ?? clock.monotonic();
  missingSinceMs.set(name, sinceMs);
  const remainingMs = sinceMs + QUARANTINE_MS - clock.monotonic();
  if (remainingMs > 0) return after(remainingMs);
  if (!(await isGone(name, pass))) return after(QUARANTINE_MS);
  await remove(itsPods, { because: NODE_IS_GONE, nowMs: clock.now() }, pass);
  // Pods bound to it later wait for the full time again.
  missingSinceMs.delete(name);
  return onChange;
}

/** A live read: the cache may lack it. */
async function isGone(name: string, { write }: Pass): Promise<boolean> {
  try {
    await write.get(nodes, { name });
    return false;
  } catch (error) {
    if (isReason(error, "NotFound")) return true;
    throw error;
  }
}

async function lookAtEnded(pass: Pass, memory: Memory, threshold: number): Promise<Outcome> {
  const { read, clock } = pass;
  const nextMs = (memory.countedAtMs ?? -Infinity) + COUNT_INTERVAL_MS;
  if (nextMs > clock.monotonic()) return after(nextMs - clock.monotonic());
  memory.countedAtMs = clock.monotonic();
  await remove(surplusOf(read.indexed(endedPods, ENDED.name), threshold), { nowMs: clock.now() }, pass);
  return onChange;
}

async function remove(unwanted: readonly Pod[], ending: Ending, pass: Pass): Promise<void> {
  await inTurns(unwanted, (pod) => end(pod, ending, pass));
}

async function end(pod: Pod, ending: Ending, { write, log }: Pass): Promise<void> {
  const { uid } = pod.metadata;
  const status = endedStatus(pod, ending);
  log.info("Deleting a Pod by force", { pod: keyOf(pod) });
  try {
    const value = { metadata: { uid }, status };
    if (status !== undefined) await write.patch(pods, keyOf(pod), { type: "strategic", value }, { subresource: "status" });
    if (isTerminatingNow(pod)) return;
    await write.delete(pods, keyOf(pod), { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { preconditions: { uid } }) });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

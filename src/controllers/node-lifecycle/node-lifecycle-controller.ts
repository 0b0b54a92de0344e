/**
 * Marks lost Nodes, and keeps Pods off unhealthy ones. A Node without a heartbeat (lease or status) for the grace period gets conditions
 * with status Unknown; its Pods become not ready; NoSchedule taints are added at once, NoExecute taints one Node after the other
 * (zones.ts). There is no polling: each Node is reconciled when it changes, and when its grace period expires. Not here: evicting the Pods
 * (controllers/taint-eviction), deleting Nodes whose machine no longer exists (cloud provider).
 */
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { nodeOf, podsByNode } from "../../api/core/v1/pod/by-node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Lease } from "../../api/generated/coordination.k8s.io/v1.ts";
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { after, defineController, onChange, type Change, type Controller, type ControllerContext } from "../runtime/controller.ts";
import type { Outcome, Pass, WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { lostConditions, podsToTakeBack, withoutReadiness } from "./lost-node.ts";
import { plannedLabels, plannedTaints } from "./node-marks.ts";
import { recordEviction, recordZones } from "./node-metrics.ts";
import { Observation, heartbeatOf } from "./observation.ts";
import { NODE_LIFECYCLE_DEFAULTS, type NodeLifecycleSettings } from "./settings.ts";
import { planZones, zoneFacts } from "./zones.ts";

const LEASE_NAMESPACE = "kube-node-lease";

/** Keys besides those of the Nodes. */
const ZONES: WorkKey = { kind: "zones", name: "all" };
const OURSELVES: WorkKey = { kind: "ourselves", name: "listening" };

/** When many Nodes are lost at once, all are counted periodically and not for each of them. Upstream's eviction period. */
const ZONES_INTERVAL_MS = 100;

/** A check that is late by as much as itself means that this process was paused. */
const PAUSE_PERIODS = 2;

/** All of it may be lost at any time. */
interface Memory {
  readonly settings: NodeLifecycleSettings;
  readonly observation: Observation;
  /** Nodes with a reported event, as last seen. */
  readonly known: Map<string, Node>;
  readonly granted: Set<string>;
  readonly lastGrantMs: Map<string, number>;
  /** Zones with metrics, which are zero when their last Node is deleted. */
  readonly countedZones: Set<string>;
  zonesLookedAtMs: number;
  isStopped: boolean;
}

export function nodeLifecycleController(given: Partial<NodeLifecycleSettings> = {}): Controller {
  const settings = { ...NODE_LIFECYCLE_DEFAULTS, ...given };
  return defineController({
    name: "node-lifecycle-controller",
    aliases: ["nodelifecycle"],
    account: "node-controller",
    rules: [
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: [""], resources: ["nodes/status", "pods/status"], verbs: ["update"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [
      { kind: nodes, keys: keysOfNode },
      { kind: leases, keys: keysOfLease },
      { kind: pods, keys: keysOfPod },
    ],
    // Upstream's number of Node workers.
    concurrency: 8,
    start(context) {
      const memory = newMemory(settings, context);
      return (key, pass) => {
        if (key.kind === ZONES.kind) return Promise.resolve(lookAtZones(pass, memory));
        return key.kind === OURSELVES.kind ? lookAtOurselves(pass, memory) : lookAtNode(key.name, pass, memory);
      };
    },
  });
}

function newMemory(settings: NodeLifecycleSettings, { clock }: ControllerContext): Memory {
  const observation = new Observation({ nowMs: clock.monotonic(), pauseMs: PAUSE_PERIODS * settings.nodeMonitorPeriodMs });
  const zones = {
    granted: new Set<string>(),
    lastGrantMs: new Map<string, number>(),
    countedZones: new Set<string>(),
    zonesLookedAtMs: -Infinity,
    isStopped: false,
  };
  return { settings, observation, known: new Map(), ...zones };
}

// ── what wakes ──────────────────────────────────────────────────────────────────────────────────────

function* keysOfNode({ is, object, previous }: Change<Node>): Iterable<WorkKey> {
  yield keyOf(object);
  if (is === "added") yield OURSELVES;
  if (previous === undefined || zoneFacts(previous) !== zoneFacts(object)) yield ZONES;
}

function* keysOfLease({ object }: Change<Lease>): Iterable<WorkKey> {
  if (object.metadata.namespace === LEASE_NAMESPACE) yield { name: object.metadata.name };
}

/** A Pod that is bound to a lost Node is not ready. What becomes of it there is reported by the kubelet. */
function* keysOfPod({ is, object, previous }: Change<Pod>): Iterable<WorkKey> {
  const name = nodeOf(object);
  if (is !== "deleted" && name !== "" && (previous === undefined || nodeOf(previous) !== name)) yield { name };
}

// ── one Node ────────────────────────────────────────────────────────────────────────────────────────

async function lookAtNode(name: string, pass: Pass, memory: Memory): Promise<Outcome> {
  const { read, clock } = pass;
  const { observation, known } = memory;
  const seen = read.get(nodes, { name });
  if (seen === undefined) return forget(name, pass, memory);
  if (!known.has(name)) emitEvent(seen, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`, pass);
  known.set(name, seen);
  observation.observe(name, heartbeatOf(seen, read.get(leases, { namespace: LEASE_NAMESPACE, name })), clock.monotonic());

  const graceMs = graceOf(seen, memory.settings);
  const silentMs = observation.silentMs(name, clock.monotonic());
  const isSilent = silentMs >= graceMs;
  const node = isSilent ? await declareLost(seen, pass) : seen;
  await mark(node, pass, memory);
  const itsPods = readyCondition(node)?.status === "Unknown" ? read.indexed(podsByNode, name) : [];
  await takeBack(podsToTakeBack(node, itsPods, { isSilent }), pass);
  // For a lost one the next heartbeat triggers the reconciliation.
  return isSilent ? onChange : after(graceMs - silentMs);
}

function forget(name: string, pass: Pass, { known, observation, granted }: Memory): Outcome {
  const deleted = known.get(name);
  if (deleted !== undefined) emitEvent(deleted, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`, pass);
  known.delete(name);
  granted.delete(name);
  observation.forget(name);
  return onChange;
}

function graceOf(node: Node, { nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs }: NodeLifecycleSettings): number {
  return readyCondition(node) === undefined ? nodeStartupGracePeriodMs : nodeMonitorGracePeriodMs;
}

async function declareLost(node: Node, pass: Pass): Promise<Node> {
  const conditions = lostConditions(node, pass.clock.now());
  if (conditions === undefined) return node;
  const { name } = node.metadata;
  const lost = await pass.write.updateStatus(nodes, { ...node, status: { ...node.status, conditions } });
  if (readyCondition(node)?.status === "True") emitEvent(node, "NodeNotReady", `Node ${name} status is now: NodeNotReady`, pass);
  return lost;
}

async function mark(node: Node, { write, clock, metrics }: Pass, { granted, isStopped }: Memory): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  const isGranted = granted.has(name);
  const taints = plannedTaints(node, { isGranted, isStopped }, clock.now());
  const labels = plannedLabels(node);
  if (taints !== undefined || labels !== undefined) {
    // With the resourceVersion, since taints are one list with several writers.
    const metadata = { resourceVersion, ...(labels === undefined ? {} : { labels }) };
    const value = { metadata, ...(taints === undefined ? {} : { spec: { taints: taints.map((taint) => ({ ...taint })) } }) };
    await write.patch(nodes, { name }, { type: "strategic", value });
    if (isGranted && taints !== undefined) recordEviction(node, metrics);
  }
  // A turn granted meanwhile is for the next reconciliation.
  if (isGranted) granted.delete(name);
}

async function takeBack(ready: readonly Pod[], { write, events, clock }: Pass): Promise<void> {
  await inTurns(ready, async (pod) => {
    try {
      await write.updateStatus(pods, withoutReadiness(pod, clock.now()));
    } catch (error) {
      if (isReason(error, "NotFound")) return;
      throw error;
    }
    events.record(pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
  });
}

function emitEvent(node: Node, reason: string, message: string, { events }: Pass): void {
  events.record(node, { type: "Normal", reason, message });
}

// ── all Nodes ───────────────────────────────────────────────────────────────────────────────────────

/** Grants eviction turns; the Node's reconciliation then writes the taint. */
function lookAtZones({ read, clock, log, metrics, wake }: Pass, memory: Memory): Outcome {
  const nowMs = clock.monotonic();
  const dueMs = memory.zonesLookedAtMs + ZONES_INTERVAL_MS;
  if (dueMs > nowMs) return after(dueMs - nowMs);
  memory.zonesLookedAtMs = nowMs;
  const all = read.list(nodes);
  recordZones(all, memory.countedZones, metrics);
  const { isStopped, grants, nextMs } = planZones(all, memory.settings, memory, nowMs);
  if (isStopped !== memory.isStopped) {
    log.info(isStopped ? "All Nodes are lost: Pods stay where they are" : "Some Nodes are back");
    // Nodes that were not heard while we were disconnected have their whole grace period again.
    if (!isStopped) memory.observation.restart(nowMs);
    memory.isStopped = isStopped;
    for (const node of all) wake(keyOf(node));
  }
  for (const { zone, node } of grants) {
    memory.lastGrantMs.set(zone, nowMs);
    memory.granted.add(node);
    wake({ name: node });
  }
  return nextMs === undefined ? onChange : after(nextMs - nowMs);
}

/** That we run, and, if a Node is late, that the API server responds: otherwise the silence is not the Node's fault. */
async function lookAtOurselves({ read, write, clock, log }: Pass, { observation, settings }: Memory): Promise<Outcome> {
  observation.check(clock.monotonic());
  const isNotLost = (name: string): boolean => {
    const node = read.get(nodes, { name });
    return node !== undefined && readyCondition(node)?.status !== "Unknown";
  };
  const name = observation.suspect(clock.monotonic(), isNotLost);
  if (name !== undefined) {
    try {
      await write.get(nodes, { name });
    } catch (error) {
      if (!isReason(error, "NotFound")) {
        log.warn("Cannot list Nodes; missing heartbeats are ignored meanwhile", { error });
        observation.restart(clock.monotonic());
      }
    }
  }
  return observation.isEmpty ? onChange : after(settings.nodeMonitorPeriodMs);
}

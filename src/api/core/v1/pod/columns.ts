/** The table of pods, and what its rows say beyond their cells: which pods are done. */
import type { Pod } from "../../../generated/core/v1.ts";
import { ageColumn, nameColumn, NONE, orNone, textColumn } from "../../../machinery/columns.ts";
import { ageOf } from "../../../machinery/duration.ts";
import type { Column } from "../../../machinery/resource.ts";
import { summarizePod } from "./summary.ts";
import { specOf } from "./validate-pod.ts";

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  textColumn("Ready", "The aggregate readiness state of this pod for accepting traffic.", readyCell),
  textColumn("Status", "The aggregate status of the containers in this pod.", (pod) => summarizePod(pod).status),
  textColumn(
    "Restarts",
    "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
    restartsCell,
  ),
  ageColumn,
  textColumn(
    "IP",
    "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
    (pod) => orNone(pod.status?.podIPs?.[0]?.ip),
    { priority: 1 },
  ),
  textColumn(
    "Node",
    "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
    (pod) => orNone(specOf(pod).nodeName),
    { priority: 1 },
  ),
  textColumn(
    "Nominated Node",
    "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.",
    (pod) => orNone(pod.status?.nominatedNodeName),
    { priority: 1 },
  ),
  textColumn(
    "Readiness Gates",
    'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
    readinessGatesCell,
    { priority: 1 },
  ),
];

function readyCell(pod: Pod): string {
  const { ready, total } = summarizePod(pod);
  return `${ready}/${total}`;
}

function restartsCell(pod: Pod, { nowMs }: { readonly nowMs: number }): string {
  const { restarts, lastRestart } = summarizePod(pod);
  return restarts === 0 || lastRestart === "" ? `${restarts}` : `${restarts} (${ageOf(lastRestart, nowMs)} ago)`;
}

function readinessGatesCell(pod: Pod): string {
  const gates = specOf(pod).readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const conditions = pod.status?.conditions ?? [];
  const open = gates.filter(({ conditionType }) => conditions.find(({ type }) => type === conditionType)?.status === "True");
  return `${open.length}/${gates.length}`;
}

type RowConditions = readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];

const SUCCEEDED: RowConditions = [
  { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
];
const FAILED: RowConditions = [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }];

export function podRowConditions(pod: Pod): RowConditions {
  const phase = pod.status?.phase;
  return phase === "Succeeded" ? SUCCEEDED : phase === "Failed" ? FAILED : [];
}

/** The table of Pods, and the row condition of finished Pods. */
import type { Pod } from "../../../generated/core/v1.ts";
import { ageColumn, nameColumn, NONE, orNone, textColumn } from "../../../machinery/columns.ts";
import { ageOf } from "../../../machinery/duration.ts";
import type { Column } from "../../../machinery/resource.ts";
import { summarizePod } from "./summary.ts";
import { specOf } from "./validation/pod.ts";

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  textColumn("Ready", "Ready containers of all", readyCell),
  textColumn("Status", "Summary of the Pod phase and container states", (pod) => summarizePod(pod).status),
  textColumn("Restarts", "Number of container restarts, and the time since the last one", restartsCell),
  ageColumn,
  textColumn("IP", "Pod IP", (pod) => orNone(pod.status?.podIPs?.[0]?.ip), { priority: 1 }),
  textColumn("Node", "Node that the Pod is bound to", (pod) => orNone(specOf(pod).nodeName), { priority: 1 }),
  textColumn("Nominated Node", "Node nominated by preemption", (pod) => orNone(pod.status?.nominatedNodeName), {
    priority: 1,
  }),
  textColumn("Readiness Gates", "True readiness gates of all", readinessGatesCell, { priority: 1 }),
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
  // Of duplicates the first counts: hence from the end.
  const statuses = new Map((pod.status?.conditions ?? []).toReversed().map(({ type, status }) => [type, status]));
  const open = gates.filter(({ conditionType }) => statuses.get(conditionType) === "True");
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

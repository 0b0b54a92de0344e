/** Nodes with their usage over time, their capacity and what is reserved on them. */
import { h, type JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { field, objectsAt, textAt } from "../../../data/fields.ts";
import { findKind } from "../../../data/kinds.ts";
import { allocations, amountsOf, cpuText, memoryText, percent, type Allocation } from "../../../data/usage/usage.ts";
import type { UsageHistory } from "../../../data/usage/usage-history.ts";
import { ActionsButton } from "../../parts/actions-button.ts";
import { objectAddress } from "../../parts/links.ts";
import { useAllowedObjects } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { SmallTable } from "../../parts/small-table.ts";
import { statusClass } from "../../parts/status-class.ts";
import { UsageChart, useUsage } from "../../parts/usage.ts";
import type { Context, View, ViewProps } from "../view.ts";

export const nodesView: View = { name: "nodes", menuTitle: "Nodes and usage", titleOf: () => "Nodes", component: NodesView };

const SHOWN_MAX = 500;
/** Whole Pods are read to sum what they request: of larger clusters it is not shown. */
const PODS_MAX = 5_000;

function NodesView({ context }: ViewProps): JSX.Element {
  const nodes = findKind(context.kinds, "nodes");
  const pods = findKind(context.kinds, "pods");
  const { state, forbidden } = useAllowedObjects(context, nodes, "", SHOWN_MAX);
  const { state: podState, forbidden: podsForbidden } = useAllowedObjects(context, pods, "", PODS_MAX);
  const usage = useUsage(context, { verb: "list", group: "metrics.k8s.io", resource: "nodes" }, "/apis/metrics.k8s.io/v1beta1/nodes");
  const isSummed = podState?.isComplete === true && podState.error === undefined;
  const allocated = useMemo(() => (isSummed ? allocations(podState.items.values()) : undefined), [podState, isSummed]);
  if (forbidden !== "") return h(Empty, { text: forbidden });
  if (nodes === undefined || state === undefined) return h(Waiting, { what: "nodes" });
  if (state.error !== undefined && state.items.size === 0) return h(ErrorNote, { error: state.error });
  const shown = [...state.items.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return h(
    "section",
    { class: "nodes" },
    h("div", { class: "bar" }, h("h1", null, "Nodes"), h("span", { class: "count", role: "status" }, `${shown.length}`)),
    usage.problem === undefined ? null : h(Empty, { text: usage.problem }),
    podsForbidden === "" ? null : h(Empty, { text: `Requests are not shown: ${podsForbidden}` }),
    state.isTruncated ? h(Empty, { text: `Only the first ${SHOWN_MAX} nodes are shown.` }) : null,
    podState?.isTruncated === true ? h(Empty, { text: `Requests are not summed: there are more than ${PODS_MAX} Pods.` }) : null,
    shown.length === 0
      ? h(Empty, { text: "There are no nodes." })
      : h(SmallTable, {
          title: "Usage over time, and requests of Pods",
          heads: ["Node", "State", "CPU", "Memory", "CPU requested", "Memory requested", "Pods", "Version", "Actions"],
          rows: shown.map((node) => rowOf(context, node, { history: usage.history, allocated })),
        }),
  );
}

interface RowOptions {
  readonly history: UsageHistory;
  readonly allocated: ReadonlyMap<string, Allocation> | undefined;
}

function rowOf(context: Context, node: KubeObject, { history, allocated }: RowOptions): readonly (JSX.Element | string)[] {
  const { name, uid } = node.metadata;
  const allocatable = amountsOf(field(node, "status", "allocatable"));
  const podsMax = Number(textAt(node, "status", "allocatable", "pods") || "0");
  const samples = history.of(`/${name}`);
  const own = allocated === undefined ? undefined : (allocated.get(name) ?? { requests: { cpu: 0, memory: 0 }, pods: 0 });
  const state = nodeState(node);
  const kind = findKind(context.kinds, "nodes");
  return [
    kind === undefined ? name : h("a", { href: `#${objectAddress(kind, { namespace: "", name })}` }, name),
    h("span", { class: statusClass(state) }, state),
    h(UsageChart, { label: `CPU of ${name}`, samples, max: allocatable.cpu, read: ({ cpu }) => cpu, write: cpuText }),
    h(UsageChart, { label: `Memory of ${name}`, samples, max: allocatable.memory, read: ({ memory }) => memory, write: memoryText }),
    own === undefined ? "–" : shareText(own.requests.cpu, allocatable.cpu, cpuText),
    own === undefined ? "–" : shareText(own.requests.memory, allocatable.memory, memoryText),
    own === undefined ? `– of ${podsMax}` : `${own.pods} of ${podsMax}`,
    textAt(node, "status", "nodeInfo", "kubeletVersion"),
    kind === undefined ? "" : h(ActionsButton, { key: uid ?? name, context, kind, object: node }),
  ];
}

function shareText(part: number, whole: number, write: (value: number) => string): string {
  return `${write(part)} of ${write(whole)} (${percent(part, whole)} %)`;
}

function nodeState(node: KubeObject): string {
  const ready = objectsAt(node, "status", "conditions").find(({ type }) => type === "Ready");
  if (ready?.["status"] !== "True") return "NotReady";
  return field(node, "spec", "unschedulable") === true ? "SchedulingDisabled" : "Ready";
}

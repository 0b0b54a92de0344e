/**
 * The cluster map of many Pods: the Pods of a workload are one item, Nodes are grouped by their status, and if there are still too many
 * workloads, those of a namespace are one item, too. From rows of the server's Table, since whole objects of 100,000 Pods would take
 * minutes. Pure. Not here: the map of few Pods (map-graph.ts).
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { field, textAt } from "./fields.ts";
import type { Column, Row } from "./live-table.ts";
import { nodeStatus, ownersOf, routedServices, type MapColumn, type MapEdge, type MapGraph, type MapItem } from "./map-graph.ts";

export interface GroupedInput {
  readonly pods: Iterable<Row>;
  readonly columns: readonly Column[];
  readonly nodes: Iterable<KubeObject>;
  readonly replicaSets: Iterable<KubeObject>;
  readonly services: Iterable<KubeObject>;
  readonly ingresses: Iterable<KubeObject>;
}

/** Workloads that fit a map that a person can read. */
export const WORKLOADS_MAX = 120;
/** Nodes that are shown one by one. */
export const NODES_MAX = 30;

interface Group {
  readonly namespace: string;
  /** Absent: Pods without a controller. */
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string } | undefined;
  /** Labels of its first Pod: which Services select the group. */
  readonly labels: Readonly<Record<string, string>>;
  readonly statuses: Map<string, number>;
  readonly nodes: Set<string>;
}

export function groupedMap(input: GroupedInput): MapGraph {
  const groups = groupsOf(input);
  const isByNamespace = groups.length > WORKLOADS_MAX;
  const graph = new Grouping();
  const nodeIds = graph.addNodes([...input.nodes]);
  for (const group of groups) graph.addGroup(group, isByNamespace, nodeIds);
  for (const service of input.services) graph.addService(service, groups, isByNamespace);
  for (const ingress of input.ingresses) graph.addIngress(ingress, isByNamespace);
  return graph.result();
}

/** One per workload. A ReplicaSet of a Deployment counts as the Deployment. */
function groupsOf({ pods, columns, replicaSets }: GroupedInput): readonly Group[] {
  const [status, node] = ["Status", "Node"].map((name) => columns.findIndex((column) => column.name === name));
  const owners = ownersOf(replicaSets);
  const groups = new Map<string, Group>();
  for (const { namespace, owner: direct, labels, cells } of pods) {
    const owner = direct === undefined ? undefined : (owners.get(direct.uid) ?? direct);
    const key = `${namespace}/${owner?.kind ?? ""}/${owner?.name ?? ""}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { namespace, owner, labels, statuses: new Map(), nodes: new Set() };
      groups.set(key, group);
    }
    const text = String(cells[status ?? -1] ?? "");
    group.statuses.set(text, (group.statuses.get(text) ?? 0) + 1);
    group.nodes.add(String(cells[node ?? -1] ?? ""));
  }
  return [...groups.values()];
}

class Grouping {
  readonly #items = new Map<string, MapItem & { readonly counts: Map<string, number> }>();
  readonly #edges = new Map<string, MapEdge>();

  /** From the name of a Node to its item. */
  addNodes(nodes: readonly KubeObject[]): ReadonlyMap<string, string> {
    const isGrouped = nodes.length > NODES_MAX;
    return new Map(
      nodes.map((node) => {
        const status = nodeStatus(node);
        const { name } = node.metadata;
        const id = `Node:${isGrouped ? status : name}`;
        if (isGrouped) this.#count(id, { column: "Node", kind: "Node", namespace: "", name: "", address: "/nodes" }, status);
        else this.#items.set(id, { id, column: "Node", apiVersion: "v1", kind: "Node", namespace: "", name, status, counts: new Map() });
        return [name, id];
      }),
    );
  }

  addGroup({ namespace, owner, statuses, nodes }: Group, isByNamespace: boolean, nodeIds: ReadonlyMap<string, string>): void {
    const workload = isByNamespace ? `Workload:${namespace}` : `Workload:${namespace}/${owner?.kind ?? ""}/${owner?.name ?? ""}`;
    const pods = workload.replace("Workload", "Pod");
    if (isByNamespace) this.#count(workload, this.#namespaceItem(namespace), "workloads");
    else if (owner !== undefined) {
      const { apiVersion, kind, name } = owner;
      const item = { id: workload, column: "Workload", apiVersion, kind, namespace, name, status: kind } as const;
      this.#items.set(workload, { ...item, counts: new Map() });
    }
    const query = isByNamespace || owner === undefined ? "" : `&q=${encodeURIComponent(owner.name)}`;
    const address = `/list/pods?ns=${encodeURIComponent(namespace)}${query}`;
    for (const [status, count] of statuses) this.#count(pods, { column: "Pod", kind: "Pod", namespace, name: "", address }, status, count);
    this.#edge(workload, pods, "owns");
    for (const node of nodes) this.#edge(pods, nodeIds.get(node) ?? "", "runs on");
  }

  addService(service: KubeObject, groups: readonly Group[], isByNamespace: boolean): void {
    const { namespace = "", name } = service.metadata;
    const selector = Object.entries((field(service, "spec", "selector") ?? {}) as Readonly<Record<string, string>>);
    if (selector.length === 0) return;
    const id = isByNamespace ? `Service:${namespace}` : `Service:${namespace}/${name}`;
    const selected = groups.filter(
      (group) => group.namespace === namespace && selector.every(([key, value]) => group.labels[key] === value),
    );
    if (selected.length === 0) return;
    const status = textAt(service, "spec", "type");
    if (isByNamespace) {
      const address = `/list/services?ns=${encodeURIComponent(namespace)}`;
      this.#count(id, { column: "Service", kind: "Service", namespace, name: "", address }, "Services");
    } else this.#items.set(id, { id, column: "Service", apiVersion: "v1", kind: "Service", namespace, name, status, counts: new Map() });
    for (const { owner } of selected)
      this.#edge(id, isByNamespace ? `Pod:${namespace}` : `Pod:${namespace}/${owner?.kind ?? ""}/${owner?.name ?? ""}`, "routes");
  }

  addIngress(ingress: KubeObject, isByNamespace: boolean): void {
    const { apiVersion, kind, metadata } = ingress;
    const { namespace = "", name } = metadata;
    const id = `Ingress:${namespace}/${name}`;
    this.#items.set(id, { id, column: "Ingress", apiVersion, kind, namespace, name, status: "", counts: new Map() });
    for (const service of routedServices(ingress))
      this.#edge(id, isByNamespace ? `Service:${namespace}` : `Service:${namespace}/${service}`, "routes");
  }

  /** Without edges to items that are not there. */
  result(): MapGraph {
    const edges = [...this.#edges.values()].filter(({ from, to }) => this.#items.has(from) && this.#items.has(to));
    const items = [...this.#items.values()].map(({ counts, ...item }) => (counts.size === 0 ? item : summed(item, counts)));
    return { items, edges };
  }

  #namespaceItem(namespace: string) {
    const address = `/map?ns=${encodeURIComponent(namespace)}`;
    return { column: "Workload", kind: "Namespace", namespace, name: namespace, address } as const;
  }

  #count(
    id: string,
    item: {
      readonly column: MapColumn;
      readonly kind: string;
      readonly namespace: string;
      readonly name: string;
      readonly address: string;
    },
    what: string,
    count = 1,
  ): void {
    const known = this.#items.get(id) ?? { id, apiVersion: "v1", status: "", counts: new Map<string, number>(), ...item };
    known.counts.set(what, (known.counts.get(what) ?? 0) + count);
    this.#items.set(id, known);
  }

  #edge(from: string, to: string, means: MapEdge["means"]): void {
    this.#edges.set(`${from} ${to}`, { from, to, means });
  }
}

/** Statuses that need no attention: the name of a group begins with the others. */
const CALM: readonly string[] = ["Running", "Completed", "Succeeded", "Ready"];

/** "3 Pending, 997 Running": what needs attention first, and as the status of the item. */
function summed(item: MapItem, counts: ReadonlyMap<string, number>): MapItem {
  const ordered = [...counts].sort(([a], [b]) => Number(CALM.includes(a)) - Number(CALM.includes(b)));
  const text = ordered.map(([what, count]) => `${count.toLocaleString("en")} ${what}`).join(", ");
  if (item.kind === "Namespace") return { ...item, status: text };
  return { ...item, name: text, status: ordered[0]?.[0] ?? "" };
}

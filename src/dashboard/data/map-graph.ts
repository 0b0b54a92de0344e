/**
 * The cluster map: who routes to whom, who owns whom and what runs where, from the objects themselves. Columns from left to right: Ingress,
 * Service, workload, Pod, Node; an edge goes to the next column that the object is connected to. Pure. Not here: coordinates
 * (map-layout.ts), the map of many Pods (map-groups.ts).
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { field, objectsAt, textAt } from "./fields.ts";

export const MAP_COLUMNS = ["Ingress", "Service", "Workload", "Pod", "Node"] as const;

export type MapColumn = (typeof MAP_COLUMNS)[number];

export interface MapItem {
  /** Unique in the graph. */
  readonly id: string;
  readonly column: MapColumn;
  /** Of the object: for its link. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** A word that kubectl shows, too: "Running", "Ready". "" if the kind has none. */
  readonly status: string;
  /** Of a group, which is no object: where it leads to. */
  readonly address?: string;
}

export interface MapEdge {
  readonly from: string;
  readonly to: string;
  readonly means: "routes" | "owns" | "runs on";
}

export interface MapGraph {
  readonly items: readonly MapItem[];
  readonly edges: readonly MapEdge[];
}

export interface MapInput {
  readonly nodes: Iterable<KubeObject>;
  readonly pods: Iterable<KubeObject>;
  readonly replicaSets: Iterable<KubeObject>;
  readonly services: Iterable<KubeObject>;
  readonly endpointSlices: Iterable<KubeObject>;
  readonly ingresses: Iterable<KubeObject>;
}

export function mapGraph({ nodes, pods, replicaSets, services, endpointSlices, ingresses }: MapInput): MapGraph {
  const graph = new GraphBuilder();
  for (const node of nodes) graph.add(node, "Node", nodeStatus(node));
  for (const service of services) graph.add(service, "Service", textAt(service, "spec", "type"));
  const deployments = ownersOf(replicaSets);
  for (const pod of pods) {
    const item = graph.add(pod, "Pod", podStatus(pod));
    const direct = controllerOf(pod);
    const owner = direct === undefined ? undefined : (deployments.get(direct.uid) ?? direct);
    if (owner !== undefined) graph.edge(graph.addOwner(owner, pod.metadata.namespace ?? ""), item, "owns");
    const nodeName = textAt(pod, "spec", "nodeName");
    if (nodeName !== "") graph.edge(item, idOf("Node", "", nodeName), "runs on");
  }
  for (const slice of endpointSlices) for (const [from, to] of routesOf(slice)) graph.edge(from, to, "routes");
  for (const ingress of ingresses) {
    const item = graph.add(ingress, "Ingress", "");
    for (const name of routedServices(ingress)) graph.edge(item, idOf("Service", ingress.metadata.namespace ?? "", name), "routes");
  }
  return graph.result();
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The Deployments of ReplicaSets, by the uid of the ReplicaSet. */
export function ownersOf(replicaSets: Iterable<KubeObject>): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const set of replicaSets) {
    const owner = controllerOf(set);
    if (owner !== undefined) owners.set(set.metadata.uid ?? "", owner);
  }
  return owners;
}

class GraphBuilder {
  readonly #items = new Map<string, MapItem>();
  readonly #edges = new Map<string, MapEdge>();

  add({ apiVersion, kind, metadata }: KubeObject, column: MapColumn, status: string): string {
    const { namespace = "", name } = metadata;
    const id = idOf(column, namespace, name);
    this.#items.set(id, { id, column, apiVersion, kind, namespace, name, status });
    return id;
  }

  addOwner({ apiVersion, kind, name }: Owner, namespace: string): string {
    // A static Pod is owned by its Node, which has a column of its own.
    if (kind === "Node") return idOf("Node", "", name);
    const id = idOf("Workload", namespace, `${kind}/${name}`);
    if (!this.#items.has(id)) this.#items.set(id, { id, column: "Workload", apiVersion, kind, namespace, name, status: kind });
    return id;
  }

  edge(from: string, to: string, means: MapEdge["means"]): void {
    this.#edges.set(`${from} ${to}`, { from, to, means });
  }

  /** Without edges to objects that are not there. */
  result(): MapGraph {
    const edges = [...this.#edges.values()].filter(({ from, to }) => this.#items.has(from) && this.#items.has(to));
    return { items: [...this.#items.values()], edges };
  }
}

function idOf(column: MapColumn, namespace: string, name: string): string {
  return `${column}:${namespace}/${name}`;
}

export function controllerOf({ metadata }: Pick<KubeObject, "metadata">): Owner | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner === undefined ? undefined : { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid };
}

const SERVICE_LABEL = "kubernetes.io/service-name";

/** From the Service of an EndpointSlice to each of its Pods. */
function routesOf(slice: KubeObject): readonly (readonly [string, string])[] {
  const { namespace = "", labels = {} } = slice.metadata;
  const service = labels[SERVICE_LABEL];
  if (service === undefined) return [];
  return objectsAt(slice, "endpoints")
    .filter((endpoint) => field(endpoint, "targetRef", "kind") === "Pod")
    .map((endpoint) => [idOf("Service", namespace, service), idOf("Pod", namespace, textAt(endpoint, "targetRef", "name"))]);
}

/** Names of the Services of all rules and of the default backend. */
export function routedServices(ingress: KubeObject): readonly string[] {
  const paths = objectsAt(ingress, "spec", "rules").flatMap((rule) => objectsAt(rule, "http", "paths"));
  const backends = [field(ingress, "spec", "defaultBackend"), ...paths.map((path) => path["backend"])];
  const names = backends.map((backend) => textAt(backend, "service", "name"));
  return [...new Set(names.filter((name) => name !== ""))];
}

export function nodeStatus(node: KubeObject): string {
  const ready = objectsAt(node, "status", "conditions").find((condition) => condition["type"] === "Ready");
  if (ready?.["status"] !== "True") return "NotReady";
  return field(node, "spec", "unschedulable") === true ? "SchedulingDisabled" : "Ready";
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const reasons = objectsAt(pod, "status", "containerStatuses").map((container) => textAt(container, "state", "waiting", "reason"));
  return reasons.find((reason) => reason !== "") ?? (textAt(pod, "status", "phase") || "Unknown");
}

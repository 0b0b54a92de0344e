/**
 * Small clusters that change step by step, for properties of incremental state: after every step it must equal a fresh one. And queries of
 * a plugin over all nodes of a cluster.
 */
import fc from "fast-check";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../node-info.ts";
import type { ClusterView, Plugin } from "../plugin.ts";
import { NO_DEVICES } from "../device-view.ts";
import { NO_STORAGE } from "../storage-view.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf, type PodParts } from "./builders.ts";

/** Few, so that nodes share one and some have none. */
const ZONES = ["zone1", "zone2", undefined];

export type Step =
  | { readonly do: "place"; readonly at: number; readonly pod: PodParts }
  | { readonly do: "remove"; readonly at: number }
  | { readonly do: "relabel"; readonly at: number; readonly zone: string | undefined }
  | { readonly do: "join"; readonly at: number; readonly zone: string | undefined }
  | { readonly do: "leave"; readonly at: number };

/** Most steps place a Pod. */
export function steps(pods: fc.Arbitrary<PodParts>): fc.Arbitrary<Step[]> {
  const at = fc.nat(5);
  const zone = fc.constantFrom(...ZONES);
  const place = fc.record({ do: fc.constant("place" as const), at, pod: pods });
  const join = fc.record({ do: fc.constant("join" as const), at, zone });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { arbitrary: place, weight: 6 },
    { arbitrary: join, weight: 2 },
    fc.record({ do: fc.constant("remove" as const), at }),
    fc.record({ do: fc.constant("relabel" as const), at, zone }),
    fc.record({ do: fc.constant("leave" as const), at }),
  );
  return fc
    .tuple(fc.array(join, { minLength: 1, maxLength: 4 }), fc.array(step, { maxLength: 15 }))
    .map(([joins, rest]) => [...joins, ...rest]);
}

export class ChangingCluster {
  nodes: readonly NodeInfo[] = [];
  #made = 0;

  apply(step: Step): void {
    const index = this.nodes.length === 0 ? 0 : step.at % this.nodes.length;
    const node = this.nodes[index];
    if (step.do === "join") this.nodes = this.nodes.toSpliced(index, 0, this.#aNode(step.zone));
    else if (node === undefined) return;
    else if (step.do === "leave") this.nodes = this.nodes.toSpliced(index, 1);
    else this.nodes = this.nodes.with(index, this.#changed(node, step));
  }

  #changed(node: NodeInfo, step: Exclude<Step, { do: "join" | "leave" }>): NodeInfo {
    if (step.do === "place") return node.withPod(podInfo(aPod(`p${this.#made++}`, step.pod)));
    if (step.do === "remove") return node.withoutPod(node.pods[0]?.uid ?? "");
    const relabelled = aNode(node.name, step.zone === undefined ? {} : { zone: step.zone });
    return nodeInfo(relabelled, ...node.pods.map(({ pod }) => pod));
  }

  #aNode(zone: string | undefined): NodeInfo {
    return nodeInfo(aNode(`n${this.#made++}`, zone === undefined ? {} : { zone }));
  }
}

/** The rejection per node, or "fits". */
export function verdicts(plugin: Plugin, pod: Pod, nodes: readonly NodeInfo[]): string[] {
  const info = podInfo(pod);
  const answer = plugin.preFilter?.(info, snapshotOf(...nodes));
  if (answer?.is !== "ready") return nodes.map(() => "fits");
  return nodes.map((node) => plugin.filter?.(answer.state, info, node)?.reasons.join(", ") ?? "fits");
}

/** One Pod more or less on the first node. */
export type Change = { readonly do: "add"; readonly pod: PodParts } | { readonly do: "remove"; readonly which: number };

export function changes(pods: fc.Arbitrary<PodParts>): fc.Arbitrary<Change[]> {
  const add = fc.record({ do: fc.constant("add" as const), pod: pods });
  return fc.array(fc.oneof(add, fc.record({ do: fc.constant("remove" as const), which: fc.nat(5) })), { minLength: 1, maxLength: 4 });
}

/** Hypothetical nodes, and the result of an updated state. */
export interface Possibility {
  readonly nodes: readonly NodeInfo[];
  readonly verdicts: () => string[];
}

/**
 * The result of the plugin's state for the cluster as is, and then of a copy per change, each derived from the last with one more change.
 * Each is queried at once, as preemption does. Empty if the plugin skips this Pod, or there is no node.
 */
export function possibilities(plugin: Plugin, pod: Pod, nodes: readonly NodeInfo[], changesMade: readonly Change[]): Possibility[] {
  const info = podInfo(pod);
  const answer = plugin.preFilter?.(info, snapshotOf(...nodes));
  if (answer?.is !== "ready" || nodes.length === 0) return [];
  const possibility = (state: unknown, then: readonly NodeInfo[]): Possibility & { readonly state: unknown } => ({
    state,
    nodes: then,
    verdicts: () => then.map((node) => plugin.filter?.(state, info, node)?.reasons.join(", ") ?? "fits"),
  });
  let last = possibility(answer.state, nodes);
  const all = [last];
  for (const [index, change] of changesMade.entries()) {
    last.verdicts();
    const state = plugin.copyState?.(last.state);
    const before = last.nodes[0] as NodeInfo;
    const other = change.do === "add" ? podInfo(aPod(`added${index}`, change.pod)) : before.pods[change.which];
    if (other === undefined) continue;
    const after = change.do === "add" ? before.withPod(other) : before.withoutPod(other.uid);
    if (change.do === "add") plugin.podAdded?.(state, info, other, after);
    else plugin.podRemoved?.(state, info, other, after);
    last = possibility(state, last.nodes.with(0, after));
    all.push(last);
  }
  return all;
}

/** A cluster with exactly the given objects. */
export function aClusterView(parts: Partial<ClusterView> = {}): ClusterView {
  const none = (): readonly never[] => [];
  return {
    namespace: (name) => parts.namespaces?.().find(({ metadata }) => metadata.name === name),
    namespaces: none,
    services: none,
    replicationControllers: none,
    replicaSets: none,
    statefulSets: none,
    podDisruptionBudgets: none,
    pod: () => undefined,
    node: () => undefined,
    storage: NO_STORAGE,
    devices: NO_DEVICES,
    ...parts,
  };
}

/**
 * A Pod's hard constraints on a node, computed from the objects alone, slowly and without any code of the scheduler: an oracle for tests.
 * It knows only what tests use: CPU in "2" or "500m", memory in "256Mi", Pods of one container, hard rules.
 */
import type { Node, NodeSelectorRequirement, Pod, PodAffinityTerm, Taint } from "../../../api/generated/core/v1.ts";

/** The cluster at one instant. */
export interface ClusterState {
  readonly nodes: readonly Node[];
  /** Those that are on a node. */
  readonly placed: readonly Pod[];
}

/** Every violated rule; none: feasible. */
export function brokenRules(pod: Pod, node: Node, state: ClusterState): readonly string[] {
  const there = on(node, state);
  return [
    ...overCapacity(node, [...there, pod]),
    ...(there.some((other) => portsOf(other).some((port) => portsOf(pod).includes(port))) ? ["port"] : []),
    ...(node.spec?.unschedulable === true ? ["unschedulable"] : []),
    ...((node.spec?.taints ?? []).every((taint) => isTolerated(pod, taint)) ? [] : ["taint"]),
    ...(isWanted(pod, node) ? [] : ["node affinity"]),
    ...brokenAffinity(pod, node, state),
    ...brokenAntiAffinity(pod, node, state),
    ...brokenSpread(pod, node, state),
  ];
}

/** Resources that the Pods exceed together. */
export function overCapacity({ status }: Node, pods: readonly Pod[]): readonly string[] {
  const sum = (of: (pod: Pod) => number): number => pods.reduce((total, pod) => total + of(pod), 0);
  const { cpu = "0", memory = "0Mi", pods: count = "0" } = status?.allocatable ?? {};
  return [
    ...(sum((pod) => milli(requestOf(pod, "cpu"))) > milli(String(cpu)) ? ["cpu"] : []),
    ...(sum((pod) => mebibytes(requestOf(pod, "memory"))) > mebibytes(String(memory)) ? ["memory"] : []),
    ...(pods.length > Number(count) ? ["pods"] : []),
  ];
}

export function on({ metadata: { name } }: Node, { placed }: ClusterState): readonly Pod[] {
  return placed.filter(({ spec }) => spec?.nodeName === name);
}

function requestOf({ spec }: Pod, name: string): string {
  return String(spec?.containers[0]?.resources?.requests?.[name] ?? "0");
}

function milli(cpu: string): number {
  return cpu.endsWith("m") ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000;
}

function mebibytes(memory: string): number {
  return memory.endsWith("Gi") ? Number(memory.slice(0, -2)) * 1_024 : Number(memory.replace("Mi", ""));
}

function portsOf({ spec }: Pod): readonly number[] {
  return (spec?.containers[0]?.ports ?? []).flatMap(({ hostPort }) => hostPort ?? []);
}

function isTolerated({ spec }: Pod, { key, value = "", effect }: Taint): boolean {
  if (effect === "PreferNoSchedule") return true;
  return (spec?.tolerations ?? []).some(
    (each) =>
      (each.key ?? key) === key && (each.effect ?? effect) === effect && (each.operator === "Exists" || (each.value ?? "") === value),
  );
}

/** By its nodeSelector and its node affinity. */
function isWanted({ spec }: Pod, { metadata: { labels = {} } }: Node): boolean {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some(({ matchExpressions = [] }) => matchExpressions.every((each) => holds(each, labels))))
  );
}

function holds({ key, operator, values = [] }: NodeSelectorRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      throw new Error(`These rules do not know the operator ${operator}`);
  }
}

function matches(selector: PodAffinityTerm["labelSelector"], { metadata: { labels = {} } }: Pod): boolean {
  return selector !== undefined && Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}

function areOfOneNamespace(a: Pod, b: Pod): boolean {
  return a.metadata.namespace === b.metadata.namespace;
}

function affinityOf({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function antiAffinityOf({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/** The nodes of the same topology domain; none if it has none. */
function domainOf(node: Node, topologyKey: string, { nodes }: ClusterState): readonly Node[] {
  const value = node.metadata.labels?.[topologyKey];
  return value === undefined ? [] : nodes.filter(({ metadata }) => metadata.labels?.[topologyKey] === value);
}

/** As upstream counts: a followed Pod matches all terms at once, and the first of a self-affine group may be placed anywhere. */
function brokenAffinity(pod: Pod, node: Node, state: ClusterState): readonly string[] {
  const terms = affinityOf(pod);
  const isFollowed = (other: Pod): boolean =>
    areOfOneNamespace(pod, other) && terms.every(({ labelSelector }) => matches(labelSelector, other));
  const isOn = (each: Node): boolean => on(each, state).some(isFollowed);
  if (terms.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) return ["affinity"];
  if (terms.every(({ topologyKey }) => domainOf(node, topologyKey, state).some(isOn))) return [];
  const isAnywhere = terms.some(({ topologyKey }) =>
    state.nodes.some((each) => each.metadata.labels?.[topologyKey] !== undefined && isOn(each)),
  );
  return !isAnywhere && isFollowed(pod) ? [] : ["affinity"];
}

function brokenAntiAffinity(pod: Pod, node: Node, state: ClusterState): readonly string[] {
  const avoids = (who: Pod, whom: Pod, { labelSelector }: PodAffinityTerm): boolean =>
    areOfOneNamespace(who, whom) && matches(labelSelector, whom);
  const near = ({ topologyKey }: PodAffinityTerm): readonly Pod[] => domainOf(node, topologyKey, state).flatMap((each) => on(each, state));
  const isAvoiding = antiAffinityOf(pod).some((term) => near(term).some((other) => avoids(pod, other, term)));
  const isAvoided = state.placed.some((other) =>
    antiAffinityOf(other).some((term) => avoids(other, pod, term) && near(term).includes(other)),
  );
  return [...(isAvoiding ? ["anti-affinity"] : []), ...(isAvoided ? ["anti-affinity of others"] : [])];
}

function brokenSpread(pod: Pod, node: Node, state: ClusterState): readonly string[] {
  const constraints = (pod.spec?.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const counted = state.nodes.filter(
    (each) => isWanted(pod, each) && constraints.every(({ topologyKey }) => each.metadata.labels?.[topologyKey] !== undefined),
  );
  return constraints.flatMap(({ topologyKey, maxSkew, labelSelector }) => {
    const domain = node.metadata.labels?.[topologyKey];
    if (domain === undefined) return ["spread"];
    const isCounted = (other: Pod): boolean =>
      areOfOneNamespace(pod, other) && other.metadata.deletionTimestamp === undefined && matches(labelSelector, other);
    const counts = new Map<string, number>();
    for (const each of counted) {
      const value = each.metadata.labels?.[topologyKey] ?? "";
      counts.set(value, (counts.get(value) ?? 0) + on(each, state).filter(isCounted).length);
    }
    const skew = (counts.get(domain) ?? 0) + (matches(labelSelector, pod) ? 1 : 0) - Math.min(...counts.values());
    return skew > maxSkew ? ["spread"] : [];
  });
}

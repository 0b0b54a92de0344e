/**
 * Verifies a cache: its contents as plain data, and the same computed straight from the objects, without the cache's incremental steps. For
 * tests, and for debugging a scheduler.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { amountsOf, resourcesOf } from "../framework/amounts.ts";
import { hasAffinity } from "../framework/make-node-info.ts";
import { podInfoOf } from "../framework/make-pod-info.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import type { HostPort } from "../../api/core/v1/pod/host-ports.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Resources } from "../framework/resources.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import type { SchedulerCache } from "./scheduler-cache.ts";

/** A cache at one instant. Everything is sorted, so that equal states are equal values. */
export interface CacheDump {
  readonly nodes: Readonly<Record<string, NodeDump>>;
  /** Pods on unknown nodes, by node name. */
  readonly elsewhere: readonly string[];
  readonly assumed: readonly string[];
  readonly nodesWithAffinityPods: readonly string[];
  readonly nodesWithRequiredAntiAffinityPods: readonly string[];
}

export interface NodeDump {
  readonly resourceVersion: string;
  /** Each with its version. */
  readonly pods: readonly string[];
  readonly podsWithAffinity: readonly string[];
  readonly podsWithRequiredAntiAffinity: readonly string[];
  readonly requested: ResourcesDump;
  readonly nonZeroRequested: readonly [milliCpu: number, memoryBytes: number];
  readonly allocatable: ResourcesDump;
  readonly usedPorts: readonly string[];
  readonly images: Readonly<Record<string, number>>;
}

type ResourcesDump = Readonly<Record<string, number>>;

export function dumpCache(cache: SchedulerCache): CacheDump {
  const snapshot = cache.snapshot();
  return {
    nodes: sortedRecord(snapshot.nodes.map((node) => [node.name, dumpNode(node)])),
    elsewhere: cache
      .unknownNodes()
      .flatMap(({ name, pods }) => pods.map((pod) => `${name}: ${podText(pod)}`))
      .toSorted(),
    assumed: podTexts(cache.assumedPods().map(({ info }) => info)),
    ...listsOf(snapshot),
  };
}

function listsOf({ nodesWithAffinityPods, nodesWithRequiredAntiAffinityPods }: Snapshot): Pick<CacheDump, ListName> {
  return {
    nodesWithAffinityPods: names(nodesWithAffinityPods),
    nodesWithRequiredAntiAffinityPods: names(nodesWithRequiredAntiAffinityPods),
  };
}

type ListName = "nodesWithAffinityPods" | "nodesWithRequiredAntiAffinityPods";

function names(nodes: readonly NodeInfo[]): readonly string[] {
  return nodes.map(({ name }) => name).toSorted();
}

function dumpNode(info: NodeInfo): NodeDump {
  return {
    resourceVersion: info.node.metadata.resourceVersion ?? "",
    pods: podTexts(info.pods),
    podsWithAffinity: podTexts(info.podsWithAffinity),
    podsWithRequiredAntiAffinity: podTexts(info.podsWithRequiredAntiAffinity),
    requested: resourcesDump(info.requested),
    nonZeroRequested: [info.nonZeroRequestedMilliCpu, info.nonZeroRequestedMemoryBytes],
    allocatable: resourcesDump(info.allocatable),
    usedPorts: info.usedPorts.map(portText).toSorted(),
    images: sortedRecord([...info.images].map(([name, { nodes }]) => [name, nodes])),
  };
}

/** What a scheduler has received and decided. */
export interface Truth {
  readonly nodes: Iterable<Node>;
  /** Active Pods on a node, and the assumed ones, with their nodes in `spec.nodeName`. */
  readonly pods: Iterable<Pod>;
  /** Uids of those of `pods` that are assumed. */
  readonly assumed: ReadonlySet<string>;
}

/** The dump that a cache of this must have. */
export function dumpFromScratch({ nodes, pods, assumed }: Truth): CacheDump {
  const allNodes = [...nodes];
  const infos = [...pods].map((pod) => podInfoOf(pod));
  const known = new Set(allNodes.map(({ metadata }) => metadata.name));
  const made = allNodes.map((node) => [node.metadata.name, nodeFromScratch(node, infos, allNodes)] as const);
  const namesWhere = (list: "podsWithAffinity" | "podsWithRequiredAntiAffinity"): readonly string[] =>
    made.flatMap(([name, dump]) => (dump[list].length > 0 ? [name] : [])).toSorted();
  return {
    nodes: sortedRecord(made),
    elsewhere: infos
      .filter((info) => !known.has(nodeOf(info)))
      .map((info) => `${nodeOf(info)}: ${podText(info)}`)
      .toSorted(),
    assumed: podTexts(infos.filter(({ uid }) => assumed.has(uid))),
    nodesWithAffinityPods: namesWhere("podsWithAffinity"),
    nodesWithRequiredAntiAffinityPods: namesWhere("podsWithRequiredAntiAffinity"),
  };
}

function nodeOf({ pod }: PodInfo): string {
  return pod.spec?.nodeName ?? "";
}

function nodeFromScratch(node: Node, all: readonly PodInfo[], nodes: readonly Node[]): NodeDump {
  const pods = all.filter((pod) => nodeOf(pod) === node.metadata.name);
  return {
    resourceVersion: node.metadata.resourceVersion ?? "",
    pods: podTexts(pods),
    podsWithAffinity: podTexts(pods.filter(hasAffinity)),
    podsWithRequiredAntiAffinity: podTexts(pods.filter(({ requiredAntiAffinity }) => requiredAntiAffinity.length > 0)),
    requested: sumOf(pods.map(({ requests }) => resourcesDump(requests))),
    nonZeroRequested: [total(pods.map((pod) => pod.nonZeroMilliCpu)), total(pods.map((pod) => pod.nonZeroMemoryBytes))],
    allocatable: resourcesDump(resourcesOf(amountsOf(node.status?.allocatable))),
    usedPorts: pods.flatMap(({ hostPorts }) => hostPorts.map(portText)).toSorted(),
    images: sortedRecord([...imageNames(node)].map((name) => [name, nodes.filter((other) => imageNames(other).has(name)).length])),
  };
}

function imageNames({ status }: Node): ReadonlySet<string> {
  return new Set((status?.images ?? []).flatMap(({ names: all }) => all ?? []));
}

function sumOf(all: readonly ResourcesDump[]): ResourcesDump {
  const keys = new Set(all.flatMap((one) => Object.keys(one)));
  return withoutZeros([...keys].map((name) => [name, total(all.map((one) => one[name] ?? 0))]));
}

function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

function resourcesDump({ milliCpu, memoryBytes, ephemeralStorageBytes, scalars }: Resources): ResourcesDump {
  return withoutZeros([["cpu", milliCpu], ["memory", memoryBytes], ["ephemeral-storage", ephemeralStorageBytes], ...scalars]);
}

function withoutZeros(amounts: readonly (readonly [string, number])[]): ResourcesDump {
  return sortedRecord(amounts.filter(([, amount]) => amount !== 0));
}

function podTexts(pods: readonly PodInfo[]): readonly string[] {
  return pods.map(podText).toSorted();
}

function podText({ key, uid, pod }: PodInfo): string {
  return `${key} (${uid}) at ${pod.metadata.resourceVersion ?? "?"}`;
}

function portText({ ip, protocol, port }: HostPort): string {
  return `${protocol} ${ip}:${port}`;
}

function sortedRecord<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** One sentence for each node, and each list, that differs. */
export function compareCache(cache: SchedulerCache, truth: Truth): readonly string[] {
  const { nodes: isNodes, ...is } = dumpCache(cache);
  const { nodes: shouldNodes, ...should } = dumpFromScratch(truth);
  return [...differencesOf("node ", isNodes, shouldNodes), ...differencesOf("", is, should)];
}

function differencesOf(what: string, is: object, should: object): readonly string[] {
  const left = new Map<string, unknown>(Object.entries(is));
  const right = new Map<string, unknown>(Object.entries(should));
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => {
    const [found, wanted] = [JSON.stringify(left.get(key)), JSON.stringify(right.get(key))];
    return found === wanted ? [] : [`${what}${key} is ${found}, should be ${wanted}`];
  });
}

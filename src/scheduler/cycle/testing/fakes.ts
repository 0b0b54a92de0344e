/**
 * Nodes, Pods and plugins for tests of a cycle, which itself uses only names, priorities and assignments; and profiles of all points that
 * plugins implement.
 */
import { seededRandom } from "../../../base/random.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin, Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf } from "../../framework/testing/builders.ts";
import { type CycleInput, Turns } from "../decide.ts";
import { type PluginsAtPoints, type Profile, type ProfileOptions, makeProfile } from "../profile.ts";
import { RoundRobin } from "../round-robin.ts";

export function fakePod(name: string, { priority = 0, nominatedNodeName = "" } = {}): PodInfo {
  return podInfo(aPod(name, { uid: name, priority, ...(nominatedNodeName !== "" && { nominatedNode: nominatedNodeName }) }));
}

export function fakeNode(name: string, pods: readonly PodInfo[] = []): NodeInfo {
  return nodeInfo(aNode(name), ...pods.map(({ pod }) => pod));
}

export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

/** Nodes n0, n1, … without nominations. */
export function fakeCycleInput(count: number, nominated: Readonly<Record<string, readonly PodInfo[]>> = {}): CycleInput {
  const nodes = nodeNames(count).map((name) => fakeNode(name));
  return { snapshot: snapshotOf(...nodes), nominatedPods: (name) => nominated[name] ?? [] };
}

export function fakeTurns(seed = 1): Turns {
  return new Turns(new RoundRobin(seededRandom(seed)));
}

export function rejection(...reasons: readonly string[]): Rejection {
  return { reasons, resolvable: true };
}

/** A filter that rejects the nodes of these names. */
export function refusing(name: string, reason: string, ...nodes: readonly string[]): Plugin {
  const refused = new Set(nodes);
  const no = rejection(reason);
  return { name, filter: (_state, _pod, node) => (refused.has(node.name) ? no : undefined) };
}

/** A preFilter that requests these nodes only, with a filter that accepts all. */
export function narrowing(name: string, ...nodes: readonly string[]): Plugin {
  return { name, preFilter: () => ({ is: "ready", state: undefined, nodes: new Set(nodes) }), filter: () => undefined };
}

/** Every plugin at every point that it implements, with weight 1 by default. */
export function fakeProfile(
  plugins: readonly Plugin[],
  { weights = {}, ...options }: Partial<ProfileOptions> & { readonly weights?: Readonly<Record<string, number>> } = {},
): Profile {
  const at = (point: keyof Plugin) => plugins.filter((plugin) => plugin[point] !== undefined);
  const points: PluginsAtPoints = {
    preEnqueue: at("preEnqueue"),
    queueSort: { name: "Sort", compare: () => 0 },
    preFilter: at("preFilter"),
    filter: at("filter"),
    postFilter: at("postFilter"),
    preScore: at("preScore"),
    score: at("score").map((plugin) => ({ plugin, weight: weights[plugin.name] ?? 1 })),
    reserve: plugins.filter((plugin) => plugin.reserve !== undefined || plugin.unreserve !== undefined),
    permit: at("permit"),
    preBind: at("preBind"),
    bind: at("bind"),
    postBind: at("postBind"),
  };
  return makeProfile({ schedulerName: "default-scheduler", percentageOfNodesToScore: 0, ...options }, points);
}

/** Calls one plugin as a cycle does: preFilter before filter, preScore before score. For the table tests of plugins. */
import { deepEqual } from "node:assert/strict";
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import type { ClusterEvent, NodeChange, ObjectChange, ObjectKind, ObjectKinds, PodChange, RetryRule } from "../cluster-event.ts";
import type { NodeInfo } from "../node-info.ts";
import type { Plugin, PluginContext, PluginFactory, Rejection } from "../plugin.ts";
import { podInfo, snapshotOf } from "./builders.ts";
import { aClusterView } from "./changing-cluster.ts";

/** The plugin with arguments as in a configuration; they must be valid. */
export function made<Arguments>(factory: PluginFactory<Arguments>, written?: unknown, context: Partial<PluginContext> = {}): Plugin {
  const read = factory.readArguments?.(written) ?? { ok: true, arguments: undefined as Arguments };
  if (!read.ok) throw new Error(`The arguments of ${factory.name} are wrong: ${read.problems.join("; ")}`);
  return factory.make({ cluster: aClusterView(), ...context } as PluginContext, read.arguments);
}

/** The errors of a plugin's configuration; empty if it is valid. */
export function problemsOf<Arguments>(factory: PluginFactory<Arguments>, written: unknown): readonly string[] {
  const read = factory.readArguments?.(written);
  return read === undefined || read.ok ? [] : read.problems;
}

/** Undefined: feasible. "skip": the plugin skips the Pod. */
export function filtered(plugin: Plugin, pod: Pod, node: NodeInfo): Rejection | "skip" | undefined {
  const info = podInfo(pod);
  const answer = plugin.preFilter?.(info, snapshotOf(node)) ?? { is: "ready", state: undefined };
  if (answer.is === "skip") return "skip";
  return answer.is === "rejected" ? answer.rejection : plugin.filter?.(answer.state, info, node);
}

/** Normalized, in the order of the nodes. */
export function scored(plugin: Plugin, pod: Pod, nodes: readonly NodeInfo[]): readonly number[] | "skip" {
  const info = podInfo(pod);
  const answer = plugin.preScore?.(info, nodes, snapshotOf(...nodes)) ?? { is: "ready", state: undefined };
  if (answer.is === "skip") return "skip";
  const scores = Float64Array.from(nodes, (node) => plugin.score?.(answer.state, info, node) ?? Number.NaN);
  plugin.normalizeScores?.(answer.state, info, scores, nodes);
  return [...scores];
}

/** Whether the event makes the plugin reconsider the Pod. */
export function isRetried(plugin: Plugin, pod: Pod, event: ClusterEvent): boolean {
  return plugin.retryOn?.some((rule) => appliesTo(rule, pod, event)) ?? true;
}

function appliesTo(rule: RetryRule, pod: Pod, event: ClusterEvent): boolean {
  if (rule.of !== event.of) return false;
  if (rule.of === "object" && event.of === "object") {
    if (rule.kind !== event.kind || !rule.changes.includes(event.change)) return false;
  } else if (rule.of !== "namespace" && rule.of !== "object" && event.of !== "namespace" && event.of !== "object") {
    const changes: ReadonlySet<string> = event.changes;
    if (!rule.changes.some((change) => changes.has(change))) return false;
  }
  const isWorthIt = rule.isWorthIt as ((pod: Pod, event: ClusterEvent) => boolean) | undefined;
  return isWorthIt === undefined || isWorthIt(pod, event);
}

export function nodeEvent(change: NodeChange, node: Node, previous?: Node): ClusterEvent {
  return { of: "node", changes: new Set([change]), node, ...(previous && { previous }) };
}

export function podEvent(of: "assigned-pod" | "waiting-pod", change: PodChange, pod: Pod, previous?: Pod): ClusterEvent {
  return { of, changes: new Set([change]), pod, ...(previous && { previous }) };
}

export function objectEvent<Kind extends ObjectKind>(
  kind: Kind,
  change: ObjectChange,
  object: ObjectKinds[Kind],
  previous?: ObjectKinds[Kind],
): ClusterEvent {
  return { of: "object", kind, change, object, ...(previous && { previous }) } as ClusterEvent;
}

/** The usual table: case, event, and whether the Pod is retried. */
export type RetryRow = readonly [when: string, event: ClusterEvent, isRetried: boolean];

export function checkRetries(plugin: Plugin, pod: Pod, rows: readonly RetryRow[]): void {
  const found = rows.map(([when, event]) => [when, isRetried(plugin, pod, event)]);
  deepEqual(
    found,
    rows.map(([when, , expected]) => [when, expected]),
  );
}

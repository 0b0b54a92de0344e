/**
 * The conditions of a terminating namespace: five, with upstream's messages and order. Each reports a problem while "True", and its absence
 * while "False". Pure.
 */
import type { Namespace, NamespaceCondition } from "../../api/generated/core/v1.ts";
import { findCondition, withCondition } from "../../api/machinery/conditions.ts";
import type { DiscoveryFailure } from "../../client/discovery.ts";
import type { KindRemainder } from "./namespace-content.ts";

/** The findings of a deletion pass. */
export interface NamespaceFindings {
  readonly undiscovered: readonly DiscoveryFailure[];
  /** Deletion failures, one for each kind. */
  readonly problems: readonly string[];
  /** Absent while Pods remain: the rest is unknown then, and upstream does not report it. */
  readonly remainders?: readonly KindRemainder[];
}

interface Words {
  readonly reason: string;
  readonly message: string;
}

const WHEN_WELL: Readonly<Record<string, Words>> = {
  NamespaceDeletionDiscoveryFailure: { reason: "ResourcesDiscovered", message: "All resources successfully discovered" },
  // The client parses discovery and drops invalid names, which do not occur in practice.
  NamespaceDeletionGroupVersionParsingFailure: { reason: "ParsedGroupVersions", message: "All legacy kube types successfully parsed" },
  NamespaceDeletionContentFailure: {
    reason: "ContentDeleted",
    message: "All content successfully deleted, may be waiting on finalization",
  },
  NamespaceContentRemaining: { reason: "ContentRemoved", message: "All content successfully removed" },
  NamespaceFinalizersRemaining: { reason: "ContentHasNoFinalizers", message: "All content-preserving finalizers finished" },
};

/** The same list if nothing has changed. */
export function conditionsOf({ status }: Namespace, findings: NamespaceFindings, nowMs: number): readonly NamespaceCondition[] {
  const wrong = wordsOf(findings);
  let conditions = status?.conditions ?? [];
  for (const [type, well] of Object.entries(WHEN_WELL)) {
    const words = wrong.get(type);
    const condition = { type, status: words === undefined ? "False" : "True", ...(words ?? well) };
    const previous = findCondition(conditions, type);
    const isSame = previous?.status === condition.status && previous.reason === condition.reason && previous.message === condition.message;
    if (!isSame) conditions = withCondition(conditions, condition, nowMs);
  }
  return conditions;
}

function wordsOf({ undiscovered, problems, remainders = [] }: NamespaceFindings): ReadonlyMap<string, Words> {
  const wrong = new Map<string, Words>();
  if (undiscovered.length > 0) {
    wrong.set("NamespaceDeletionDiscoveryFailure", { reason: "DiscoveryFailed", message: undiscoveredMessage(undiscovered) });
  }
  if (problems.length > 0) {
    const message = `Failed to delete all resource types, ${problems.length} remaining: ${problems.toSorted().join(", ")}`;
    wrong.set("NamespaceDeletionContentFailure", { reason: "ContentDeletionFailed", message });
  }
  const remaining = remainders.filter(({ count }) => count > 0);
  if (remaining.length > 0) {
    const items = remaining.map(({ kind: { plural, storage }, count }) => `${plural}.${storage.group} has ${count} resource instances`);
    const message = `Some resources are remaining: ${items.toSorted().join(", ")}`;
    wrong.set("NamespaceContentRemaining", { reason: "SomeResourcesRemain", message });
  }
  const finalizers = Array.from(finalizerCounts(remainders), ([name, count]) => `${name} in ${count} resource instances`);
  if (finalizers.length > 0) {
    const message = `Some content in the namespace has finalizers remaining: ${finalizers.toSorted().join(", ")}`;
    wrong.set("NamespaceFinalizersRemaining", { reason: "SomeFinalizersRemain", message });
  }
  return wrong;
}

function undiscoveredMessage(failures: readonly DiscoveryFailure[]): string {
  const items = failures.map(({ groupVersion, error }) => `${groupVersion}: ${error instanceof Error ? error.message : String(error)}`);
  const list = items.toSorted().join(", ");
  return `Discovery failed for some groups, ${failures.length} failing: unable to retrieve the complete list of server APIs: ${list}`;
}

function finalizerCounts(remainders: readonly KindRemainder[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { finalizers } of remainders) {
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}

/**
 * Classifies node changes by whether they may make a rejected Pod feasible. Kubelets write node status every few minutes without a relevant
 * change, so that the common result is "nothing", and it is cheap. As upstream, cordoning never helps, and images never affect feasibility:
 * neither is reported.
 */
import { deepEqual } from "../../base/deep.ts";
import type { Node, NodeCondition } from "../../api/generated/core/v1.ts";
import { compareQuantities, parseQuantity, QuantityError } from "../../api/machinery/quantity.ts";
import type { NodeChange } from "../framework/cluster-event.ts";

const NOTHING: ReadonlySet<NodeChange> = new Set();
const EMPTY = {};

/** The results for an added or removed node. */
export const NODE_ADDED: ReadonlySet<NodeChange> = new Set(["added"]);
export const NODE_DELETED: ReadonlySet<NodeChange> = new Set(["deleted"]);

const CHECKS: readonly (readonly [NodeChange, (previous: Node, node: Node) => boolean])[] = [
  ["unschedulable", wasUncordoned],
  ["allocatable", (previous, node) => !isSameAmounts(previous.status?.allocatable, node.status?.allocatable)],
  ["labels", (previous, node) => !deepEqual(previous.metadata.labels ?? EMPTY, node.metadata.labels ?? EMPTY)],
  ["taints", (previous, node) => !deepEqual(previous.spec?.taints ?? [], node.spec?.taints ?? [])],
  ["conditions", (previous, node) => !isSameConditions(previous.status?.conditions ?? [], node.status?.conditions ?? [])],
  ["declared-features", (previous, node) => !deepEqual(previous.status?.declaredFeatures ?? [], node.status?.declaredFeatures ?? [])],
  ["annotations", (previous, node) => !deepEqual(previous.metadata.annotations ?? EMPTY, node.metadata.annotations ?? EMPTY)],
];

/** Empty if no Pod has a reason to be retried. */
export function nodeChanges(previous: Node, node: Node): ReadonlySet<NodeChange> {
  let changes: Set<NodeChange> | undefined;
  for (const [change, isChanged] of CHECKS) {
    if (isChanged(previous, node)) (changes ??= new Set()).add(change);
  }
  return changes ?? NOTHING;
}

function wasUncordoned(previous: Node, node: Node): boolean {
  return previous.spec?.unschedulable === true && node.spec?.unschedulable !== true;
}

type Amounts = Readonly<Record<string, string>>;

/** By value: "1" and "1000m" are equal. */
function isSameAmounts(a: Amounts = EMPTY, b: Amounts = EMPTY): boolean {
  if (deepEqual(a, b)) return true;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSameAmount(a[name] as string, b[name] as string));
}

function isSameAmount(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

/** Only type and status count: heartbeat times and reasons affect no Pod. */
function isSameConditions(a: readonly NodeCondition[], b: readonly NodeCondition[]): boolean {
  if (a.length === b.length && a.every(({ type, status }, index) => type === b[index]?.type && status === b[index]?.status)) return true;
  const statuses = new Map(a.map(({ type, status }) => [type, status]));
  const others = new Map(b.map(({ type, status }) => [type, status]));
  return statuses.size === others.size && [...statuses].every(([type, status]) => others.get(type) === status);
}

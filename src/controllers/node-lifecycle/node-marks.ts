/**
 * The taints and labels that follow from a Node's conditions. NoSchedule taints are added at once. NoExecute taints are added only with an
 * eviction turn (zones.ts), but removed, and exchanged for the other one, at once.
 */
import type { Node, NodeCondition, Taint } from "../../api/generated/core/v1.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import {
  TAINT_DISK_PRESSURE,
  TAINT_MEMORY_PRESSURE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_NOT_READY,
  TAINT_PID_PRESSURE,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
} from "../../api/core/v1/node/taint-keys.ts";
import { formatTime } from "../../api/machinery/time.ts";

/** By "<condition> <status>". */
const TAINT_OF_CONDITION = new Map([
  ["Ready False", TAINT_NOT_READY],
  ["Ready Unknown", TAINT_UNREACHABLE],
  ["MemoryPressure True", TAINT_MEMORY_PRESSURE],
  ["DiskPressure True", TAINT_DISK_PRESSURE],
  ["PIDPressure True", TAINT_PID_PRESSURE],
  ["NetworkUnavailable True", TAINT_NETWORK_UNAVAILABLE],
]);

/** The NoSchedule taints that this controller owns. */
const OUR_NO_SCHEDULE = new Set([...TAINT_OF_CONDITION.values(), TAINT_UNSCHEDULABLE]);

const TROUBLES = [TAINT_NOT_READY, TAINT_UNREACHABLE];

/** The label on the right is deprecated and kept for old manifests. */
const LABELS = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

export interface EvictionLeave {
  /** Whether this Node may get a NoExecute taint. */
  readonly isGranted: boolean;
  /** Every zone is lost: then it is more likely our own network, and nothing is evicted. */
  readonly isStopped: boolean;
}

/** All desired taints of the Node; undefined if they are up to date. */
export function plannedTaints(node: Node, leave: EvictionLeave, nowMs: number): readonly Taint[] | undefined {
  const present = node.spec?.taints ?? [];
  const wanted = [...noScheduleKeys(node).map((key) => ({ key, effect: "NoSchedule" as const })), ...wantedNoExecute(node, leave)];
  const isWanted = (taint: Taint): boolean => wanted.some((candidate) => isSameTaint(candidate, taint));
  const kept = present.filter((taint) => isWanted(taint) || !isOurs(taint));
  const timeAdded = formatTime(nowMs);
  const added = wanted.filter((taint) => !present.some((candidate) => isSameTaint(candidate, taint)));
  if (kept.length === present.length && added.length === 0) return undefined;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded }))];
}

/** The NoExecute taint by its condition alone. */
export function troubleOf(node: Node): string | undefined {
  const ready = readyCondition(node);
  return ready === undefined ? undefined : TAINT_OF_CONDITION.get(conditionText(ready));
}

export function isEvicting({ key, effect }: Taint): boolean {
  return effect === "NoExecute" && TROUBLES.includes(key);
}

/** The labels that must change, with their values. */
export function plannedLabels({ metadata }: Node): Readonly<Record<string, string>> | undefined {
  const { labels = {} } = metadata;
  const wrong = LABELS.filter(([stable, old]) => labels[stable] !== undefined && labels[stable] !== labels[old]);
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong.map(([stable, old]) => [old, labels[stable] ?? ""]));
}

function noScheduleKeys({ spec, status }: Node): readonly string[] {
  const keys = (status?.conditions ?? []).map((condition) => TAINT_OF_CONDITION.get(conditionText(condition)));
  return [...keys.filter((key) => key !== undefined), ...(spec?.unschedulable === true ? [TAINT_UNSCHEDULABLE] : [])];
}

function wantedNoExecute(node: Node, { isGranted, isStopped }: EvictionLeave): readonly Taint[] {
  const present = (node.spec?.taints ?? []).filter(isEvicting);
  // Nothing is known yet: foreign values stay.
  if (readyCondition(node) === undefined) return present;
  const key = troubleOf(node);
  if (key === undefined || isStopped || (present.length === 0 && !isGranted)) return [];
  return [{ key, effect: "NoExecute" }];
}

function isOurs(taint: Taint): boolean {
  return isEvicting(taint) || (taint.effect === "NoSchedule" && OUR_NO_SCHEDULE.has(taint.key));
}

function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

function conditionText({ type, status }: NodeCondition): string {
  return `${type} ${status}`;
}

/** Expected traffic share of each zone: its share of the CPUs of ready nodes. Pure. */
import type { Node } from "../../api/generated/core/v1.ts";
import { isConditionTrue } from "../../api/machinery/conditions.ts";
import { parseQuantity, quantityMilliValue } from "../../api/machinery/quantity.ts";
import { ZONE_LABEL } from "./desired-endpoints.ts";

/** Nodes with one of these, whatever its value, send no traffic to speak of. */
const EXCLUDED_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/** Each zone's fraction, ordered by name. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Undefined if there are fewer than two zones, or a node lacks zone or CPUs: shares would be wrong. */
export function zoneShares(nodes: readonly Node[]): ZoneShares | undefined {
  const milliByZone = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    if (!counts(node)) continue;
    const { zone, cpuMilli } = capacityOf(node);
    if (zone === "" || cpuMilli === 0) return undefined;
    milliByZone.set(zone, (milliByZone.get(zone) ?? 0) + cpuMilli);
    total += cpuMilli;
  }
  if (milliByZone.size < 2) return undefined;
  const names = [...milliByZone.keys()].toSorted();
  return new Map(names.map((zone) => [zone, (milliByZone.get(zone) ?? 0) / total]));
}

function counts({ metadata: { labels = {} }, status }: Node): boolean {
  return !EXCLUDED_LABELS.some((label) => Object.hasOwn(labels, label)) && isConditionTrue(status?.conditions, "Ready");
}

function capacityOf({ metadata, status }: Node): { readonly zone: string; readonly cpuMilli: number } {
  const cpu = parseQuantity(status?.allocatable?.["cpu"] ?? "0");
  return { zone: metadata.labels?.[ZONE_LABEL] ?? "", cpuMilli: quantityMilliValue(cpu) };
}

/** Whether a node change keeps the shares. Its status is written every few minutes, mostly without a change. */
export function sameShare(a: Node, b: Node): boolean {
  return (
    counts(a) === counts(b) &&
    a.metadata.labels?.[ZONE_LABEL] === b.metadata.labels?.[ZONE_LABEL] &&
    a.status?.allocatable?.["cpu"] === b.status?.allocatable?.["cpu"]
  );
}

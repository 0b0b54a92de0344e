/**
 * Order in which deferred resizes are retried, as upstream's: requests that do not increase anything, which always fit; then by priority;
 * Guaranteed Pods before others; then the longest wait.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { qosClassOf } from "../../api/core/v1/pod/qos.ts";
import { asSpecified, podRequests } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { compareQuantities, quantityOf } from "../../api/machinery/quantity.ts";
import { RESIZABLE } from "./allocation.ts";

export interface PendingResize {
  /** The requested state. */
  readonly pod: Pod;
  /** The allocated state. */
  readonly allocated: Pod;
  /** Since when it is reported as pending; undefined: it is not. */
  readonly sinceMs: number | undefined;
}

/** Negative: `a` is tried first. */
export function comparePendingResizes(a: PendingResize, b: PendingResize): number {
  const grows = Number(isGrowing(a)) - Number(isGrowing(b));
  if (grows !== 0) return grows;
  const priority = (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0);
  if (priority !== 0) return priority;
  const guaranteed = Number(isGuaranteed(b.pod)) - Number(isGuaranteed(a.pod));
  if (guaranteed !== 0) return guaranteed;
  if (a.sinceMs === b.sinceMs) return 0;
  return (a.sinceMs ?? Number.POSITIVE_INFINITY) - (b.sinceMs ?? Number.POSITIVE_INFINITY);
}

function isGrowing({ pod, allocated }: PendingResize): boolean {
  const [after, before] = [podRequests(asSpecified(pod)), podRequests(asSpecified(allocated))];
  return RESIZABLE.some((name) => compareQuantities(after.get(name) ?? quantityOf(0), before.get(name) ?? quantityOf(0)) > 0);
}

function isGuaranteed({ spec }: Pod): boolean {
  return spec !== undefined && qosClassOf(spec) === "Guaranteed";
}

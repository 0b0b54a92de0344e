/**
 * The node that announces the load balancer address of a Service on its network: the message of a condition. In the status, because users
 * who may change Services must not decide which machine answers for an address.
 */
import type { Service, ServiceStatus } from "../../../generated/core/v1.ts";

export const ANNOUNCED_CONDITION = "k8ts.io/LoadBalancerAnnounced";

type Condition = NonNullable<ServiceStatus["conditions"]>[number];

/** Name of the node. */
export function announcerOf({ status }: Service): string | undefined {
  return status?.conditions?.find(({ type, status: state }) => type === ANNOUNCED_CONDITION && state === "True")?.message;
}

/** The conditions with this node as the announcer, or without one. */
export function withAnnouncer(
  { status }: Service,
  { node, nowMs }: { readonly node: string | undefined; readonly nowMs: number },
): readonly Condition[] {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== ANNOUNCED_CONDITION);
  if (node === undefined) return others;
  const lastTransitionTime = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  return [...others, { type: ANNOUNCED_CONDITION, status: "True", reason: "AddressOfRange", message: node, lastTransitionTime }];
}

/** What a Node's status and labels say about it to whoever has to do with its Pods. */
import type { Node, NodeCondition } from "../../../generated/core/v1.ts";
import { findCondition } from "../../../machinery/conditions.ts";

const ZONE_LABELS = ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"];
const REGION_LABELS = ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"];

/** Undefined if nobody has said anything yet. */
export function readyCondition({ status }: Node): NodeCondition | undefined {
  return findCondition(status?.conditions, "Ready");
}

export function isNodeReady(node: Node): boolean {
  return readyCondition(node)?.status === "True";
}

/** "region:zone": a name for what may fail together. As in upstream, the old labels come first. Label values have no colons. */
export function zoneOf({ metadata }: Node): string {
  const { labels = {} } = metadata;
  const [region, zone] = [REGION_LABELS, ZONE_LABELS].map((keys) => keys.find((key) => labels[key] !== undefined));
  return `${region === undefined ? "" : labels[region]}:${zone === undefined ? "" : labels[zone]}`;
}

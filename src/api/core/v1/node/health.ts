/** Readiness and failure zone of a Node, from its status and labels. */
import type { Node, NodeCondition } from "../../../generated/core/v1.ts";
import { findCondition } from "../../../machinery/conditions.ts";

const ZONE_LABELS = ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"];
const REGION_LABELS = ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"];

/** Undefined if it has not been reported yet. */
export function readyCondition({ status }: Node): NodeCondition | undefined {
  return findCondition(status?.conditions, "Ready");
}

export function isNodeReady(node: Node): boolean {
  return readyCondition(node)?.status === "True";
}

/** "region:zone": failure domain. As upstream, the legacy labels come first. Label values have no colons. */
export function zoneOf({ metadata }: Node): string {
  const { labels = {} } = metadata;
  const [region, zone] = [REGION_LABELS, ZONE_LABELS].map((keys) => keys.find((key) => labels[key] !== undefined));
  return `${region === undefined ? "" : labels[region]}:${zone === undefined ? "" : labels[zone]}`;
}

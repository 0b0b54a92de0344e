/**
 * Hints state for which zone's or node's traffic an endpoint is meant. A Service requests them by the field trafficDistribution (prefer
 * close endpoints, however many there are), or by the older annotation (endpoints distributed by the zones' CPUs: topology-hints.ts), which
 * takes precedence. Pure.
 */
import type { Service } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointHints } from "../../api/generated/discovery.k8s.io/v1.ts";
import { specOf } from "../../api/core/v1/service/needs.ts";
import type { PlannedSlice } from "./slice-packing.ts";
import { withoutHints } from "./slice-packing.ts";

const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
/** The annotation's former name; it still takes precedence. */
const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";

export type Distribution = "none" | "same-zone" | "same-node" | "topology";

export function distributionOf(service: Service): Distribution {
  if (hasTopologyMode(service)) return "topology";
  switch (specOf(service).trafficDistribution) {
    case "PreferClose": // The former name of the next.
    case "PreferSameZone":
      return "same-zone";
    case "PreferSameNode":
      return "same-node";
    default:
      return "none";
  }
}

export function hasTopologyMode({ metadata: { annotations = {} } }: Service): boolean {
  const mode = annotations[TOPOLOGY_HINTS] ?? annotations[TOPOLOGY_MODE];
  return mode === "Auto" || mode === "auto";
}

export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}

export function withHintsOf(slice: PlannedSlice, hintsFor: (endpoint: Endpoint) => EndpointHints | undefined): PlannedSlice {
  const endpoints = slice.endpoints.map((endpoint) => {
    const hints = hintsFor(endpoint);
    return hints === undefined ? withoutHints(endpoint) : { ...endpoint, hints };
  });
  return { ...slice, endpoints };
}

/** Not-ready endpoints receive no traffic, so they have no hints. */
export function hintsCloseBy(endpoint: Endpoint, distribution: "same-zone" | "same-node"): EndpointHints | undefined {
  const { zone, nodeName } = endpoint;
  const hasNode = distribution === "same-node" && nodeName !== undefined;
  if (!isReady(endpoint) || (zone === undefined && !hasNode)) return undefined;
  return {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(hasNode ? { forNodes: [{ name: nodeName }] } : {}),
  };
}

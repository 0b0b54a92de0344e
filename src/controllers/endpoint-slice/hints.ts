/**
 * Hints tell proxies for whose traffic an endpoint is meant: that of a zone or of a node. A Service asks for them in one of two ways: the
 * field trafficDistribution (everybody to the endpoints close by, however many there are), or the older annotation (zones share endpoints
 * by their CPUs: topology-hints.ts), which wins if both are there. Pure.
 */
import type { Service } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointHints } from "../../api/generated/discovery.k8s.io/v1.ts";
import { specOf } from "../../api/core/v1/service/needs.ts";
import type { PlannedSlice } from "./slice-packing.ts";
import { withoutHints } from "./slice-packing.ts";

const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
/** The annotation's name before; it still counts first. */
const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";

export type Distribution = "none" | "same-zone" | "same-node" | "topology";

export function distributionOf(service: Service): Distribution {
  if (hasTopologyMode(service)) return "topology";
  switch (specOf(service).trafficDistribution) {
    case "PreferClose": // The older name of the next.
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

/** What is not ready takes no traffic, so it has none. */
export function hintsCloseBy(endpoint: Endpoint, distribution: "same-zone" | "same-node"): EndpointHints | undefined {
  const { zone, nodeName } = endpoint;
  const hasNode = distribution === "same-node" && nodeName !== undefined;
  if (!isReady(endpoint) || (zone === undefined && !hasNode)) return undefined;
  return {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(hasNode ? { forNodes: [{ name: nodeName }] } : {}),
  };
}

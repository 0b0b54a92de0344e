/**
 * Which endpoints of a service port receive traffic on this node: upstream's rules for topology hints, traffic policies and terminating
 * endpoints (pkg/proxy/topology.go). Pure.
 */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Name of its node; absent: unknown. */
  readonly nodeName?: string;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  /** Zones and nodes for which the EndpointSlice controller allocated it. Empty: no hint. */
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** The node that the model is for. */
export interface NodeTopology {
  readonly name: string;
  /** Label topology.kubernetes.io/zone. */
  readonly zone?: string;
}

export interface Policies {
  readonly internalPolicy: "Cluster" | "Local";
  readonly externalPolicy: "Cluster" | "Local";
  /** True if it is reachable by anything but its cluster IP. */
  readonly isExternal: boolean;
}

export interface UsableEndpoints {
  readonly cluster: readonly Endpoint[];
  readonly local: readonly Endpoint[];
  readonly hasAny: boolean;
}

/** Lists are empty if the policies do not use them. The order of `endpoints` is kept. */
export function usableEndpoints(endpoints: readonly Endpoint[], policies: Policies, node: NodeTopology): UsableEndpoints {
  const cluster = usesCluster(policies) ? clusterEndpoints(endpoints, node) : [];
  if (!usesLocal(policies)) return { cluster, local: [], hasAny: cluster.length > 0 };
  const local = readyOrTerminating(endpoints.filter(({ nodeName }) => nodeName === node.name));
  const hasAny = endpoints.some((endpoint) => endpoint.isReady || isDraining(endpoint));
  return { cluster, local, hasAny };
}

/** External traffic that comes from this node or its Pods reaches all endpoints even with policy Local. */
function usesCluster({ internalPolicy, isExternal }: Policies): boolean {
  return internalPolicy === "Cluster" || isExternal;
}

function usesLocal({ internalPolicy, externalPolicy, isExternal }: Policies): boolean {
  return internalPolicy === "Local" || (externalPolicy === "Local" && isExternal);
}

function clusterEndpoints(endpoints: readonly Endpoint[], node: NodeTopology): readonly Endpoint[] {
  const ready = endpoints.filter(({ isReady }) => isReady);
  return ready.length === 0 ? endpoints.filter(isDraining) : preferred(ready, node);
}

function readyOrTerminating(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ready = endpoints.filter(({ isReady }) => isReady);
  return ready.length > 0 ? ready : endpoints.filter(isDraining);
}

function isDraining({ isReady, isServing, isTerminating }: Endpoint): boolean {
  return !isReady && isServing && isTerminating;
}

/** Hints count only if every ready endpoint has one, and one of them is for this node or its zone; otherwise all are used. */
function preferred(ready: readonly Endpoint[], { name, zone }: NodeTopology): readonly Endpoint[] {
  if (ready.every(({ nodeHints }) => nodeHints.length > 0)) {
    const forNode = ready.filter(({ nodeHints }) => nodeHints.includes(name));
    if (forNode.length > 0) return forNode;
  }
  if (zone === undefined || !ready.every(({ zoneHints }) => zoneHints.length > 0)) return ready;
  const forZone = ready.filter(({ zoneHints }) => zoneHints.includes(zone));
  return forZone.length > 0 ? forZone : ready;
}

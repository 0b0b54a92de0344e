/**
 * What the userspace proxy listens for: the addresses of a service port, grouped by who may use them and which endpoints they reach. Pure.
 * Not here: sockets (front-socket.ts) and how addresses get to them (redirect-rules.ts).
 */
import { cidrContains, parseCidr, parseIp, type Cidr } from "../../../api/machinery/ip/ip-address.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";

export interface Front {
  /** "default/web:http/TCP/4 cluster", unique. */
  readonly key: string;
  readonly kind: "cluster" | "external" | "balancer";
  readonly servicePort: ServicePort;
  /** Addresses at which `servicePort.port` is served. */
  readonly addresses: readonly string[];
  /** Endpoints for clients of other machines, and for Pods of the cluster and this node. */
  readonly outside: readonly ServiceEndpoint[];
  readonly inside: readonly ServiceEndpoint[];
  /** What happens without an endpoint: as in the kernel's modes, only policy Local hides that others have one. */
  readonly whenEmpty: "reject" | "drop";
  /** Served on the node's addresses. */
  readonly nodePort?: number;
}

/** Of one service port; SCTP has none, because Node.js has no sockets for it. */
export function frontsOf(servicePort: ServicePort): readonly Front[] {
  const { key, protocol, clusterIp, externalIps, loadBalancerIps, nodePort, clusterEndpoints, localEndpoints } = servicePort;
  if (protocol === "SCTP") return [];
  const isInternalLocal = servicePort.internalPolicy === "Local";
  const isExternalLocal = servicePort.externalPolicy === "Local";
  const emptyWith = (isLocal: boolean) => (isLocal && servicePort.hasEndpoints ? "drop" : "reject");
  const internal = isInternalLocal ? localEndpoints : clusterEndpoints;
  const external = {
    servicePort,
    outside: isExternalLocal ? localEndpoints : clusterEndpoints,
    inside: clusterEndpoints,
    whenEmpty: emptyWith(isExternalLocal),
  } as const;
  const fronts: Front[] = [
    {
      ...{ key: `${key} cluster`, kind: "cluster", servicePort, addresses: [clusterIp] },
      ...{ outside: internal, inside: internal, whenEmpty: emptyWith(isInternalLocal) },
    },
  ];
  if (externalIps.length > 0 || nodePort !== undefined)
    fronts.push({
      ...{ ...external, key: `${key} external`, kind: "external", addresses: externalIps },
      ...(nodePort === undefined ? {} : { nodePort }),
    });
  if (loadBalancerIps.length > 0) fronts.push({ ...external, key: `${key} balancer`, kind: "balancer", addresses: loadBalancerIps });
  return fronts;
}

export function isEmpty({ outside, inside }: Front): boolean {
  return outside.length === 0 && inside.length === 0;
}

/** Decides about clients by their address. */
export class ClientRules {
  readonly #inside: readonly Cidr[];
  readonly #own: ReadonlySet<string>;

  constructor({ podCidrs, nodeIps }: Pick<ProxyModel, "podCidrs" | "nodeIps">, localAddresses: readonly string[]) {
    this.#inside = podCidrs.flatMap((range) => parseCidr(range) ?? []);
    this.#own = new Set([...nodeIps, ...localAddresses]);
  }

  /** A Pod of the cluster, or this machine. */
  isInside(client: string): boolean {
    return this.#own.has(client) || client.startsWith("127.") || contains(this.#inside, client);
  }

  /** The source ranges of a load balancer; without any, every client may use it. */
  mayUse({ kind, servicePort: { sourceRanges } }: Front, client: string): boolean {
    if (kind !== "balancer" || sourceRanges.length === 0) return true;
    return contains(
      sourceRanges.flatMap((range) => parseCidr(range) ?? []),
      client,
    );
  }
}

function contains(ranges: readonly Cidr[], address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && ranges.some((range) => range.address.family === ip.family && cidrContains(range, ip));
}

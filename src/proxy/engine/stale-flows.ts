/**
 * Which UDP flows in the kernel's connection tracking lead to the wrong place. The kernel translates a UDP flow by its first packet and
 * keeps doing so while packets come, so a client that keeps its source port would send to a deleted endpoint forever, or stay without an
 * answer after the first endpoint appeared. Upstream's rules (pkg/proxy/conntrack): a flow to a UDP service port is stale unless its answers
 * come from a serving endpoint. Pure. Not here: reading and deleting flows (conntrack.ts).
 */
import { hostPort } from "../compute/slice-endpoints.ts";
import type { ProxyModel, ServicePort } from "../model.ts";

export interface UdpFlow {
  readonly destination: string;
  readonly destinationPort: number;
  /** Where answers come from: the endpoint, or the destination itself if nothing was translated. */
  readonly replySource: string;
  readonly replySourcePort: number;
}

/** UDP service ports of a model for one family. */
export function udpPorts(model: ProxyModel, family: 4 | 6): readonly ServicePort[] {
  return [...model.servicePorts.values()].filter((port) => port.protocol === "UDP" && port.family === family);
}

/** Whether flows may have become stale between two models: a UDP service port changed or was removed. */
export function udpChanged(before: ProxyModel | undefined, now: ProxyModel, family: 4 | 6): boolean {
  const ports = udpPorts(now, family);
  if (before === undefined) return ports.length > 0;
  if (before.servicePorts === now.servicePorts) return false;
  return (
    ports.some((port) => before.servicePorts.get(port.key) !== port) ||
    udpPorts(before, family).some(({ key }) => !now.servicePorts.has(key))
  );
}

/** `before`: UDP service ports of earlier models, whose removed addresses and ports are cleaned up. Returns each distinct flow once. */
export function staleFlows(flows: Iterable<UdpFlow>, before: Iterable<ServicePort>, now: ProxyModel, family: 4 | 6): readonly UdpFlow[] {
  const wanted = new Destinations(before, udpPorts(now, family), now.nodeIps);
  const stale = new Map<string, UdpFlow>();
  for (const flow of flows) {
    const endpoints = wanted.endpointsOf(flow);
    if (endpoints === undefined || endpoints.has(hostPort(flow.replySource, flow.replySourcePort))) continue;
    stale.set(JSON.stringify(flow), flow);
  }
  return [...stale.values()];
}

const NO_ENDPOINTS: ReadonlySet<string> = new Set();

class Destinations {
  readonly #byAddress = new Map<string, ReadonlySet<string>>();
  readonly #byNodePort = new Map<number, ReadonlySet<string>>();
  readonly #nodeIps: ReadonlySet<string>;

  constructor(before: Iterable<ServicePort>, now: readonly ServicePort[], nodeIps: readonly string[]) {
    this.#nodeIps = new Set(nodeIps);
    for (const port of before) this.#add(port, NO_ENDPOINTS);
    for (const port of now) this.#add(port, new Set(port.servingEndpoints));
  }

  /** The endpoints that may answer; undefined if it is no flow of a service port. */
  endpointsOf({ destination, destinationPort, replySource }: UdpFlow): ReadonlySet<string> | undefined {
    const byAddress = this.#byAddress.get(hostPort(destination, destinationPort));
    if (byAddress !== undefined) return byAddress;
    // The same port number on another machine is not a node port of this one: such flows are neither translated nor to this node.
    if (replySource === destination && !this.#nodeIps.has(destination)) return undefined;
    return this.#byNodePort.get(destinationPort);
  }

  #add(port: ServicePort, endpoints: ReadonlySet<string>): void {
    for (const address of [port.clusterIp, ...port.externalIps, ...port.loadBalancerIps])
      this.#byAddress.set(hostPort(address, port.port), endpoints);
    if (port.nodePort !== undefined) this.#byNodePort.set(port.nodePort, endpoints);
  }
}

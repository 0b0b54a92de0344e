/**
 * What the mode ipvs wants in the kernel, from the model: virtual servers, their addresses, and the sets that the fixed rules of iptables
 * match (fixed-rules.ts). Pure. IPVS refuses connections to a virtual server without endpoints itself. Differences to iptables: node ports
 * are served on the node's addresses but not on loopback, and external traffic policy Local also applies to this node and its Pods.
 */
import { cidrContains, parseCidr, parseIp } from "../../../api/machinery/ip/ip-address.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";

export type Family = 4 | 6;

/** Suffix of the set that records servers. */
export const RECORD = "srv";

/** Sets by the suffix of their name; `type` as ipset writes it. */
export const SETS = {
  /** Cluster IPs. */
  cip: "hash:ip,port",
  /** External addresses of policy Cluster: masqueraded. */
  ext: "hash:ip,port",
  /** Endpoints with their own address, for connections of an endpoint to itself: masqueraded. */
  loop: "hash:ip,port,ip",
  /** Load balancer addresses with source ranges, and those ranges. */
  fw: "hash:ip,port",
  src: "hash:ip,port,net",
  /** Node ports of policy Cluster: masqueraded. */
  "np-tcp": "bitmap:port range 0-65535",
  "np-udp": "bitmap:port range 0-65535",
  "np-sctp": "hash:ip,port",
  /**
   * Virtual servers at the node's own addresses: no rule matches it. Servers have no owner in the kernel, so that a restarted proxy finds its
   * own by this record, and the others by the addresses of its link.
   */
  [RECORD]: "hash:ip,port",
} as const;

export type SetName = keyof typeof SETS;

export interface IpvsState {
  /** Arguments of virtual servers without the command, by "-t 10.96.0.10:80": "-s rr -p 10800". */
  readonly servers: ReadonlyMap<string, string>;
  /** "-t 10.96.0.10:80 -r 10.244.0.5:8080" */
  readonly destinations: ReadonlySet<string>;
  /** Addresses of the proxy's own link: IPVS handles packets to local addresses only. */
  readonly addresses: ReadonlySet<string>;
  /** "cip 10.96.0.10,tcp:80" */
  readonly entries: ReadonlySet<string>;
}

/** How ipvsadm names a protocol. */
export const OPTION_OF = { TCP: "-t", UDP: "-u", SCTP: "--sctp-service" } as const;

export function ipvsState(model: ProxyModel, { family, scheduler }: { readonly family: Family; readonly scheduler: string }): IpvsState {
  const state = new StateBuilder(scheduler);
  const nodeIps = model.nodeIps.filter((address) => isOfFamily(address, family) && isInRanges(address, model.nodePortAddresses));
  for (const port of model.servicePorts.values()) if (port.family === family) state.add(port, nodeIps);
  return state;
}

class StateBuilder implements IpvsState {
  readonly #scheduler: string;
  readonly servers = new Map<string, string>();
  readonly destinations = new Set<string>();
  readonly addresses = new Set<string>();
  readonly entries = new Set<string>();

  constructor(scheduler: string) {
    this.#scheduler = scheduler;
  }

  add(port: ServicePort, nodeIps: readonly string[]): void {
    const { clusterIp, externalIps, internalPolicy, loadBalancerIps, nodePort } = port;
    this.#addServer(port, { address: clusterIp, port: port.port }, internalPolicy);
    this.addresses.add(clusterIp);
    this.#addEntry("cip", port, clusterIp, port.port);
    for (const address of [...externalIps, ...loadBalancerIps]) this.#addExternal(port, address, nodeIps);
    for (const address of loadBalancerIps) this.#addSourceRanges(port, address);
    if (nodePort !== undefined) this.#addNodePort(port, nodePort, nodeIps);
  }

  #addExternal(port: ServicePort, address: string, nodeIps: readonly string[]): void {
    this.#addServer(port, { address, port: port.port }, port.externalPolicy);
    // The node's own addresses are on its links already.
    if (nodeIps.includes(address)) this.#addEntry(RECORD, port, address, port.port);
    else this.addresses.add(address);
    if (port.externalPolicy === "Cluster") this.#addEntry("ext", port, address, port.port);
  }

  #addSourceRanges(port: ServicePort, address: string): void {
    if (port.sourceRanges.length === 0) return;
    this.#addEntry("fw", port, address, port.port);
    for (const range of port.sourceRanges) this.#addEntry("src", port, address, port.port, range);
  }

  #addNodePort(port: ServicePort, nodePort: number, nodeIps: readonly string[]): void {
    for (const address of nodeIps) {
      this.#addServer(port, { address, port: nodePort }, port.externalPolicy);
      this.#addEntry(RECORD, port, address, nodePort);
    }
    if (port.externalPolicy === "Local") return;
    if (port.protocol === "SCTP") for (const address of nodeIps) this.#addEntry("np-sctp", port, address, nodePort);
    else this.entries.add(`${port.protocol === "TCP" ? "np-tcp" : "np-udp"} ${nodePort}`);
  }

  #addServer(port: ServicePort, at: { readonly address: string; readonly port: number }, policy: "Cluster" | "Local"): void {
    const { affinitySeconds, clusterEndpoints, localEndpoints, protocol } = port;
    const server = `${OPTION_OF[protocol]} ${shown(at)}`;
    this.servers.set(server, `-s ${this.#scheduler}${affinitySeconds === undefined ? "" : ` -p ${affinitySeconds}`}`);
    for (const endpoint of policy === "Local" ? localEndpoints : clusterEndpoints) {
      this.destinations.add(`${server} -r ${shown(endpoint)}`);
      if (endpoint.isLocal) this.#addEntry("loop", port, endpoint.address, endpoint.port, endpoint.address);
    }
  }

  #addEntry(set: SetName, { protocol }: ServicePort, address: string, port: number, ...more: readonly string[]): void {
    this.entries.add(`${set} ${[address, `${protocol.toLowerCase()}:${port}`, ...more].join(",")}`);
  }
}

function shown({ address, port }: Pick<ServiceEndpoint, "address" | "port">): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function isOfFamily(address: string, family: Family): boolean {
  return address.includes(":") === (family === 6);
}

function isInRanges(address: string, ranges: readonly string[]): boolean {
  const ip = parseIp(address);
  return (
    ip !== undefined &&
    ranges.some((text) => {
      const range = parseCidr(text);
      return range !== undefined && cidrContains(range, ip);
    })
  );
}

/**
 * The rules of one service port: chains of its own, and entries of the indexes that lead packets to them. Pure. The structure is upstream's:
 * cluster IP → svc or svl (endpoints of policy Cluster or Local) → sep (one endpoint); external addresses → ext, which masquerades with
 * policy Cluster and short-circuits traffic of this node with policy Local. Without usable endpoints, entries of the table filter reject or
 * drop. Not here: fixed chains (fixed-chains.ts), indexes (chain-index.ts).
 */
import { cidrContains, formatCidr, networkOf, parseCidr, parseIp } from "../../../api/machinery/ip/ip-address.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";
import type { ChainNames } from "./chain-names.ts";
import { comment, dnatTo, isHost, isRecent, oneIn, protocolAndPort, reject, recordSource } from "./rule-text.ts";

export type Table = "nat" | "filter";

/** Which packets an index sees: to cluster IPs from Pods and this machine, to external addresses, to local addresses. */
export type IndexName = "cluster-ips" | "externals" | "node-ports";

export interface IndexEntry {
  readonly table: Table;
  readonly index: IndexName;
  /** Matches of all packets that the rule may match, shared by neighbours. */
  readonly bucket: string;
  readonly rule: string;
  /** True: after the rules of all service ports of its bucket. Several service ports may have the same one; it is written once. */
  readonly isLast?: true;
}

export interface PortRules {
  /** Rules by chain of the table nat. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  readonly entries: readonly IndexEntry[];
}

/** What the rules of all service ports depend on. */
export interface RuleSettings extends Pick<ProxyModel, "podCidrs" | "nodeIps"> {
  readonly names: ChainNames;
  readonly podBridge?: string;
  readonly masqueradesAll: boolean;
}

/** Bits of an address that vary within a bucket of an index: 4096 addresses, so that 10,000 Services in a /12 are about 256 × 40 rules. */
const BUCKET_ADDRESS_BITS = 12;
/** The same for node ports. */
const BUCKET_PORTS = 128;

/** Chain that marks packets for masquerading. */
export const MARK_CHAIN = "mark";
/** Chain that marks packets from outside of the cluster. */
export const MARK_OUTSIDE_CHAIN = "mark-outside";
/** Chain that rejects packets of any protocol. */
export const REJECT_CHAIN = "reject";

export function portRules(port: ServicePort, settings: RuleSettings): PortRules {
  return new PortTranslation(port, settings).result();
}

/** Matches of packets from Pods of the cluster. Empty: unknown. */
export function podSources({ podCidrs, podBridge }: Pick<RuleSettings, "podCidrs" | "podBridge">, family: 4 | 6): readonly string[] {
  const ranges = podCidrs.filter((range) => range.includes(":") === (family === 6));
  if (ranges.length > 0) return ranges.map((range) => `-s ${range}`);
  return podBridge === undefined ? [] : [`-i ${podBridge}`];
}

class PortTranslation {
  readonly #port: ServicePort;
  readonly #settings: RuleSettings;
  readonly #chains = new Map<string, readonly string[]>();
  readonly #entries: IndexEntry[] = [];

  constructor(port: ServicePort, settings: RuleSettings) {
    this.#port = port;
    this.#settings = settings;
  }

  result(): PortRules {
    const { internalPolicy, clusterEndpoints, localEndpoints } = this.#port;
    const isExternal = this.#isExternal();
    if ((internalPolicy === "Cluster" || isExternal) && clusterEndpoints.length > 0) this.#addBalancing(this.#own("svc"), clusterEndpoints);
    if (this.#usesLocal() && localEndpoints.length > 0) this.#addBalancing(this.#own("svl"), localEndpoints);
    this.#addClusterIp();
    if (isExternal) this.#addExternal();
    return { chains: this.#chains, entries: this.#entries };
  }

  #own(kind: "svc" | "svl" | "ext" | "fwl"): string {
    return this.#settings.names.hashed(kind, this.#port.key);
  }

  #isExternal(): boolean {
    const { externalIps, loadBalancerIps, nodePort } = this.#port;
    return externalIps.length > 0 || loadBalancerIps.length > 0 || nodePort !== undefined;
  }

  #usesLocal(): boolean {
    const { internalPolicy, externalPolicy } = this.#port;
    return internalPolicy === "Local" || (externalPolicy === "Local" && this.#isExternal());
  }

  /** Chains with one rule per endpoint, after those that follow the session affinity. */
  #addBalancing(chain: string, endpoints: readonly ServiceEndpoint[]): void {
    const { affinitySeconds, clusterIp, displayName, family, port, protocol } = this.#port;
    const { names, masqueradesAll, podCidrs } = this.#settings;
    const rules: string[] = [];
    if (masqueradesAll || podSources({ podCidrs }, family).length > 0) {
      const marks = names.fixed(masqueradesAll ? MARK_CHAIN : MARK_OUTSIDE_CHAIN);
      rules.push(`${isHost("-d", clusterIp)} ${protocolAndPort(protocol, port, comment(`${displayName} cluster IP`))} -j ${marks}`);
    }
    const chains = endpoints.map((endpoint) => ({ chain: this.#addEndpoint(endpoint), says: this.#endpointComment(endpoint) }));
    if (affinitySeconds !== undefined)
      for (const one of chains) rules.push(`${one.says} ${isRecent(one.chain, affinitySeconds, family)} -j ${one.chain}`);
    for (const [index, one] of chains.entries()) {
      const left = chains.length - index;
      rules.push(`${one.says}${left === 1 ? "" : ` ${oneIn(left)}`} -j ${one.chain}`);
    }
    this.#chains.set(chain, rules);
  }

  #endpointComment({ address, port }: ServiceEndpoint): string {
    return comment(`${this.#port.displayName} -> ${address.includes(":") ? `[${address}]` : address}:${port}`);
  }

  /** Its chain: masquerades what the endpoint sends to itself, since it would not accept an answer from itself. */
  #addEndpoint(endpoint: ServiceEndpoint): string {
    const { affinitySeconds, displayName, family, key, protocol } = this.#port;
    const { names } = this.#settings;
    const chain = names.hashed("sep", key, endpoint.address, String(endpoint.port));
    const says = comment(displayName);
    const records = affinitySeconds === undefined ? "" : ` ${recordSource(chain, family)}`;
    this.#chains.set(chain, [
      `${isHost("-s", endpoint.address)} ${says} -j ${names.fixed(MARK_CHAIN)}`,
      `-p ${protocol.toLowerCase()} ${says}${records} ${dnatTo(endpoint)}`,
    ]);
    return chain;
  }

  #addClusterIp(): void {
    const { clusterIp, internalPolicy } = this.#port;
    const kind = internalPolicy === "Local" ? "svl" : "svc";
    if (this.#chains.has(this.#own(kind))) this.#addAddress("nat", "cluster-ips", clusterIp, "cluster IP", `-j ${this.#own(kind)}`);
    else this.#addAddress("filter", "cluster-ips", clusterIp, this.#refusal(), this.#verdict());
    this.#addOtherPorts();
  }

  /**
   * Rejects what is neither translated nor refused by a rule of a port: other ports and protocols of the cluster IP. The packet would leave
   * the node by its default route, where another machine may answer it.
   */
  #addOtherPorts(): void {
    const { clusterIp, name, namespace } = this.#port;
    const says = comment(`${namespace}/${name} has no such port`);
    const rule = `${isHost("-d", clusterIp)} ${says} -j ${this.#settings.names.fixed(REJECT_CHAIN)}`;
    this.#entries.push({ table: "filter", index: "cluster-ips", bucket: `-d ${bucketOf(clusterIp)}`, rule, isLast: true });
  }

  #addExternal(): void {
    const { externalIps, externalPolicy, loadBalancerIps, nodePort } = this.#port;
    const ext = this.#own("ext");
    if (this.#chains.has(this.#own("svc")) || this.#chains.has(this.#own("svl"))) this.#chains.set(ext, this.#externalRules());
    const isRefused = !this.#chains.has(this.#own(externalPolicy === "Local" ? "svl" : "svc"));
    const forLoadBalancer = this.#addFirewall(ext);
    for (const address of externalIps) this.#addExternalAddress(address, "external IP", { chain: ext, isRefused });
    for (const address of loadBalancerIps) {
      this.#addExternalAddress(address, "load balancer IP", { chain: forLoadBalancer, isRefused });
      if (forLoadBalancer !== ext && !isRefused)
        this.#addAddress("filter", "externals", address, "outside of its source ranges", "-j DROP");
    }
    if (nodePort === undefined) return;
    if (this.#chains.has(ext)) this.#addNodePort("nat", nodePort, "node port", `-j ${ext}`);
    if (isRefused) this.#addNodePort("filter", nodePort, this.#refusal(), this.#verdict());
  }

  /** With policy Local and no local endpoint, `chain` still serves this node and its Pods; what it leaves is dropped. */
  #addExternalAddress(address: string, says: string, { chain, isRefused }: { readonly chain: string; readonly isRefused: boolean }): void {
    if (this.#chains.has(chain)) this.#addAddress("nat", "externals", address, says, `-j ${chain}`);
    if (isRefused) this.#addAddress("filter", "externals", address, this.#refusal(), this.#verdict());
  }

  #externalRules(): readonly string[] {
    const { displayName, externalPolicy, family } = this.#port;
    const { names } = this.#settings;
    const mark = `-j ${names.fixed(MARK_CHAIN)}`;
    const [svc, svl] = [this.#own("svc"), this.#own("svl")];
    if (externalPolicy === "Cluster") return [`${comment(`masquerade external traffic to ${displayName}`)} ${mark}`, `-j ${svc}`];
    const rules: string[] = [];
    if (this.#chains.has(svc)) {
      for (const source of podSources(this.#settings, family))
        rules.push(`${source} ${comment(`Pod traffic to external addresses of ${displayName}`)} -j ${svc}`);
      const says = comment(`traffic of this node to external addresses of ${displayName}`);
      rules.push(`${says} -m addrtype --src-type LOCAL ${mark}`, `${says} -m addrtype --src-type LOCAL -j ${svc}`);
    }
    if (this.#chains.has(svl)) rules.push(`-j ${svl}`);
    return rules;
  }

  /** The chain for load balancer addresses: that of the source ranges if there are any. */
  #addFirewall(ext: string): string {
    const { displayName, loadBalancerIps, sourceRanges } = this.#port;
    if (sourceRanges.length === 0 || loadBalancerIps.length === 0 || !this.#chains.has(ext)) return ext;
    const says = comment(displayName);
    const rules = sourceRanges.map((range) => `-s ${range} ${says} -j ${ext}`);
    // The node's packets to an address of its own come from that address.
    if (this.#settings.nodeIps.some((address) => isInRanges(address, sourceRanges)))
      rules.push(...loadBalancerIps.map((address) => `${isHost("-s", address)} ${says} -j ${ext}`));
    const chain = this.#own("fwl");
    this.#chains.set(chain, rules);
    return chain;
  }

  /** With endpoints elsewhere, another node may answer: the client must try again, not give up. */
  #verdict(): string {
    return this.#port.hasEndpoints ? "-j DROP" : reject(this.#port.protocol, this.#port.family);
  }

  #refusal(): string {
    return this.#port.hasEndpoints ? "has no local endpoints" : "has no endpoints";
  }

  #addAddress(table: Table, index: IndexName, address: string, says: string, target: string): void {
    const { displayName, port, protocol } = this.#port;
    const rule = `${isHost("-d", address)} ${protocolAndPort(protocol, port, comment(`${displayName} ${says}`))} ${target}`;
    this.#entries.push({ table, index, bucket: `-d ${bucketOf(address)}`, rule });
  }

  #addNodePort(table: Table, nodePort: number, says: string, target: string): void {
    const { displayName, protocol } = this.#port;
    const first = Math.floor(nodePort / BUCKET_PORTS) * BUCKET_PORTS;
    const bucket = protocolAndPort(protocol, `${first}:${first + BUCKET_PORTS - 1}`, "");
    const rule = `${protocolAndPort(protocol, nodePort, comment(`${displayName} ${says}`))} ${target}`;
    this.#entries.push({ table, index: "node-ports", bucket, rule });
  }
}

function bucketOf(address: string): string {
  const parsed = parseIp(address);
  if (parsed === undefined) return address;
  const prefixLength = (parsed.family === 4 ? 32 : 128) - BUCKET_ADDRESS_BITS;
  return formatCidr(networkOf({ address: parsed, prefixLength }));
}

function isInRanges(address: string, ranges: readonly string[]): boolean {
  const ip = parseIp(address);
  return (
    ip !== undefined &&
    ranges.some((text) => {
      const range = parseCidr(text);
      return range !== undefined && range.address.family === ip.family && cidrContains(range, ip);
    })
  );
}

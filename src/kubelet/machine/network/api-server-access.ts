/**
 * How Pods reach the API server: the cluster IP of the Service "kubernetes" is translated to the address at which the API server listens
 * for them. One DNAT rule in a chain of the network's own, for Pods (PREROUTING) and for processes of this machine, which Pods with
 * `hostNetwork` are (OUTPUT). Packets of other networks are not translated. The rules carry the bridge's name and go with the network
 * (bridge-network.ts). Not here: all other Services, which a service proxy will serve and then this one, too.
 */
import { iptables } from "../../../host/network/network-links.ts";
import { addRules, commentMatch, listedRule, ownRules, servicesChain, type OwnRule, type RuleText } from "./bridge-network.ts";

export interface ApiServerAccess {
  readonly bridge: string;
  /** Of the Service "kubernetes", IPv4. */
  readonly clusterIp: string;
  /** Where the API server listens, IPv4. */
  readonly target: { readonly address: string; readonly port: number };
}

/** Of the Service "kubernetes". */
const SERVICE_PORT = "443";

export async function allowApiServerAccess(access: ApiServerAccess): Promise<void> {
  const chain = servicesChain(access.bridge);
  const present = await ownRules(access.bridge);
  if (!present.some(({ rule }) => rule === `-N ${chain}`)) await iptables("-t", "nat", "-N", chain);
  await addRules(apiServerRules(access), present);
}

/** In the order in which they are added: the chain is filled before anything jumps to it. */
export function apiServerRules({ bridge, clusterIp, target: { address, port } }: ApiServerAccess): readonly OwnRule[] {
  const chain = servicesChain(bridge);
  const comment = commentMatch(bridge);
  const toService = ["-d", `${clusterIp}/32`, "-p", "tcp", "-m", "tcp", "--dport", SERVICE_PORT];
  const toServer = ["-d", `${address}/32`, "-i", bridge, "-p", "tcp", "-m", "tcp", "--dport", String(port)];
  return [
    { table: "nat", chain, rule: [...toService, ...comment, "-j", "DNAT", "--to-destination", `${address}:${port}`] },
    { table: "nat", chain: "PREROUTING", rule: ["-d", `${clusterIp}/32`, "-i", bridge, ...comment, "-j", chain] },
    { table: "nat", chain: "OUTPUT", rule: ["-d", `${clusterIp}/32`, ...comment, "-j", chain] },
    // Where the machine accepts nothing by default.
    { table: "filter", chain: "INPUT", rule: [...toServer, ...comment, "-j", "ACCEPT"] },
  ].map((one) => listedRule(one as RuleText));
}

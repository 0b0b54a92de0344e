/**
 * Access of Pods to the API server: DNAT of the cluster IP of the Service "kubernetes" to the API server's address. One rule in a chain of
 * the network, for Pods (PREROUTING) and for processes of this machine, including Pods with `hostNetwork` (OUTPUT). Packets of other
 * networks are not translated. The rules carry the bridge's name and are removed with the network (bridge-network.ts). Not here: all other
 * Services, which a service proxy will handle, and then this one, too.
 */
import { iptables } from "../../../host/network/network-links.ts";
import { addRules, commentMatch, listedRule, ownRules, servicesChain, type OwnRule, type RuleText } from "./bridge-network.ts";

export interface ApiServerAccess {
  readonly bridge: string;
  /** Cluster IP of the Service "kubernetes", IPv4. */
  readonly clusterIp: string;
  /** Address of the API server, IPv4. */
  readonly target: { readonly address: string; readonly port: number };
}

/** Port of the Service "kubernetes". */
const SERVICE_PORT = "443";

export async function allowApiServerAccess(access: ApiServerAccess): Promise<void> {
  const chain = servicesChain(access.bridge);
  const present = await ownRules(access.bridge);
  if (!present.some(({ rule }) => rule === `-N ${chain}`)) await iptables("-t", "nat", "-N", chain);
  await addRules(apiServerRules(access), present);
}

/** In order of insertion: the chain is filled before anything jumps to it. */
export function apiServerRules({ bridge, clusterIp, target: { address, port } }: ApiServerAccess): readonly OwnRule[] {
  const chain = servicesChain(bridge);
  const comment = commentMatch(bridge);
  const toService = ["-d", `${clusterIp}/32`, "-p", "tcp", "-m", "tcp", "--dport", SERVICE_PORT];
  const toServer = ["-d", `${address}/32`, "-i", bridge, "-p", "tcp", "-m", "tcp", "--dport", String(port)];
  return [
    { table: "nat", chain, rule: [...toService, ...comment, "-j", "DNAT", "--to-destination", `${address}:${port}`] },
    { table: "nat", chain: "PREROUTING", rule: ["-d", `${clusterIp}/32`, "-i", bridge, ...comment, "-j", chain] },
    { table: "nat", chain: "OUTPUT", rule: ["-d", `${clusterIp}/32`, ...comment, "-j", chain] },
    // For machines whose default policy drops packets.
    { table: "filter", chain: "INPUT", rule: [...toServer, ...comment, "-j", "ACCEPT"] },
  ].map((one) => listedRule(one as RuleText));
}

/**
 * Access of Pods to the API server on the node's address in the Pod network, for machines whose default policy drops packets: one rule. It
 * carries the bridge's name and is removed with the network (bridge-network.ts). Not here: the translation of the cluster IP of the Service
 * "kubernetes", whose endpoint this address is; that is the service proxy's.
 */
import { isIpv6 } from "../../../api/pod-ranges.ts";
import { addRules, commentMatch, hostRange, listedRule, ownRules, type OwnRule } from "./bridge-network.ts";

export interface ApiServerAccess {
  readonly bridge: string;
  /** Address of the API server. */
  readonly target: { readonly address: string; readonly port: number };
}

export async function allowApiServerAccess(access: ApiServerAccess): Promise<void> {
  const rule = apiServerRule(access);
  await addRules([rule], await ownRules(access.bridge, [rule.family]));
}

export function apiServerRule({ bridge, target: { address, port } }: ApiServerAccess): OwnRule {
  const family = isIpv6(address) ? 6 : 4;
  const toServer = ["-d", hostRange(address), "-i", bridge, "-p", "tcp", "-m", "tcp", "--dport", String(port)];
  return listedRule({ family, table: "filter", chain: "INPUT", rule: [...toServer, ...commentMatch(bridge), "-j", "ACCEPT"] });
}

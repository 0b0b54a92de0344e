/**
 * The podCIDR of this node, chosen once and kept in a file, so that it is the same after every start. It changes only if it is in use by
 * another network meanwhile. Those of other clusters on this machine are read from their rules, which exist before their first Pod and as
 * long as their network.
 */
import { readWhole } from "../../../host/files/files.ts";
import { iptables, ipv4Routes, type Route } from "../../../host/network/network-links.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { claimedRanges, gatewayOf } from "./bridge-network.ts";
import { choosePodSubnet } from "./pod-subnet.ts";

export interface PodCidrOptions {
  /** File of the choice. */
  readonly file: string;
  /** Bridge of this cluster, whose own routes and rules do not count. */
  readonly bridge: string;
  /** Whether a route is of this cluster: those to its other nodes are in the range. Default: those of the bridge. */
  isOwnRoute?(route: Route): boolean;
}

export interface PodCidr {
  /** "10.244.0.0/16": cluster CIDR of all nodes. */
  readonly clusterCidr: string;
  /** "10.244.0.0/24": of this node. */
  readonly podCidr: string;
  /** The node's address on the bridge: the first. */
  readonly gateway: string;
}

export async function choosePodCidr({ file, bridge, isOwnRoute = () => false }: PodCidrOptions): Promise<PodCidr> {
  const foreign = (await ipv4Routes()).filter((route) => route.link !== bridge && !isOwnRoute(route));
  const routes = foreign.map(({ destination }) => destination);
  const claimed = claimedRanges(await iptables("-t", "nat", "-S"), { except: bridge });
  const kept = await keptIn(file);
  const chosen = choosePodSubnet({ ...(kept === undefined ? {} : { preferred: kept }), taken: [...routes, ...claimed] });
  if (chosen === undefined)
    throw new Error("Cannot give Pods a network: this machine has routes or rules for all candidate ranges in 10.128.0.0/9");
  if (chosen !== kept) await writePrivateText(file, `${chosen}\n`);
  const first = chosen.split(".").slice(0, 2).join(".");
  const podCidr = `${first}.0.0/24`;
  return { clusterCidr: chosen, podCidr, gateway: gatewayOf(podCidr) };
}

async function keptIn(file: string): Promise<string | undefined> {
  const text = await readWhole(file).then(
    (bytes) => new TextDecoder().decode(bytes).trim(),
    () => "",
  );
  return KEPT.test(text) ? text : undefined;
}

/** Only the exact form written here is accepted; otherwise a new one is chosen. */
const KEPT = /^10\.\d{1,3}\.0\.0\/16$/;

/**
 * The Pod ranges of a cluster's first node, chosen once and kept in a file, so that they are the same after every start. They change only if
 * they are in use by another network meanwhile. Those of other clusters on this machine are read from their rules, which exist before their
 * first Pod and as long as their network. The IPv6 range derives from the IPv4 one, unless both are explicit.
 */
import { cidrsOverlap, formatCidr, networkOf, parseCidr } from "../../../api/machinery/ip/ip-address.ts";
import { byFamily, firstNodeRanges, ipv6RangeBeside, isIpv6, type PodRanges } from "../../../api/pod-ranges.ts";
import { readWhole } from "../../../host/files/files.ts";
import { ipv4Routes, ipv6Routes, listRules, type Route } from "../../../host/network/network-links.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { claimedRanges } from "./bridge-network.ts";
import { requireIpv6 } from "./ip-forwarding.ts";
import { choosePodSubnet } from "./pod-subnet.ts";

export interface PodCidrOptions {
  /** File of the choice. */
  readonly file: string;
  /** Bridge of this cluster, whose own routes and rules do not count. */
  readonly bridge: string;
  /** Explicit ranges: one of IPv4, and one of IPv6 for dual stack, the primary one first. Absent: chosen. */
  readonly clusterCidrs?: readonly string[] | undefined;
  /** Families of Pods' addresses if the ranges are chosen. Default: IPv4 only. */
  readonly ipv6?: "primary" | "secondary" | undefined;
  /** Whether a route is of this cluster: those to its other nodes are in the range. Default: those of the bridge. */
  isOwnRoute?(route: Route): boolean;
}

export async function choosePodCidr(options: PodCidrOptions): Promise<PodRanges> {
  const { file, clusterCidrs = [], ipv6 } = options;
  if (ipv6 !== undefined || clusterCidrs.some(isIpv6)) await requireIpv6();
  const taken = await takenRanges(4, options);
  const explicit = byFamily(clusterCidrs);
  if (explicit.ipv4 !== undefined) {
    const others = explicit.ipv6 === undefined ? [] : await takenRanges(6, options);
    for (const clusterCidr of clusterCidrs) requireFree(clusterCidr, [...taken, ...others]);
    return rangesOf(explicit.ipv4, explicit.ipv6, explicit.isIpv6First);
  }
  const kept = await keptIn(file);
  const chosen = choosePodSubnet({ ...(kept === undefined ? {} : { preferred: kept }), taken });
  if (chosen === undefined)
    throw new Error("Cannot give Pods a network: this machine has routes or rules for all candidate ranges in 10.128.0.0/9");
  if (chosen !== kept) await writePrivateText(file, `${chosen}\n`);
  if (ipv6 === undefined) return firstNodeRanges(chosen);
  const beside = ipv6RangeBeside(chosen);
  requireFree(beside, await takenRanges(6, options));
  return rangesOf(chosen, beside, ipv6 === "primary");
}

function rangesOf(ipv4: string, ipv6: string | undefined, isIpv6First: boolean): PodRanges {
  return { ...firstNodeRanges(ipv4), ...(ipv6 === undefined ? {} : { ipv6: firstNodeRanges(ipv6), isIpv6First }) };
}

/** Destinations of routes, and ranges of other clusters. */
async function takenRanges(family: 4 | 6, { bridge, isOwnRoute = () => false }: PodCidrOptions): Promise<readonly string[]> {
  const routes = await (family === 4 ? ipv4Routes() : ipv6Routes());
  const foreign = routes.filter((route) => route.link !== bridge && !isOwnRoute(route)).map(({ destination }) => destination);
  return [...foreign, ...claimedRanges(await listRules(family, "nat"), { except: bridge })];
}

/** The default route is not a network of its own. */
function requireFree(clusterCidr: string, taken: readonly string[]): void {
  const cidr = parseCidr(clusterCidr);
  if (cidr === undefined) return;
  const other = taken.flatMap((text) => parseCidr(text) ?? []).find((one) => one.prefixLength > 0 && cidrsOverlap(one, cidr));
  if (other !== undefined)
    throw new Error(
      `Cannot give Pods addresses of ${clusterCidr}: this machine has a route or rule for ${formatCidr(networkOf(other))}; ` +
        "set --cluster-cidr to ranges that nothing else uses",
    );
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

/**
 * The network segment that connects the nodes of a cluster on this machine: a bridge with a private range, a network namespace per further
 * node with one link to the bridge, and rules that let the nodes reach this machine and, masqueraded, everything else. All names carry the
 * cluster's kernel owner, by which they are found and removed after any end of the cluster. Every operation is idempotent.
 */
import { readdir } from "node:fs/promises";
import { readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import {
  deleteLink,
  ensureBridge,
  ipv4Routes,
  linkMtu,
  linkNames,
  listRules,
  uplinkOf,
  xtables,
} from "../../host/network/network-links.ts";
import { namedNetworkNamespace, ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { deletionOf, wordsOf } from "../../kubelet/machine/network/rule-arguments.ts";
import { cidrsOverlap, parseCidr } from "../../api/machinery/ip/ip-address.ts";

export interface Segment {
  readonly owner: string;
  /** "198.18.0.0/24" */
  readonly cidr: string;
  /** True if nodes have IPv6 addresses, too. */
  readonly hasIpv6: boolean;
}

export function segmentBridge(owner: string): string {
  return `k8s-${owner}`;
}

/** At most 15 characters with three digits. */
export function nodeLink(owner: string, index: number): string {
  return `k8n${index}-${owner}`;
}

export function nodeNamespace(owner: string, index: number): string {
  return `k8ts-${owner}-${index}`;
}

/** This machine's address on the segment. */
export function segmentGateway({ cidr }: Pick<Segment, "cidr">): string {
  return addressIn(cidr, 1);
}

export function nodeAddress({ cidr }: Pick<Segment, "cidr">, index: number): string {
  return addressIn(cidr, index);
}

/** "fd00:198:18:1::/64" beside "198.18.0.0/24": distinct for distinct ranges, and without a group of zero, which would be written otherwise. */
export function segmentIpv6Range({ cidr }: Pick<Segment, "cidr">): string {
  return `${ipv6Prefix(cidr)}/64`;
}

/** The IPv6 address of the node with this index; 1 is this machine. */
export function nodeIpv6Address({ cidr }: Pick<Segment, "cidr">, index: number): string {
  return `${ipv6Prefix(cidr)}${index.toString(16)}`;
}

function ipv6Prefix(cidr: string): string {
  const [first = "", second = "", third = ""] = cidr.split(".");
  return `fd00:${first}:${second}:${Number(third) + 1}::`;
}

function addressIn(cidr: string, host: number): string {
  return cidr.replace(/\d+\/\d+$/, String(host));
}

/** Ranges of RFC 2544 (tests of network devices): unlike private ones, hardly any network uses them. */
export function segmentCandidates(): readonly string[] {
  return [18, 19].flatMap((second) => Array.from({ length: 256 }, (_, third) => `198.${second}.${third}.0/24`));
}

/** The kept range if it is free, otherwise the first that is. Undefined: none is. Pure. */
export function chooseSegment(taken: readonly string[], kept?: string): string | undefined {
  // The default route is not a network of its own.
  const others = taken.flatMap((text) => parseCidr(text) ?? []).filter(({ prefixLength }) => prefixLength > 0);
  const isFree = (text: string): boolean => {
    const cidr = parseCidr(text);
    return cidr !== undefined && !others.some((other) => cidrsOverlap(other, cidr));
  };
  const candidates = segmentCandidates();
  return [...candidates.filter((one) => one === kept), ...candidates].find(isFree);
}

export interface SegmentOptions {
  readonly owner: string;
  readonly clusterCidr: string;
  /** The IPv6 range of all Pods. Absent: the nodes have IPv4 addresses only. */
  readonly clusterCidrIpv6?: string | undefined;
  /** File of the chosen range. */
  readonly file: string;
}

/** Chosen once and kept in a file, so that nodes keep their addresses. */
export async function openSegment({ owner, clusterCidr, clusterCidrIpv6, file }: SegmentOptions): Promise<Segment> {
  const kept = await readWhole(file).then(
    (bytes) => new TextDecoder().decode(bytes).trim(),
    () => undefined,
  );
  const routes = (await ipv4Routes()).filter(({ link }) => link !== segmentBridge(owner));
  const cidr = chooseSegment([...routes.map(({ destination }) => destination), clusterCidr], kept);
  if (cidr === undefined)
    throw new Error("Cannot connect nodes on this machine: it has routes for all ranges of 198.18.0.0/15, which are used for that");
  if (cidr !== kept) await writePrivateText(file, `${cidr}\n`);
  const segment = { owner, cidr, hasIpv6: clusterCidrIpv6 !== undefined };
  await removeRules(owner, segment.hasIpv6 ? FAMILIES : [4]);
  await addRules(4, segmentRules(owner, cidr, clusterCidr));
  if (clusterCidrIpv6 !== undefined) await addRules(6, segmentRules(owner, segmentIpv6Range(segment), clusterCidrIpv6));
  const ipv6 = segment.hasIpv6 ? [`${nodeIpv6Address(segment, 1)}/64`] : [];
  await ensureBridge(segmentBridge(owner), `${segmentGateway(segment)}/24`, ...ipv6);
  return segment;
}

/**
 * Masquerades what leaves the cluster, and accepts packets of the nodes also on machines that drop them by default. Bridged packets between
 * nodes pass these chains, too, where the kernel filters them.
 */
export function segmentRules(
  owner: string,
  cidr: string,
  clusterCidr: string,
): readonly (readonly [table: string, chain: string, rule: string])[] {
  const bridge = segmentBridge(owner);
  const comment = `-m comment --comment ${commentOf(owner)}`;
  return [
    ["nat", "POSTROUTING", `-s ${cidr} ! -d ${clusterCidr} ! -o ${bridge} ${comment} -j MASQUERADE`],
    ["filter", "FORWARD", `-i ${bridge} ${comment} -j ACCEPT`],
    ["filter", "FORWARD", `-o ${bridge} ${comment} -j ACCEPT`],
    ["filter", "INPUT", `-i ${bridge} ${comment} -j ACCEPT`],
  ];
}

function commentOf(owner: string): string {
  return `k8ts-nodes:${owner}`;
}

/** At the top, before rules that drop packets; existing ones are moved there, since others may have been inserted after them. */
async function addRules(family: 4 | 6, rules: ReturnType<typeof segmentRules>): Promise<void> {
  for (const [table, chain, rule] of rules) await xtables(family, "-t", table, "-I", chain, ...rule.split(" "));
}

const FAMILIES = [4, 6] as const;

/** Resolves with their number. */
async function removeRules(owner: string, families: readonly (4 | 6)[] = FAMILIES): Promise<number> {
  let count = 0;
  for (const family of families) {
    for (const table of ["nat", "filter"]) {
      const own = (await listRules(family, table)).filter((rule) => wordsOf(rule).includes(commentOf(owner)));
      for (const rule of own) await xtables(family, "-t", table, ...deletionOf(rule));
      count += own.length;
    }
  }
  return count;
}

export interface NodeWiring {
  readonly index: number;
  /** Address of this machine as a node, if it is not on the segment: the nodes reach it directly. */
  readonly machineAddress: string;
  /** The same of IPv6. */
  readonly machineIpv6Address?: string | undefined;
}

/** Creates the namespace of a node and connects it. An existing one is completed. */
export async function connectNode(segment: Segment, { index, machineAddress, machineIpv6Address }: NodeWiring): Promise<void> {
  const { owner } = segment;
  const name = nodeNamespace(owner, index);
  const link = nodeLink(owner, index);
  const bridge = segmentBridge(owner);
  if (!(await namespaceNames()).includes(name)) await ownNetworkNamespace.run("ip", ["netns", "add", name]);
  const inside = namedNetworkNamespace(name);
  if (!(await linkNames()).includes(link)) await ip(["link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name]);
  const mtu = await uplinkMtu();
  // Before it joins the bridge, which takes the lowest MTU of its ports.
  if (mtu !== undefined) await ip(["link", "set", link, "mtu", String(mtu)]);
  await ip(["link", "set", link, "master", bridge, "up"]);
  // With br_netfilter, a node port of this machine whose endpoint is on the node that called it is bridged back to the port it came from.
  await ip(["link", "set", link, "type", "bridge_slave", "hairpin", "on"]);
  const gateway = segmentGateway(segment);
  const mac = /link\/ether (\S+)/.exec(await ownNetworkNamespace.run("ip", ["link", "show", "dev", bridge]))?.[1];
  await inside.run(
    "ip",
    ["-batch", "-"],
    [
      "link set lo up",
      ...(mtu === undefined ? [] : [`link set eth0 mtu ${mtu}`]),
      `address replace ${nodeAddress(segment, index)}/24 dev eth0`,
      "link set eth0 up",
      `route replace default via ${gateway}`,
      // On the segment, too: so Pods of this machine are reached by a route and not through a tunnel.
      `route replace ${machineAddress}/32 dev eth0`,
      // Independent of which addresses this machine resolves on which link (arp_ignore).
      ...(mac === undefined ? [] : [`neighbour replace ${machineAddress} lladdr ${mac} dev eth0 nud permanent`]),
      ...(segment.hasIpv6 ? ipv6Wiring(segment, { index, machineIpv6Address, mac }) : []),
      "",
    ].join("\n"),
  );
}

function ipv6Wiring(
  segment: Segment,
  { index, machineIpv6Address: machine, mac }: { readonly mac: string | undefined } & Omit<NodeWiring, "machineAddress">,
): readonly string[] {
  const gateway = nodeIpv6Address(segment, 1);
  return [
    `address replace ${nodeIpv6Address(segment, index)}/64 dev eth0 nodad`,
    `route replace ::/0 via ${gateway} dev eth0`,
    ...(machine === undefined ? [] : [`route replace ${machine}/128 dev eth0`]),
    ...(machine === undefined || mac === undefined ? [] : [`neighbour replace ${machine} lladdr ${mac} dev eth0 nud permanent`]),
  ];
}

/** MTU of this machine's way out, which the nodes and their Pods share: larger packets would depend on ICMP errors, which networks drop. */
async function uplinkMtu(): Promise<number | undefined> {
  const uplink = uplinkOf(await ipv4Routes());
  return uplink === undefined ? undefined : linkMtu(uplink);
}

/** Cuts a node off, or connects it again. */
export async function setNodeLink(owner: string, index: number, state: "up" | "down"): Promise<void> {
  await ip(["link", "set", nodeLink(owner, index), state]);
}

/** With its links, routes and rules. Processes in it lose their network. */
export async function removeNodeNamespace(owner: string, index: number): Promise<void> {
  await deleteLink(nodeLink(owner, index));
  const name = nodeNamespace(owner, index);
  if ((await namespaceNames()).includes(name)) await ownNetworkNamespace.run("ip", ["netns", "delete", name]);
}

/** Of an owner: namespaces, links, rules. Resolves with counts by kind, for output. */
export async function removeSegment(owner: string): Promise<readonly string[]> {
  const kinds: string[] = [];
  for (const link of await linkNames()) {
    if (!NODE_LINK.test(link) || !link.endsWith(`-${owner}`)) continue;
    await deleteLink(link);
    kinds.push("link");
  }
  for (const name of await namespaceNames()) {
    if (!name.startsWith(`k8ts-${owner}-`)) continue;
    await ownNetworkNamespace.run("ip", ["netns", "delete", name]);
    kinds.push("network namespace");
  }
  if ((await linkNames()).includes(segmentBridge(owner))) {
    await deleteLink(segmentBridge(owner));
    kinds.push("link");
  }
  const rules = await removeRules(owner);
  return [...kinds, ...Array.from({ length: rules }, () => "rule")];
}

const NODE_LINK = /^k8n\d+-/;

async function ip(words: readonly string[]): Promise<void> {
  await ownNetworkNamespace.run("ip", words);
}

async function namespaceNames(): Promise<readonly string[]> {
  return readdir("/run/netns").catch(() => []);
}

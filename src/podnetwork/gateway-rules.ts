/**
 * Rules of iptables and ip6tables that let other nodes and their Pods reach this node's address on its bridge, on which DNS and the API server listen. The
 * bridge's own rules drop everything for it that does not come from the bridge (kubelet/machine/network/bridge-network.ts): ours precede
 * them and accept sources in the cluster CIDR, and the nodes themselves, over the links of the Pod network only. And packets of the vxlan
 * port are accepted from nodes only: anyone else could send packets to Pods.
 */
import { CommandError, type NetworkNamespace } from "../host/network/network-namespace.ts";
import type { Peer } from "./peers.ts";
import type { Plan } from "./plan.ts";

export interface GatewayFacts {
  readonly owner: string;
  /** The node's address on its bridge. */
  readonly gateway: string;
  readonly bridge: string;
  readonly clusterCidr: string;
  /** The same of IPv6. */
  readonly ipv6?: { readonly gateway: string; readonly clusterCidr: string } | undefined;
}

type Family = 4 | 6;
const COMMANDS = { 4: "iptables", 6: "ip6tables" } as const;
const FAMILIES = [4, 6] as const;

/** Chains have names of at most 28 characters. */
export function gatewayChain(owner: string): string {
  return `K8TS-PODNET-${owner}`;
}

export function vxlanChain(owner: string): string {
  return `K8TS-VXLAN-${owner}`;
}

/** Of both chains, as `iptables -S` prints them. Packets of vxlan are IPv4. */
export function chainRules({ owner, clusterCidr }: GatewayFacts, peers: readonly Peer[], plan: Plan): readonly string[] {
  const gateway = gatewayChain(owner);
  const vxlan = vxlanChain(owner);
  const tunnelled = new Set(plan.tunnels.map(({ remote }) => remote));
  return [
    ...plan.links.map((link) => `-A ${gateway} -s ${clusterCidr} -i ${link} -j ACCEPT`),
    // A node's own processes: their source is the node's address. Its packets arrive over the segment in either case.
    ...peers.map(({ address }) => `-A ${gateway} -s ${address}/32 -j ACCEPT`),
    ...peers.filter(({ address }) => tunnelled.has(address)).map(({ address }) => `-A ${vxlan} -s ${address}/32 -j ACCEPT`),
    ...(plan.vxlan === undefined ? [] : [`-A ${vxlan} -j DROP`]),
  ];
}

/** The same for IPv6: without vxlan. */
function ipv6ChainRules(owner: string, clusterCidr: string, peers: readonly Peer[], { links }: Plan): readonly string[] {
  const gateway = gatewayChain(owner);
  return [
    ...links.map((link) => `-A ${gateway} -s ${clusterCidr} -i ${link} -j ACCEPT`),
    ...peers.flatMap(({ ipv6 }) => (ipv6?.address === undefined ? [] : [`-A ${gateway} -s ${ipv6.address}/128 -j ACCEPT`])),
  ];
}

/** Of INPUT: to our chains. */
export function jumpRules({ owner, gateway, bridge }: GatewayFacts, plan: Plan): readonly string[] {
  const comment = `-m comment --comment k8ts-podnet:${owner}`;
  return [
    ...(plan.links.length === 0 ? [] : [`-d ${gateway}/32 ! -i ${bridge} ${comment} -j ${gatewayChain(owner)}`]),
    ...(plan.vxlan === undefined ? [] : [`-p udp -m udp --dport ${plan.vxlan.port} ${comment} -j ${vxlanChain(owner)}`]),
  ];
}

function ipv6JumpRules({ owner, bridge }: GatewayFacts, gateway: string, { links }: Plan): readonly string[] {
  const comment = `-m comment --comment k8ts-podnet:${owner}`;
  return links.length === 0 ? [] : [`-d ${gateway}/128 ! -i ${bridge} ${comment} -j ${gatewayChain(owner)}`];
}

/** Makes the rules of the kernel those of the plan. Writes only differences. */
export async function applyGatewayRules(
  namespace: NetworkNamespace,
  facts: GatewayFacts,
  peers: readonly Peer[],
  plan: Plan,
): Promise<void> {
  const { owner, bridge, ipv6 } = facts;
  const chains = [gatewayChain(owner), vxlanChain(owner)];
  const rules = { chains, wanted: chainRules(facts, peers, plan), jumps: jumpRules(facts, plan) };
  await applyFamily(4, namespace, { owner, bridge, ...rules });
  if (ipv6 === undefined) return;
  const wanted = ipv6ChainRules(owner, ipv6.clusterCidr, peers, plan);
  await applyFamily(6, namespace, {
    owner,
    bridge,
    chains: [gatewayChain(owner)],
    wanted,
    jumps: ipv6JumpRules(facts, ipv6.gateway, plan),
  });
}

interface FamilyRules {
  readonly owner: string;
  readonly bridge: string;
  readonly chains: readonly string[];
  /** Of these chains. */
  readonly wanted: readonly string[];
  /** Of INPUT. */
  readonly jumps: readonly string[];
}

async function applyFamily(
  family: Family,
  { run }: NetworkNamespace,
  { owner, bridge, chains, wanted, jumps }: FamilyRules,
): Promise<void> {
  const command = COMMANDS[family];
  const listed = lines(await run(command, ["--wait", "-S"]));
  const present = listed.filter((rule) => isOf(rule, owner));
  const hasChains = chains.every((chain) => listed.includes(`-N ${chain}`));
  if (!hasChains || present.join("\n") !== wanted.join("\n")) {
    const text = ["*filter", ...chains.map((chain) => `:${chain} - [0:0]`), ...wanted, "COMMIT", ""].join("\n");
    // Declaring a chain empties it, in the same transaction.
    await run(`${command}-restore`, ["--wait", "--noflush"], text);
  }
  const input = listed.filter((rule) => rule.startsWith("-A INPUT ")).map((rule) => rule.slice("-A INPUT ".length));
  const dropAt = input.findIndex((rule) => rule.includes(`k8ts:${bridge}`) && rule.endsWith("-j DROP"));
  const isBefore = (rule: string): boolean => input.includes(rule) && (dropAt < 0 || input.indexOf(rule) < dropAt);
  const ours = input.filter((rule) => rule.includes(`k8ts-podnet:${owner}`));
  if (jumps.every(isBefore) && ours.length === jumps.length) return;
  const removed = ours.map((rule) => `-D INPUT ${rule}`);
  const added = jumps.map((rule) => `-I INPUT 1 ${rule}`);
  await run(`${command}-restore`, ["--wait", "--noflush"], ["*filter", ...removed, ...added, "COMMIT", ""].join("\n"));
}

/** Removes all rules and chains of an owner. */
export async function removeGatewayRules(namespace: NetworkNamespace, owner: string): Promise<void> {
  for (const family of FAMILIES) await removeFamily(family, namespace, owner);
}

async function removeFamily(family: Family, { run }: NetworkNamespace, owner: string): Promise<void> {
  const listed = await listRules(family, run);
  const jumps = listed.filter((rule) => rule.startsWith("-A INPUT ") && rule.includes(`k8ts-podnet:${owner}`));
  const chains = [gatewayChain(owner), vxlanChain(owner)].filter((chain) => listed.includes(`-N ${chain}`));
  if (jumps.length + chains.length === 0) return;
  const text = [
    "*filter",
    ...jumps.map((rule) => rule.replace("-A ", "-D ")),
    ...chains.map((chain) => `-F ${chain}`),
    ...chains.map((chain) => `-X ${chain}`),
  ];
  await run(`${COMMANDS[family]}-restore`, ["--wait", "--noflush"], [...text, "COMMIT", ""].join("\n"));
}

/** Without the program there are no rules of ours; a machine without IPv6 refuses to list them. */
async function listRules(family: Family, run: NetworkNamespace["run"]): Promise<readonly string[]> {
  try {
    return lines(await run(COMMANDS[family], ["--wait", "-S"]));
  } catch (error) {
    if (error instanceof CommandError && (error.isMissing || family === 6)) return [];
    throw error;
  }
}

function isOf(rule: string, owner: string): boolean {
  return rule.startsWith(`-A ${gatewayChain(owner)} `) || rule.startsWith(`-A ${vxlanChain(owner)} `);
}

/** Without the quotes of comments: ours have no blanks. */
function lines(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim().replaceAll('"', ""));
}

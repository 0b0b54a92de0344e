/**
 * iptables rules that let other nodes and their Pods reach this node's address on its bridge, on which DNS and the API server listen. The
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
}

/** Chains have names of at most 28 characters. */
export function gatewayChain(owner: string): string {
  return `K8TS-PODNET-${owner}`;
}

export function vxlanChain(owner: string): string {
  return `K8TS-VXLAN-${owner}`;
}

/** Of both chains, as `iptables -S` prints them. */
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

/** Of INPUT: to our chains. */
export function jumpRules({ owner, gateway, bridge }: GatewayFacts, plan: Plan): readonly string[] {
  const comment = `-m comment --comment k8ts-podnet:${owner}`;
  return [
    ...(plan.links.length === 0 ? [] : [`-d ${gateway}/32 ! -i ${bridge} ${comment} -j ${gatewayChain(owner)}`]),
    ...(plan.vxlan === undefined ? [] : [`-p udp -m udp --dport ${plan.vxlan.port} ${comment} -j ${vxlanChain(owner)}`]),
  ];
}

/** Makes the rules of the kernel those of the plan. Writes only differences. */
export async function applyGatewayRules({ run }: NetworkNamespace, facts: GatewayFacts, peers: readonly Peer[], plan: Plan): Promise<void> {
  const { owner, bridge } = facts;
  const listed = lines(await run("iptables", ["--wait", "-S"]));
  const wanted = chainRules(facts, peers, plan);
  const present = listed.filter((rule) => isOf(rule, owner));
  const chains = [gatewayChain(owner), vxlanChain(owner)];
  const hasChains = chains.every((chain) => listed.includes(`-N ${chain}`));
  if (!hasChains || present.join("\n") !== wanted.join("\n")) {
    const text = ["*filter", ...chains.map((chain) => `:${chain} - [0:0]`), ...wanted, "COMMIT", ""].join("\n");
    // Declaring a chain empties it, in the same transaction.
    await run("iptables-restore", ["--wait", "--noflush"], text);
  }
  const input = listed.filter((rule) => rule.startsWith("-A INPUT ")).map((rule) => rule.slice("-A INPUT ".length));
  const jumps = jumpRules(facts, plan);
  const dropAt = input.findIndex((rule) => rule.includes(`k8ts:${bridge}`) && rule.endsWith("-j DROP"));
  const isBefore = (rule: string): boolean => input.includes(rule) && (dropAt < 0 || input.indexOf(rule) < dropAt);
  const ours = input.filter((rule) => rule.includes(`k8ts-podnet:${owner}`));
  if (jumps.every(isBefore) && ours.length === jumps.length) return;
  const removed = ours.map((rule) => `-D INPUT ${rule}`);
  const added = jumps.map((rule) => `-I INPUT 1 ${rule}`);
  await run("iptables-restore", ["--wait", "--noflush"], ["*filter", ...removed, ...added, "COMMIT", ""].join("\n"));
}

/** Removes all rules and chains of an owner. */
export async function removeGatewayRules({ run }: NetworkNamespace, owner: string): Promise<void> {
  const listed = await listRules(run);
  const jumps = listed.filter((rule) => rule.startsWith("-A INPUT ") && rule.includes(`k8ts-podnet:${owner}`));
  const chains = [gatewayChain(owner), vxlanChain(owner)].filter((chain) => listed.includes(`-N ${chain}`));
  if (jumps.length + chains.length === 0) return;
  const text = [
    "*filter",
    ...jumps.map((rule) => rule.replace("-A ", "-D ")),
    ...chains.map((chain) => `-F ${chain}`),
    ...chains.map((chain) => `-X ${chain}`),
  ];
  await run("iptables-restore", ["--wait", "--noflush"], [...text, "COMMIT", ""].join("\n"));
}

/** Without the program there are no rules of ours. */
async function listRules(run: NetworkNamespace["run"]): Promise<readonly string[]> {
  try {
    return lines(await run("iptables", ["--wait", "-S"]));
  } catch (error) {
    if (error instanceof CommandError && error.isMissing) return [];
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

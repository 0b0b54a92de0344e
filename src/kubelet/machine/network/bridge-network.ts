/**
 * The Pod network of a cluster on this machine: its bridge, CNI configuration, IP forwarding, and iptables rules. All carry the bridge's
 * name, by which they are found and removed after any end of the cluster. Every operation is idempotent. The bridge is created here and not
 * by the first Pod, because the API server listens on its address (api-server-access.ts).
 */
import { fileExists, joinPath, makePrivateDirectory, removeFile } from "../../../host/files/files.ts";
import { sha256 } from "../../../host/crypto/hash.ts";
import { bridgePorts, deleteLink, ensureBridge, linkExists, listRules, xtables } from "../../../host/network/network-links.ts";
import { writePrivateText } from "../../../host/files/private-files.ts";
import { removeTree } from "../../../host/files/shared-directory.ts";
import { gatewayOf, isIpv6, type FamilyRanges } from "../../../api/pod-ranges.ts";
import { hexOf } from "../images/oci-image.ts";
import { allowForwarding } from "./ip-forwarding.ts";
import { cniConfiguration, cniFileName, type PodNetwork } from "./cni-configuration.ts";
import { deletionOf, wordsOf } from "./rule-arguments.ts";

/** Links have names of at most 15 characters. */
const BRIDGE_PREFIX = "k8-";
const BRIDGE_NAME_CHARACTERS = 5;
const BRIDGE_HASH_CHARACTERS = 6;

/** Stable per cluster and unique: a prefix of its name and a hash of its data directory. */
export function bridgeName(cluster: { readonly name: string; readonly directory: string }): string {
  const hash = sha256();
  hash.update(new TextEncoder().encode(`${cluster.name}\0${cluster.directory}`));
  const readable = cluster.name.replace(/[^a-z0-9]/g, "").slice(0, BRIDGE_NAME_CHARACTERS);
  return `${BRIDGE_PREFIX}${readable}-${hexOf(hash.digest()).slice(0, BRIDGE_HASH_CHARACTERS)}`;
}

/** Whether bridgeName generates names of this form. */
export function isBridgeName(name: string): boolean {
  return BRIDGE_NAME.test(name);
}

const BRIDGE_NAME = new RegExp(`^${BRIDGE_PREFIX}[a-z0-9]{0,${BRIDGE_NAME_CHARACTERS}}-[0-9a-f]{${BRIDGE_HASH_CHARACTERS}}$`);

/** Creates everything that the first Pod needs. Resolves with the path of the CNI configuration. */
export async function prepareNetwork(network: PodNetwork & { readonly configDirectory: string }): Promise<{ readonly configFile: string }> {
  const { podCidr, ipv6 } = network;
  const families = ipv6 === undefined ? ([4] as const) : ([4, 6] as const);
  for (const family of families) await allowForwarding(family);
  const wanted = rulesOf(network);
  const present = await ownRules(network.bridge, families);
  for (const rule of present) if (!wanted.some((one) => isSameRule(one, rule))) await deleteRule(rule);
  await addRules(wanted, present);
  const addresses = [podCidr, ...(ipv6 === undefined ? [] : [ipv6.podCidr])].map((cidr) => `${gatewayOf(cidr)}/${cidr.split("/")[1]}`);
  // After the rules: its addresses are closed to other networks from the start.
  await ensureBridge(network.bridge, ...addresses);
  await makePrivateDirectory(network.addressDirectory);
  const configFile = joinPath(network.configDirectory, cniFileName(network.bridge));
  await writePrivateText(configFile, cniConfiguration(network));
  return { configFile };
}

/** Rules that are missing. */
export async function addRules(wanted: readonly OwnRule[], present: readonly PresentRule[]): Promise<void> {
  for (const one of wanted)
    if (!present.some((rule) => isSameRule(one, rule))) await xtables(one.family, "-t", one.table, "-I", one.chain, ...one.rule);
}

function isSameRule(wanted: OwnRule, { family, table, rule }: PresentRule): boolean {
  return wanted.family === family && wanted.table === table && wanted.listed === wordsOf(rule).join(" ");
}

/** IPv4 or IPv6: `iptables` or `ip6tables`. */
export type Family = 4 | 6;

export interface OwnRule extends RuleText {
  /** As `iptables -S` prints it, without quotes. */
  readonly listed: string;
}

export interface RuleText {
  readonly family: Family;
  readonly table: "nat" | "filter";
  readonly chain: string;
  readonly rule: readonly string[];
}

/**
 * Masquerades traffic of Pods that leaves the cluster; and accepts forwarding from and to the bridge, for machines that drop it by default (as with
 * Docker). The bridge's address is for Pods and this machine only: the kernel accepts packets for it on every link, so those from other
 * networks are dropped.
 */
export function rulesOf({ bridge, podCidr, clusterCidr = podCidr, ipv6 }: Omit<PodNetwork, "addressDirectory">): readonly OwnRule[] {
  const ranges = [{ podCidr, clusterCidr }, ...(ipv6 === undefined ? [] : [ipv6])];
  return ranges.flatMap((range) => familyRules(bridge, range));
}

function familyRules(bridge: string, { podCidr, clusterCidr }: FamilyRanges): readonly OwnRule[] {
  const family = isIpv6(podCidr) ? 6 : 4;
  const comment = commentMatch(bridge);
  const gateway = hostRange(gatewayOf(podCidr));
  const fromElsewhere = ["-d", gateway, "!", "-i", bridge, "-m", "addrtype", "!", "--src-type", "LOCAL"];
  const rules = [
    {
      table: "nat",
      chain: "POSTROUTING",
      rule: ["-s", podCidr, "!", "-d", clusterCidr, "!", "-o", bridge, ...comment, "-j", "MASQUERADE"],
    },
    { table: "filter", chain: "FORWARD", rule: ["-i", bridge, ...comment, "-j", "ACCEPT"] },
    { table: "filter", chain: "FORWARD", rule: ["-o", bridge, ...comment, "-j", "ACCEPT"] },
    { table: "filter", chain: "INPUT", rule: [...fromElsewhere, ...comment, "-j", "DROP"] },
  ] as const;
  return rules.map((one) => listedRule({ ...one, family }));
}

/** "10.244.0.1/32" */
export function hostRange(address: string): string {
  return `${address}/${isIpv6(address) ? 128 : 32}`;
}

export function listedRule(text: RuleText): OwnRule {
  return { ...text, listed: ["-A", text.chain, ...text.rule].join(" ") };
}

/** Comment that identifies a rule as this network's. */
export function commentMatch(bridge: string): readonly string[] {
  return ["-m", "comment", "--comment", commentOf(bridge)];
}

function commentOf(bridge: string): string {
  return `${COMMENT_PREFIX}${bridge}`;
}

/** Chain in the table "nat" of versions without a service proxy, removed with the network. Chains have names of at most 28 characters. */
export function servicesChain(bridge: string): string {
  return `K8TS-SVC-${bridge}`;
}

const COMMENT_PREFIX = "k8ts:";

/** podCIDRs of all k8ts networks on this machine, read from the rules of the table "nat". */
export function claimedRanges(listed: readonly string[], { except }: { readonly except: string }): readonly string[] {
  return listed.flatMap((rule) => {
    const words = wordsOf(rule);
    const isAnother = words.some((word) => word.startsWith(COMMENT_PREFIX) && word !== commentOf(except));
    const range = words[words.indexOf("-s") + 1];
    return isAnother && words.includes("-s") && range !== undefined ? [range] : [];
  });
}

export interface PresentRule {
  readonly family: Family;
  readonly table: "nat" | "filter";
  /** As listed: "-A POSTROUTING …", or "-N CNI-…" for a chain. */
  readonly rule: string;
}

const TABLES = ["nat", "filter"] as const;
const FAMILIES = [4, 6] as const;

/** Rules of ours that carry the network's name. The chain is last, since a chain in use cannot be removed. */
export async function ownRules(bridge: string, families: readonly Family[] = FAMILIES): Promise<readonly PresentRule[]> {
  const places = families.flatMap((family) => TABLES.map((table) => ({ family, table })));
  const listed = await Promise.all(
    places.map(async ({ family, table }) => (await listRules(family, table)).map((rule) => ({ family, table, rule }))),
  );
  const all = listed.flat();
  const chain = `-N ${servicesChain(bridge)}`;
  return [...all.filter(({ rule }) => wordsOf(rule).includes(commentOf(bridge))), ...all.filter(({ rule }) => rule === chain)];
}

/** Rules of the plugins: those that name the network, and the chains that they jump to with their rules. */
export function pluginRules(listed: readonly string[], network: string): readonly string[] {
  const naming = listed.filter((rule) => rule.startsWith("-A ") && rule.includes(`name: \\"${network}\\" `));
  const chains = new Set(naming.flatMap((rule) => CNI_CHAIN.exec(rule)?.[1] ?? []));
  const inside = listed.filter((rule) => chains.has(rule.split(" ")[1] ?? "") && rule.startsWith("-A ") && !naming.includes(rule));
  return [...naming, ...inside, ...[...chains].filter((chain) => listed.includes(`-N ${chain}`)).map((chain) => `-N ${chain}`)];
}

/** Chains of one Pod. "CNI-HOSTPORT-…" are shared. */
const CNI_CHAIN = / -j (CNI-(?:DN-)?[0-9a-f]{16,})/;

/**
 * Rules of the chains that the portmap plugin shares between all networks of the machine, if no Pod uses them: its jumps to them, their
 * rules, the chains. The plugin creates them again on demand. Empty while any network has a hostPort.
 */
export function unusedHostPortRules(listed: readonly string[]): readonly string[] {
  const chains = listed.filter((rule) => rule.startsWith(`-N ${HOST_PORT_PREFIX}`));
  const isShared = (rule: string): boolean => chains.some((chain) => rule.startsWith(`-A ${chain.slice("-N ".length)} `));
  if (listed.some((rule) => isShared(rule) && CNI_CHAIN.test(rule))) return [];
  const jumps = listed.filter((rule) => rule.startsWith("-A ") && !isShared(rule) && HOST_PORT_JUMP.test(rule));
  return [...jumps, ...listed.filter(isShared), ...chains];
}

const HOST_PORT_PREFIX = "CNI-HOSTPORT-";
const HOST_PORT_JUMP = new RegExp(` -j ${HOST_PORT_PREFIX}[A-Z]+$`);

/** A Pod of another network may begin to use them meanwhile: what cannot be removed stays. */
async function removeUnusedHostPortRules(): Promise<void> {
  for (const family of FAMILIES)
    for (const rule of unusedHostPortRules(await listRules(family, "nat")))
      await xtables(family, "-t", "nat", ...deletionOf(rule)).catch(() => undefined);
}

/** A missing rule is ignored. */
async function deleteRule({ family, table, rule }: PresentRule): Promise<void> {
  await xtables(family, "-t", table, ...deletionOf(rule)).catch(async (error: unknown) => {
    if ((await listRules(family, table)).includes(rule)) throw error;
  });
}

export interface NetworkLeftovers {
  readonly links: readonly string[];
  readonly rules: readonly PresentRule[];
}

/** Existing parts of a cluster's network. */
export async function networkLeftovers(bridge: string): Promise<NetworkLeftovers> {
  const links = (await linkExists(bridge)) ? [bridge, ...(await bridgePorts(bridge))] : [];
  const plugins: PresentRule[] = [];
  for (const family of FAMILIES)
    plugins.push(...pluginRules(await listRules(family, "nat"), bridge).map((rule) => ({ family, table: "nat" as const, rule })));
  return { links, rules: [...(await ownRules(bridge)), ...plugins] };
}

/** Removes all of it. Running Pods lose their network. */
export async function removeNetwork(
  network: Pick<PodNetwork, "bridge" | "addressDirectory"> & { readonly configDirectory: string },
): Promise<void> {
  const { links, rules } = await networkLeftovers(network.bridge);
  for (const rule of rules) await deleteRule(rule);
  await removeUnusedHostPortRules();
  // The bridge is first in the list and deleted last: nothing can attach to a missing bridge.
  for (const link of links.toReversed()) await deleteLink(link);
  await removeTree(network.addressDirectory);
  await removeConfiguration(network);
}

/** Removes only the CNI configuration. Resolves with whether it existed. */
export async function removeConfiguration({ bridge, configDirectory }: { readonly bridge: string; readonly configDirectory: string }) {
  const configFile = joinPath(configDirectory, cniFileName(bridge));
  const isThere = await fileExists(configFile);
  if (isThere) await removeFile(configFile);
  return isThere;
}

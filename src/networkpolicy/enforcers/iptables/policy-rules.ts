/**
 * The iptables chains of a model for one IP family, for machines without nft. Pure. As with nftables, the connection decides and not the
 * packet: --ctorigsrc is the client before masquerading, --ctreplsrc and --ctreplsrcport are the server after the translation of a
 * Service's address, so that both directions of a connection get the same verdict. The rules are in the table mangle, whose FORWARD chain
 * runs before that of the table filter: an ACCEPT of another program there cannot bypass them. Chains of single Pods return on a match
 * and end with DROP; the parent chain first visits the client's egress, then the server's ingress.
 */
import { addToIp, cidrSize, cidrsOverlap, formatCidr, parseCidr, type Cidr } from "../../../api/machinery/ip/ip-address.ts";
import { shortHash } from "../../../host/network/short-hash.ts";
import type { Allowance, Direction, PolicyModel, PortRange } from "../../model.ts";
import { PORT_MAX } from "../../model.ts";
import type { EnforcerContext } from "../enforcer.ts";

export type Family = 4 | 6;

export interface IptablesRules {
  /** Rules by chain, without "-A CHAIN". */
  readonly chains: ReadonlyMap<string, readonly string[]>;
}

/** Chains have names of at most 28 characters. */
const HASH_DIGITS = 10;

/** Prefix of every chain of this owner: "K8TS-a1b2c3-NP". */
export function chainPrefix(owner: string): string {
  return `K8TS-${owner}-NP`;
}

/** What FORWARD jumps to. */
export function parentChain(owner: string): string {
  return chainPrefix(owner);
}

/** Connections as the client and the server see them. */
const CLIENT = "--ctorigsrc";
const SERVER = "--ctreplsrc";
const SELECTED = { egress: CLIENT, ingress: SERVER } as const;
const PEER = { egress: SERVER, ingress: CLIENT } as const;
const DIRECTIONS = ["egress", "ingress"] as const;

export function policyRules(
  model: PolicyModel,
  { owner, podCidrs, bridge }: Omit<EnforcerContext, "namespace">,
  family: Family,
): IptablesRules {
  const isOwn = (address: string): boolean => familyOf(address) === family;
  const podCidr = podCidrs.find(isOwn);
  const isolated = [...model.isolated].filter(([address]) => isOwn(address));
  const chains = new Map<string, readonly string[]>();
  const parent = [
    `-p ${family === 4 ? "icmp" : "ipv6-icmp"} -m conntrack --ctstate RELATED -j RETURN`,
    ...(family === 6 ? [133, 134, 135, 136].map((type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j RETURN`) : []),
    ...(family === 6 && model.hasPolicies && bridge !== undefined ? [`-s fe80::/10 -i ${bridge} -o ${bridge} -j DROP`] : []),
    ...[...guardChains(model, podCidr, { owner, family }).keys()].map(
      (chain, index) => `-m conntrack ${index === 0 ? CLIENT : SERVER} ${podCidr} -j ${chain}`,
    ),
    ...isolated.flatMap(([address]) =>
      ["-s", "-d"].map((side) => `${side} ${host(address)} -m conntrack --ctstate INVALID,UNTRACKED -j DROP`),
    ),
    ...isolated.map(([address]) => `-m conntrack ${CLIENT} ${address} ${SERVER} ${address} -j RETURN`),
  ];
  for (const direction of DIRECTIONS) {
    for (const [address, { [direction]: policies }] of isolated) {
      if (policies === undefined) continue;
      const chain = `${chainPrefix(owner)}-${direction === "egress" ? "E" : "I"}${shortHash(policies.join("\n"), { digits: HASH_DIGITS })}`;
      parent.push(`-m conntrack ${SELECTED[direction]} ${address} -j ${chain}`);
      if (!chains.has(chain)) chains.set(chain, [...allowed(model, policies, { direction, isOwn, family }), "-j DROP"]);
    }
  }
  for (const [chain, rules] of guardChains(model, podCidr, { owner, family })) chains.set(chain, rules);
  return { chains: new Map([...chains, [parentChain(owner), parent]]) };
}

/** Drop connections of addresses in this node's range without a known Pod: one chain for the client, one for the server. */
function guardChains(
  { hasPolicies, localAddresses }: PolicyModel,
  podCidr: string | undefined,
  { owner, family }: { readonly owner: string; readonly family: Family },
): ReadonlyMap<string, readonly string[]> {
  if (!hasPolicies || podCidr === undefined) return new Map();
  const known = localAddresses.filter((address) => familyOf(address) === family);
  const rules = (end: string): readonly string[] => [...known.map((address) => `-m conntrack ${end} ${address} -j RETURN`), "-j DROP"];
  return new Map([
    [`${chainPrefix(owner)}-GC`, rules(CLIENT)],
    [`${chainPrefix(owner)}-GS`, rules(SERVER)],
  ]);
}

interface AllowedContext {
  readonly direction: Direction;
  readonly family: Family;
  isOwn(address: string): boolean;
}

function allowed(model: PolicyModel, policies: readonly string[], context: AllowedContext): readonly string[] {
  const all = policies.flatMap((key) => model.policies.get(key)?.[context.direction] ?? []);
  return [...new Set(all.flatMap((allowance) => returnRules(allowance, model, context)))];
}

/** The product of peers, selected Pods and ports. Exceptions of a block need rules of their own: a rule can only negate one range. */
function returnRules(
  { peers, block, targets, ports }: Allowance,
  model: PolicyModel,
  { direction, family, isOwn }: AllowedContext,
): readonly string[] {
  if (block !== undefined && block.family !== family) return [];
  const addressesOf = (key: string, option: string): readonly string[] =>
    (model.addressSets.get(key) ?? []).filter(isOwn).map((address) => `${option} ${address}`);
  const peerMatches =
    block !== undefined
      ? withoutRanges(block.cidr, block.except).map((cidr) => `${PEER[direction]} ${cidr}`)
      : peers === undefined
        ? [""]
        : addressesOf(peers, PEER[direction]);
  const targetMatches = targets === undefined ? [""] : addressesOf(targets, SELECTED[direction]);
  const portMatches = ports === undefined ? [{ protocol: "", port: "" }] : ports.map(portMatch);
  return peerMatches.flatMap((peer) =>
    targetMatches.flatMap((target) =>
      portMatches.map(({ protocol, port }) => {
        const connection = [peer, target, port].filter((part) => part !== "").join(" ");
        return [protocol, connection === "" ? "" : `-m conntrack ${connection}`, "-j RETURN"].filter((part) => part !== "").join(" ");
      }),
    ),
  );
}

function portMatch({ protocol, first, last }: PortRange): { readonly protocol: string; readonly port: string } {
  const isAll = first === 0 && last === PORT_MAX;
  return { protocol: `-p ${protocol.toLowerCase()}`, port: isAll ? "" : `--ctreplsrcport ${first === last ? first : `${first}:${last}`}` };
}

/** The prefixes of `cidr` outside of `except`: the halves of ever smaller ranges around each exception. */
export function withoutRanges(cidr: string, except: readonly string[]): readonly string[] {
  const block = parseCidr(cidr);
  const ranges = except.flatMap((text) => parseCidr(text) ?? []);
  return block === undefined ? [] : remaining(block, ranges).map(formatCidr);
}

function remaining(block: Cidr, except: readonly Cidr[]): readonly Cidr[] {
  const inside = except.filter((range) => cidrsOverlap(block, range));
  if (inside.length === 0) return [block];
  if (inside.some(({ prefixLength }) => prefixLength <= block.prefixLength)) return [];
  const prefixLength = block.prefixLength + 1;
  const upper = addToIp(block.address, cidrSize({ address: block.address, prefixLength }));
  return [block.address, ...(upper === undefined ? [] : [upper])].flatMap((address) => remaining({ address, prefixLength }, inside));
}

function host(address: string): string {
  return `${address}/${familyOf(address) === 4 ? 32 : 128}`;
}

function familyOf(address: string): Family {
  return address.includes(":") ? 6 : 4;
}

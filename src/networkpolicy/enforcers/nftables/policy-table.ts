/**
 * The nftables table of a model. Pure. Its rules see every forwarded packet of this node, also between two Pods on one bridge
 * (bridged/), and decide by the connection, not by the packet: `ct original saddr` is the client before any masquerading, and
 * `ct reply saddr` and `proto-src` are the server after the translation of a Service's address. So both directions of a connection get the
 * same verdict, replies of allowed connections pass, and an existing connection ends with the policy that allowed it.
 *
 * There are two base chains because "accept" ends only the base chain it is in: a packet passes if the client's egress and the server's
 * ingress accept it. Packets from and to the node itself are not forwarded, so that probes of the kubelet always pass.
 */
import type { BaseChain, NftSet, NftTable } from "../../../host/network/nftables/nft-table.ts";
import { shortHash } from "../../../host/network/short-hash.ts";
import type { Allowance, Direction, IpBlock, PolicyModel, PortRange, Protocol } from "../../model.ts";
import { PORT_MAX } from "../../model.ts";
import type { EnforcerContext } from "../enforcer.ts";

/** Changes with the declarations of the base chains. */
const LAYOUT = "layout-1";

export function tableName(owner: string): string {
  return `k8ts-${owner}-policy`;
}

const FAMILIES = [4, 6] as const;
type Family = (typeof FAMILIES)[number];

/** Rules of the connection's client (egress) run before those of its server (ingress). */
const BASE_CHAINS: ReadonlyMap<string, BaseChain> = new Map([
  ["egress", { declaration: "type filter hook forward priority filter; policy accept;" }],
  ["ingress", { declaration: "type filter hook forward priority filter + 1; policy accept;" }],
]);

export function policyTable(model: PolicyModel, context: Omit<EnforcerContext, "namespace">): NftTable {
  const { owner } = context;
  return {
    family: "inet",
    name: tableName(owner),
    layout: LAYOUT,
    baseChains: BASE_CHAINS,
    chains: new Map([...fixedChains(), ["guard", guardRules(model, context)], ...groupChains(model), ...policyChains(model)]),
    sets: new Map([...localSets(model), ...peerSets(model)]),
  };
}

/** The address that a policy of this direction selects, and the peer, as expressions of a connection. */
const CLIENT = { 4: "ct original ip saddr", 6: "ct original ip6 saddr" } as const;
const SERVER = { 4: "ct reply ip saddr", 6: "ct reply ip6 saddr" } as const;
const SELECTED = { egress: CLIENT, ingress: SERVER } as const;
const PEER = { egress: SERVER, ingress: CLIENT } as const;

function fixedChains(): readonly (readonly [string, readonly string[]])[] {
  // Errors about a connection, such as a too large packet, belong to it; bridged neighbour discovery belongs to the link.
  const always = [
    "meta l4proto { icmp, ipv6-icmp } ct state related accept",
    "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept",
    ...FAMILIES.map((family) => `${CLIENT[family]} . ${SERVER[family]} @self${family} accept`),
  ];
  const verdicts = (direction: Direction): readonly string[] =>
    FAMILIES.map((family) => `${SELECTED[direction][family]} vmap @${direction}${family}`);
  return [
    ["egress", [...always, "jump guard", "ct state invalid,untracked jump without-connection", ...verdicts("egress")]],
    ["ingress", [...always, ...verdicts("ingress"), `jump ${LAYOUT}`]],
    [LAYOUT, []],
    [
      "without-connection",
      [...["ip saddr @isolated4 drop", "ip daddr @isolated4 drop"], ...["ip6 saddr @isolated6 drop", "ip6 daddr @isolated6 drop"]],
    ],
    // A TCP connection that lost its permission ends at once. Packets of new ones are dropped, as most network plugins do.
    ["deny", ["meta l4proto tcp ct state established reject with tcp reset", "drop"]],
  ];
}

/**
 * Addresses of this node's range without a known Pod: a new Pod's, before its policies are known here, or those of a deleted one. And
 * link-local addresses of Pods, which the cluster does not know.
 */
function guardRules({ hasPolicies }: PolicyModel, { podCidrs, bridge }: Pick<EnforcerContext, "podCidrs" | "bridge">): readonly string[] {
  if (!hasPolicies) return [];
  return [
    ...podCidrs.flatMap((podCidr) => {
      const family = familyOf(podCidr);
      return [CLIENT, SERVER].map((address) => `${address[family]} ${podCidr} ${address[family]} != @known${family} drop`);
    }),
    ...(bridge === undefined ? [] : [`iifname "${bridge}" oifname "${bridge}" ip6 saddr fe80::/10 drop`]),
  ];
}

function localSets({ localAddresses, isolated }: PolicyModel): readonly (readonly [string, NftSet])[] {
  return FAMILIES.flatMap((family) => {
    const isOwn = (address: string): boolean => familyOf(address) === family;
    const isolatedAddresses = [...isolated.keys()].filter(isOwn);
    const type = typeOf(family);
    return [
      [`known${family}`, addressSet(family, localAddresses.filter(isOwn))],
      [`isolated${family}`, addressSet(family, isolatedAddresses)],
      [
        `self${family}`,
        setOf(
          `type ${type} . ${type};`,
          isolatedAddresses.map((address) => `${address} . ${address}`),
        ),
      ],
      ...(["egress", "ingress"] as const).map((direction): readonly [string, NftSet] => [
        `${direction}${family}`,
        { kind: "map", declaration: `type ${type} : verdict;`, elements: verdictsOf({ isolated }, direction, isOwn) },
      ]),
    ];
  });
}

function verdictsOf({ isolated }: Pick<PolicyModel, "isolated">, direction: Direction, isOwn: (address: string) => boolean) {
  return new Map(
    [...isolated].flatMap(([address, { [direction]: policies }]) =>
      policies !== undefined && isOwn(address) ? [[address, `jump ${groupName(direction, policies)}`] as const] : [],
    ),
  );
}

/** One chain per combination of policies: Pods with the same policies share it. */
function groupChains({ isolated }: PolicyModel): readonly (readonly [string, readonly string[]])[] {
  const groups = new Map<string, readonly string[]>();
  for (const isolation of isolated.values()) {
    for (const direction of ["egress", "ingress"] as const) {
      const policies = isolation[direction];
      if (policies === undefined) continue;
      const name = groupName(direction, policies);
      if (groups.has(name)) continue;
      groups.set(name, [...policies.map((key) => `jump ${policyName(direction, key)} comment "${shortened(key)}"`), "goto deny"]);
    }
  }
  return [...groups];
}

function policyChains({ policies }: PolicyModel): readonly (readonly [string, readonly string[]])[] {
  return [...policies].flatMap(([key, allowed]) =>
    (["egress", "ingress"] as const).map(
      (direction) => [policyName(direction, key), allowed[direction].flatMap((one) => acceptRules(one, direction))] as const,
    ),
  );
}

function acceptRules(allowance: Allowance, direction: Direction): readonly string[] {
  const { block, ports } = allowance;
  const families = block === undefined ? FAMILIES : [block.family];
  // Without addresses, one rule is for both families.
  const addresses =
    allowance.peers === undefined && allowance.targets === undefined && block === undefined
      ? [""]
      : families.map((family) => addressMatch(allowance, family, direction));
  const matches = ports === undefined ? [""] : portMatches(ports);
  return addresses.flatMap((address) => matches.map((port) => [address, port, "accept"].filter((part) => part !== "").join(" ")));
}

function addressMatch({ peers, block, targets }: Allowance, family: Family, direction: Direction): string {
  return [
    ...(peers === undefined ? [] : [`${PEER[direction][family]} @${setName(peers, family)}`]),
    ...(block === undefined ? [] : [blockMatch(block, PEER[direction][family])]),
    ...(targets === undefined ? [] : [`${SELECTED[direction][family]} @${setName(targets, family)}`]),
  ].join(" ");
}

function blockMatch({ cidr, except }: IpBlock, address: string): string {
  return `${address} ${cidr}${except.length === 0 ? "" : ` ${address} != { ${except.join(", ")} }`}`;
}

const PROTOCOL_NAMES: Readonly<Record<Protocol, string>> = { TCP: "tcp", UDP: "udp", SCTP: "sctp" };

/** One match per protocol. */
function portMatches(ports: readonly PortRange[]): readonly string[] {
  const protocols = (["TCP", "UDP", "SCTP"] as const).filter((protocol) => ports.some((port) => port.protocol === protocol));
  return protocols.map((protocol) => {
    const ranges = merged(ports.filter((port) => port.protocol === protocol));
    const name = `meta l4proto ${PROTOCOL_NAMES[protocol]}`;
    if (ranges.some(({ first, last }) => first === 0 && last === PORT_MAX)) return name;
    return `${name} ct reply proto-src { ${ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(", ")} }`;
  });
}

/** nft refuses overlapping ranges in one set. */
function merged(ports: readonly PortRange[]): readonly PortRange[] {
  const result: PortRange[] = [];
  for (const port of ports.toSorted((a, b) => a.first - b.first)) {
    const last = result.at(-1);
    if (last === undefined || port.first > last.last + 1) result.push(port);
    else result[result.length - 1] = { ...last, last: Math.max(last.last, port.last) };
  }
  return result;
}

function peerSets({ addressSets }: PolicyModel): readonly (readonly [string, NftSet])[] {
  return [...addressSets].flatMap(([key, addresses]) =>
    FAMILIES.map(
      (family) =>
        [
          setName(key, family),
          addressSet(
            family,
            addresses.filter((address) => familyOf(address) === family),
          ),
        ] as const,
    ),
  );
}

function addressSet(family: Family, addresses: readonly string[]): NftSet {
  return setOf(`type ${typeOf(family)};`, addresses);
}

function setOf(declaration: string, keys: readonly string[]): NftSet {
  return { kind: "set", declaration, elements: new Map(keys.map((key) => [key, ""])) };
}

const HASH = { digits: 16 };

function groupName(direction: Direction, policies: readonly string[]): string {
  return `${direction}-of-${shortHash(policies.join("\n"), HASH)}`;
}

function policyName(direction: Direction, key: string): string {
  return `${direction}-by-${shortHash(key, HASH)}`;
}

function setName(key: string, family: Family): string {
  return `pods${family}-${shortHash(key, HASH)}`;
}

function typeOf(family: Family): string {
  return family === 4 ? "ipv4_addr" : "ipv6_addr";
}

function familyOf(address: string): Family {
  return address.includes(":") ? 6 : 4;
}

/** nft accepts comments of at most 128 bytes; names of API objects are ASCII. */
const COMMENT_LENGTH_MAX = 120;

function shortened(text: string): string {
  return text.length > COMMENT_LENGTH_MAX ? `${text.slice(0, COMMENT_LENGTH_MAX)}...` : text;
}

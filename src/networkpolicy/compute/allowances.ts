/** The allowances of one direction of a policy: peers × ports, with named ports resolved for the Pods that have them. */
import type { NetworkPolicyPeer, NetworkPolicyPort } from "../../api/generated/networking.k8s.io/v1.ts";
import { PORT_MAX, type Allowance, type Direction, type PortRange, type Protocol } from "../model.ts";
import { allowedPorts, type DnsServer } from "./dns-servers.ts";
import { ipBlock } from "./ip-block.ts";
import type { PolicyPod } from "./policy-pod.ts";
import { ALL_PODS, type SelectedPods, type Selection } from "./selected-pods.ts";

/** An ingress or egress rule: they differ only in the name of their peers. */
export interface DirectedRule {
  readonly peers: readonly NetworkPolicyPeer[];
  readonly ports: readonly NetworkPolicyPort[];
}

export interface AllowanceContext {
  readonly direction: Direction;
  /** Of the policy. */
  readonly namespace: string;
  readonly selected: SelectedPods;
  /** The Pods of this node that the policy selects, under a key of the policy. */
  readonly targets: Selection;
  readonly dnsServers: readonly DnsServer[];
  /** Collects the address sets that allowances refer to. */
  useAddresses(key: string, pods: readonly PolicyPod[]): string;
}

export function allowances(rule: DirectedRule, context: AllowanceContext): readonly Allowance[] {
  const named = rule.ports.filter(({ port }) => typeof port === "string");
  const ranges = rule.ports.flatMap((port) => rangeOf(port) ?? []);
  const peers = rule.peers.length === 0 ? [{}] : rule.peers.flatMap((peer) => peerMatch(peer, context) ?? []);
  const isAnyPort = rule.ports.length === 0;
  const byNumber =
    isAnyPort || ranges.length > 0 ? peers.map((peer) => withAddresses(peer, context, isAnyPort ? {} : { ports: ranges })) : [];
  const byName = named.flatMap((port) => peers.flatMap((peer) => namedPort(port, peer, context)));
  return [...byNumber, ...byName, ...(context.direction === "egress" ? toDnsServers(rule, context) : [])];
}

/** A rule without peers allows them by number like any address, and by the names of their ports here. */
function toDnsServers({ peers, ports }: DirectedRule, { namespace, selected, dnsServers }: AllowanceContext): readonly Allowance[] {
  const selecting = peers.filter(({ ipBlock: block }) => block === undefined);
  const queries = peers.length === 0 ? [ALL_PODS] : selecting.map((peer) => ({ ...peer, namespace }));
  return dnsServers
    .filter((server) => queries.some((query) => selected.matches(query, server)))
    .map((server) => ({ block: server.block, ports: allowedPorts(server, ports) }))
    .filter((allowance) => allowance.ports.length > 0);
}

/** Undefined: a named port. */
function rangeOf({ protocol = "TCP", port, endPort }: NetworkPolicyPort): PortRange | undefined {
  if (port === undefined) return { protocol, first: 0, last: PORT_MAX };
  return typeof port === "number" ? { protocol, first: port, last: endPort ?? port } : undefined;
}

/** Neither: every peer. */
interface PeerMatch {
  readonly pods?: Selection;
  readonly block?: Allowance["block"];
}

/** Undefined: matches nothing. */
function peerMatch(
  { podSelector, namespaceSelector, ipBlock: block }: NetworkPolicyPeer,
  { namespace, selected }: AllowanceContext,
): PeerMatch | undefined {
  if (block === undefined) return { pods: selected.select({ namespace, namespaceSelector, podSelector }) };
  const parsed = ipBlock(block);
  return parsed === undefined ? undefined : { block: parsed };
}

function withAddresses({ pods, block }: PeerMatch, { useAddresses }: AllowanceContext, rest: Allowance): Allowance {
  return {
    ...(pods === undefined ? {} : { peers: useAddresses(pods.key, pods.pods) }),
    ...(block === undefined ? {} : { block }),
    ...rest,
  };
}

/** The name is that of the connection's destination: the selected Pod for ingress, the peer for egress. A block of addresses has no names. */
function namedPort({ port, protocol = "TCP" }: NetworkPolicyPort, peer: PeerMatch, context: AllowanceContext): readonly Allowance[] {
  const { direction, selected, targets, useAddresses } = context;
  if (direction === "egress" && peer.block !== undefined) return [];
  const destinations = direction === "ingress" ? targets : (peer.pods ?? selected.select(ALL_PODS));
  return [...byPortNumber(destinations.pods, String(port), protocol)].map(([number, pods]) => {
    const addresses = useAddresses(`${destinations.key} ${protocol} ${port}=${number}`, pods);
    const ports = [{ protocol, first: number, last: number }];
    return direction === "ingress" ? withAddresses(peer, context, { targets: addresses, ports }) : { peers: addresses, ports };
  });
}

function byPortNumber(pods: readonly PolicyPod[], name: string, protocol: Protocol): ReadonlyMap<number, readonly PolicyPod[]> {
  const groups = new Map<number, PolicyPod[]>();
  for (const pod of pods) {
    const number = pod.portNumber(name, protocol);
    if (number === undefined) continue;
    const group = groups.get(number);
    if (group === undefined) groups.set(number, [pod]);
    else group.push(pod);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}

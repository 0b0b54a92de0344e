/**
 * Validation of a NetworkPolicy. Ingress and egress rules differ only in the name of their peers, so both are validated in one form.
 * Existing CIDRs remain valid, at any position and in any spelling.
 */
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from "../../../generated/networking.k8s.io/v1.ts";
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { type Cidr, cidrContains, isMapped, networkOf, parseSloppyCidr, unmapIp } from "../../../machinery/ip/ip-address.ts";
import { validateLegacyCidr } from "../../../machinery/ip/ip-validation.ts";
import { validateLabelSelectorObject, type LabelSelectorRules } from "../../../machinery/selectors/label-selector.ts";
import { validatePortName, validatePortNumber } from "../../../machinery/names.ts";

const PROTOCOLS = ["TCP", "UDP", "SCTP"];
const POLICY_TYPES = ["Ingress", "Egress"];

/** One rule, of either direction, with the path of everything in it. */
interface DirectedRule {
  readonly ports: readonly { readonly port: NetworkPolicyPort; readonly at: string }[];
  readonly peers: readonly { readonly peer: NetworkPolicyPeer; readonly at: string }[];
}

interface PeerRules extends LabelSelectorRules {
  /** CIDRs that the policy already had. */
  readonly previousCidrs: ReadonlySet<string>;
}

/** Ingress rules, then egress rules. */
export function* directions({ ingress = [], egress = [] }: NetworkPolicySpec): Iterable<DirectedRule> {
  for (const [index, { ports, from }] of ingress.entries()) {
    yield directedRule(ports, from, { at: element("spec.ingress", index), peersName: "from" });
  }
  for (const [index, { ports, to }] of egress.entries()) {
    yield directedRule(ports, to, { at: element("spec.egress", index), peersName: "to" });
  }
}

function directedRule(
  ports: readonly NetworkPolicyPort[] = [],
  peers: readonly NetworkPolicyPeer[] = [],
  { at, peersName }: { readonly at: string; readonly peersName: string },
): DirectedRule {
  return {
    ports: ports.map((port, index) => ({ port, at: element(child(at, "ports"), index) })),
    peers: peers.map((peer, index) => ({ peer, at: element(child(at, peersName), index) })),
  };
}

export function* validateNetworkPolicy({ spec = {} }: NetworkPolicy, previous?: NetworkPolicy): Iterable<FieldError> {
  const rules = rulesOfChange(previous?.spec);
  yield* validateLabelSelectorObject(spec.podSelector, "spec.podSelector", rules);
  for (const { ports, peers } of directions(spec)) {
    for (const { port, at } of ports) yield* validatePort(port, at);
    for (const { peer, at } of peers) yield* validatePeer(peer, at, rules);
  }
  const types: readonly string[] = spec.policyTypes ?? [];
  if (types.length > POLICY_TYPES.length) {
    yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes");
    return;
  }
  for (const [index, type] of types.entries()) {
    if (!POLICY_TYPES.includes(type)) yield notSupported(element("spec.policyTypes", index), type, POLICY_TYPES);
  }
}

function rulesOfChange(previous: NetworkPolicySpec | undefined): PeerRules {
  if (previous === undefined) return { previousCidrs: new Set() };
  const blocks = [...directions(previous)].flatMap(({ peers }) => peers.flatMap(({ peer }) => peer.ipBlock ?? []));
  return {
    previousCidrs: new Set(blocks.flatMap(({ cidr, except = [] }) => [cidr, ...except])),
    allowInvalidValues: [...validateLabelSelectorObject(previous.podSelector, "")].length > 0,
  };
}

function* validatePort({ protocol, port, endPort }: NetworkPolicyPort, at: string): Iterable<FieldError> {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) yield notSupported(child(at, "protocol"), protocol, PROTOCOLS);
  if (typeof port === "number") {
    for (const wrong of validatePortNumber(port)) yield invalid(child(at, "port"), port, wrong);
    if (endPort !== undefined) yield* validateEndPort(endPort, port, child(at, "endPort"));
  } else if (port === undefined) {
    if (endPort !== undefined) yield invalid(child(at, "endPort"), endPort, "may not be specified when `port` is not specified");
  } else {
    if (endPort !== undefined) yield invalid(child(at, "endPort"), endPort, "may not be specified when `port` is non-numeric");
    for (const wrong of validatePortName(port)) yield invalid(child(at, "port"), port, wrong);
  }
}

function* validateEndPort(endPort: number, port: number, at: string): Iterable<FieldError> {
  // The quoted value is the first port, as upstream.
  if (endPort < port) yield invalid(at, port, "must be greater than or equal to `port`");
  for (const wrong of validatePortNumber(endPort)) yield invalid(at, endPort, wrong);
}

function* validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, at: string, rules: PeerRules): Iterable<FieldError> {
  yield* validateLabelSelectorObject(podSelector, child(at, "podSelector"), rules);
  yield* validateLabelSelectorObject(namespaceSelector, child(at, "namespaceSelector"), rules);
  if (ipBlock !== undefined) yield* validateBlock(ipBlock, child(at, "ipBlock"), rules);
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (!hasSelector && ipBlock === undefined) yield required(at, "must specify a peer");
  if (hasSelector && ipBlock !== undefined) yield forbidden(at, "may not specify both ipBlock and another peer");
}

const MAPPED_PREFIX_LENGTH = 96;

/** An IPv4-mapped CIDR is of family IPv4; upstream compares the prefix lengths as written. */
function unmappedNetwork(cidr: Cidr): Cidr {
  const network = networkOf(cidr);
  if (!isMapped(network.address)) return network;
  return { address: unmapIp(network.address), prefixLength: network.prefixLength - MAPPED_PREFIX_LENGTH };
}

function* validateBlock({ cidr, except = [] }: IPBlock, at: string, { previousCidrs }: PeerRules): Iterable<FieldError> {
  const options = { strict: true, previous: previousCidrs };
  if (cidr === "") {
    yield required(child(at, "cidr"));
    return;
  }
  for (const wrong of validateLegacyCidr(cidr, options)) yield invalid(child(at, "cidr"), cidr, wrong);
  const whole = parseSloppyCidr(cidr);
  if (whole === undefined) return;
  for (const [index, text] of except.entries()) {
    const here = element(child(at, "except"), index);
    for (const wrong of validateLegacyCidr(text, options)) yield invalid(here, text, wrong);
    const part = parseSloppyCidr(text);
    if (part === undefined) continue;
    const isWithin = cidrContains(unmappedNetwork(whole), unmappedNetwork(part).address);
    if (!isWithin || whole.prefixLength >= part.prefixLength) yield invalid(here, text, "must be a strict subset of `cidr`");
  }
}

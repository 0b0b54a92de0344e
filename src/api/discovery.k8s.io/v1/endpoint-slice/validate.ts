/**
 * Validation of an EndpointSlice. Limits keep one slice small enough to be sent to every node on each change. Not here: forbidden addresses
 * (core/v1/endpoint-ip.ts).
 */
import { deepEqual } from "../../../../base/deep.ts";
import { validateEndpointIp } from "../../../core/v1/endpoint-ip.ts";
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from "../../../generated/discovery.k8s.io/v1.ts";
import {
  child,
  duplicate,
  element,
  immutable,
  invalid,
  notSupported,
  required,
  tooMany,
  type FieldError,
} from "../../../machinery/field-error.ts";
import { parseSloppyIp } from "../../../machinery/ip/ip-address.ts";
import { validateIp, validateLegacyIp } from "../../../machinery/ip/ip-validation.ts";
import {
  validateDnsLabel,
  validateDnsSubdomain,
  validateFullyQualifiedDomainName,
  validateLabelValue,
  validateQualifiedName,
  type NameValidator,
} from "../../../machinery/names.ts";

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
/** Upstream's limits, all of them. */
const ENDPOINTS_MAX = 1_000;
const PORTS_MAX = 20_000;
const ADDRESSES_MAX = 100;
const HINTS_MAX = 8;

export function* validateEndpointSlice(slice: EndpointSlice, previous?: EndpointSlice): Iterable<FieldError> {
  const { addressType } = slice;
  const [ports, endpoints] = [slice.ports ?? [], slice.endpoints ?? []];
  yield* validateChoice(addressType, "addressType", ADDRESS_TYPES);
  yield* validatePorts(ports);
  if (previous === undefined || !deepEqual(endpoints, previous.endpoints ?? [])) yield* validateEndpoints(endpoints, addressType);
  if (previous !== undefined && addressType !== previous.addressType) yield immutable("addressType", addressType);
}

function* validateEndpoints(endpoints: readonly Endpoint[], addressType: string): Iterable<FieldError> {
  if (endpoints.length > ENDPOINTS_MAX) {
    yield tooMany("endpoints", endpoints.length, ENDPOINTS_MAX);
    return;
  }
  for (const [index, endpoint] of endpoints.entries()) yield* validateEndpoint(endpoint, element("endpoints", index), addressType);
}

function* validateChoice(value: string | undefined, at: string, choices: readonly string[]): Iterable<FieldError> {
  if (value === undefined || value === "") yield required(at);
  else if (!choices.includes(value)) yield notSupported(at, value, choices);
}

function* validatePorts(ports: readonly EndpointPort[]): Iterable<FieldError> {
  if (ports.length > PORTS_MAX) {
    yield tooMany("ports", ports.length, PORTS_MAX);
    return;
  }
  const names = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of ports.entries()) {
    const at = element("ports", index);
    if (name !== "") for (const wrong of validateDnsLabel(name)) yield invalid(child(at, "name"), name, wrong);
    if (names.has(name)) yield duplicate(child(at, "name"), name);
    names.add(name);
    // An empty protocol was set explicitly, and is invalid.
    if (protocol === undefined) yield required(child(at, "protocol"));
    else if (!PROTOCOLS.includes(protocol)) yield notSupported(child(at, "protocol"), protocol, PROTOCOLS);
    if (appProtocol === undefined) continue;
    for (const wrong of validateQualifiedName(appProtocol)) yield invalid(child(at, "appProtocol"), appProtocol, wrong);
  }
}

function* validateEndpoint(endpoint: Endpoint, at: string, addressType: string): Iterable<FieldError> {
  const addressesAt = child(at, "addresses");
  // Required by the type; a client may have omitted them.
  const addresses: readonly string[] | undefined = endpoint.addresses;
  const { nodeName, hostname, hints } = endpoint;
  if (addresses === undefined || addresses.length === 0) yield required(addressesAt, "must contain at least 1 address");
  else if (addresses.length > ADDRESSES_MAX) yield tooMany(addressesAt, addresses.length, ADDRESSES_MAX);
  for (const [index, address] of (addresses ?? []).entries()) {
    if (addressType === "FQDN") yield* validateFullyQualifiedDomainName(address, element(addressesAt, index));
    else if (addressType === "IPv4" || addressType === "IPv6") yield* validateAddress(address, { addressType, addressesAt, index });
  }
  if (nodeName !== undefined) for (const wrong of validateDnsSubdomain(nodeName)) yield invalid(child(at, "nodeName"), nodeName, wrong);
  if (hostname !== undefined) for (const wrong of validateDnsLabel(hostname)) yield invalid(child(at, "hostname"), hostname, wrong);
  if (hints !== undefined) yield* validateHints(hints, child(at, "hints"));
}

interface AddressPlace {
  readonly addressType: "IPv4" | "IPv6";
  readonly addressesAt: string;
  readonly index: number;
}

/** IPv4 addresses may be in slices older than the strict form; there were no IPv6 ones then. */
function* validateAddress(address: string, { addressType, addressesAt, index }: AddressPlace): Iterable<FieldError> {
  const at = element(addressesAt, index);
  const wrong = addressType === "IPv4" ? validateLegacyIp(address, { strict: true }) : validateIp(address);
  for (const sentence of wrong) yield invalid(at, address, sentence);
  if (wrong.length > 0) return;
  // Upstream reports this for the whole list.
  if (`IPv${parseSloppyIp(address)?.family}` !== addressType) yield invalid(addressesAt, address, `must be an ${addressType} address`);
  yield* validateEndpointIp(address, at);
}

function* validateHints({ forZones = [], forNodes = [] }: EndpointHints, at: string): Iterable<FieldError> {
  if (forZones.length > HINTS_MAX) {
    yield tooMany(child(at, "forZones"), forZones.length, HINTS_MAX);
    return;
  }
  yield* validateHintNames(forZones, child(at, "forZones"), validateLabelValue);
  if (forNodes.length > HINTS_MAX) {
    yield tooMany(child(at, "forNodes"), forNodes.length, HINTS_MAX);
    return;
  }
  yield* validateHintNames(forNodes, child(at, "forNodes"), validateDnsSubdomain);
}

function* validateHintNames(hints: readonly { readonly name: string }[], at: string, validateName: NameValidator): Iterable<FieldError> {
  const names = new Set<string>();
  for (const [index, { name }] of hints.entries()) {
    const here = child(element(at, index), "name");
    if (names.has(name)) yield duplicate(here, name);
    names.add(name);
    for (const wrong of validateName(name)) yield invalid(here, name, wrong);
  }
}

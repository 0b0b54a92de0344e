/**
 * core/v1 Endpoints: all addresses behind a Service in one object of the same name. Superseded by EndpointSlice, and still written for its
 * readers; requests get a deprecation warning.
 *
 * Existing addresses remain valid on update, however the rules for addresses have changed since. Not here: the controller
 * (controllers/endpoints).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import type { EndpointAddress, EndpointPort, Endpoints, EndpointSubset } from "../../generated/core/v1.ts";
import { ageColumn, formatFirst, nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { child, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { ipWarnings, validateLegacyIp } from "../../machinery/ip/ip-validation.ts";
import { validateDnsLabel, validateDnsSubdomain, validatePortNumber, validateQualifiedName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateEndpointIp } from "./endpoint-ip.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const DEPRECATION = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
/** The field manager that writes canonical addresses only. */
const CONTROLLER = "endpoint-controller";

export const endpoints = defineResource<Endpoints>({
  kind: "Endpoints",
  plural: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Endpoints", defaults: defaultEndpoints, deprecation: DEPRECATION }],
  createOnUpdate: true,

  *validate({ subsets = [] }, previous) {
    if (previous !== undefined && deepEqual(subsets, previous.subsets ?? [])) return;
    for (const [index, subset] of subsets.entries()) yield* validateSubset(subset, element("subsets", index));
  },
  *warnings({ metadata, subsets = [] }) {
    if (metadata.labels?.[MANAGED_BY] === CONTROLLER) return;
    for (const [index, subset] of subsets.entries()) yield* addressWarnings(subset, element("subsets", index));
  },

  columns: [nameColumn, textColumn("Endpoints", "Endpoint addresses and ports", ({ subsets }) => endpointsText(subsets)), ageColumn],
});

function defaultEndpoints(object: Endpoints): Endpoints {
  return withChanges(object, { subsets: changedItems(object.subsets, defaultSubset) });
}

function defaultSubset(subset: EndpointSubset): EndpointSubset {
  return withChanges(subset, { ports: changedItems(subset.ports, (port) => withChanges(port, { protocol: port.protocol || "TCP" })) });
}

function* validateSubset({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, at: string): Iterable<FieldError> {
  if (addresses.length + notReadyAddresses.length === 0) yield required(at, "must specify `addresses` or `notReadyAddresses`");
  for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, address] of list.entries()) yield* validateAddress(address, element(child(at, name), index));
  }
  // With several ports, clients find theirs by name.
  const isNameRequired = ports.length > 1;
  for (const [index, port] of ports.entries()) {
    const here = element(child(at, "ports"), index);
    if (isNameRequired && (port.name ?? "") === "") yield required(child(here, "name"));
    yield* validatePort(port, here);
  }
}

function* validateAddress({ ip, hostname = "", nodeName }: EndpointAddress, at: string): Iterable<FieldError> {
  for (const wrong of validateLegacyIp(ip, { strict: true })) yield invalid(child(at, "ip"), ip, wrong);
  if (hostname !== "") for (const wrong of validateDnsLabel(hostname)) yield invalid(child(at, "hostname"), hostname, wrong);
  if (nodeName !== undefined) for (const wrong of validateDnsSubdomain(nodeName)) yield invalid(child(at, "nodeName"), nodeName, wrong);
  yield* validateEndpointIp(ip, child(at, "ip"));
}

function* validatePort({ name = "", port, protocol = "TCP", appProtocol }: EndpointPort, at: string): Iterable<FieldError> {
  if (name !== "") for (const wrong of validateDnsLabel(name)) yield invalid(child(at, "name"), name, wrong);
  for (const wrong of validatePortNumber(port)) yield invalid(child(at, "port"), port, wrong);
  if (!PROTOCOLS.includes(protocol)) yield notSupported(child(at, "protocol"), protocol, PROTOCOLS);
  if (appProtocol === undefined) return;
  for (const wrong of validateQualifiedName(appProtocol)) yield invalid(child(at, "appProtocol"), appProtocol, wrong);
}

function* addressWarnings({ addresses = [], notReadyAddresses = [] }: EndpointSubset, at: string): Iterable<string> {
  for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, { ip }] of list.entries()) yield* ipWarnings(ip, child(element(child(at, name), index), "ip"));
  }
}

/** "10.0.0.1:80,[fd00::1]:80"; only the addresses for a headless Service without ports. */
function endpointsText(subsets: readonly EndpointSubset[] = []): string {
  if (subsets.length === 0) return NONE;
  const count = subsets.reduce((sum, { addresses = [], ports = [] }) => sum + addresses.length * Math.max(1, ports.length), 0);
  return formatFirst(subsetsTexts(subsets), count);
}

/** Generated lazily: the product of addresses and ports can exceed the memory. */
function* subsetsTexts(subsets: readonly EndpointSubset[]): Iterable<string> {
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) for (const { ip } of addresses) yield ip;
    for (const { port } of ports) for (const { ip } of addresses) yield `${ip.includes(":") ? `[${ip}]` : ip}:${port}`;
  }
}

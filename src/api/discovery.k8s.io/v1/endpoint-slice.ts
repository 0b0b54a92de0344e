/**
 * discovery.k8s.io/v1 EndpointSlice: some of the endpoints of a Service, and their common ports. A Service with many Pods has many slices,
 * so that a changed Pod changes only a small object.
 *
 * The address type is immutable. Existing addresses remain valid on update, however the rules for addresses have changed since. Not here:
 * the controller (controllers/endpoint-slice), the readers (proxy, dns); validation is in endpoint-slice/validate.ts.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../generated/discovery.k8s.io/v1.ts";
import { ageColumn, formatFirst, nameColumn, textColumn, UNSET } from "../../machinery/columns.ts";
import { child, element } from "../../machinery/field-error.ts";
import { ipWarnings } from "../../machinery/ip/ip-validation.ts";
import { defineResource } from "../../machinery/resource.ts";
import { listOrAbsent, without } from "../../members.ts";
import { validateEndpointSlice } from "./endpoint-slice/validate.ts";

const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** Field managers that write canonical addresses only, so that possibly thousands of them need no warnings. */
const CONTROLLERS = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

export const endpointSlices = defineResource<EndpointSlice>({
  kind: "EndpointSlice",
  plural: "endpointslices",
  singular: "endpointslice",
  scope: "Namespaced",
  served: [{ group: "discovery.k8s.io", version: "v1", schema: "io.k8s.api.discovery.v1.EndpointSlice", defaults: defaultSlice }],

  prepareForCreate: withoutTopology,
  prepareForUpdate: withoutTopology,
  changesGeneration: (next, previous) =>
    next.addressType !== previous.addressType ||
    !deepEqual(next.endpoints ?? [], previous.endpoints ?? []) ||
    !deepEqual(next.ports ?? [], previous.ports ?? []) ||
    !deepEqual(next.metadata.labels ?? {}, previous.metadata.labels ?? {}),

  validate: validateEndpointSlice,
  *warnings(slice, previous) {
    // Upstream's own path: the field is at the top.
    if (previous === undefined && slice.addressType === "FQDN") yield "spec.addressType: FQDN endpoints are deprecated";
    if (CONTROLLERS.includes(slice.metadata.labels?.[MANAGED_BY] ?? "")) return;
    for (const [index, endpoint] of (slice.endpoints ?? []).entries()) yield* addressWarnings(endpoint, element("endpoints", index));
  },

  columns: [
    nameColumn,
    textColumn("AddressType", "Address type of the endpoints", ({ addressType }) => addressType),
    textColumn("Ports", "Endpoint ports", ({ ports }) => portsText(ports ?? []) || UNSET),
    textColumn("Endpoints", "Endpoint addresses", ({ endpoints }) => addressesText(endpoints ?? []) || UNSET),
    ageColumn,
  ],
});

function defaultSlice(slice: EndpointSlice): EndpointSlice {
  return withChanges(slice, {
    endpoints: listOrAbsent(slice.endpoints),
    ports: listOrAbsent(changedItems(slice.ports, defaultPort)),
  });
}

function defaultPort(port: EndpointPort): EndpointPort {
  return withChanges(port, { name: port.name ?? "", protocol: port.protocol ?? "TCP" });
}

/** A read-only field from v1beta1; no object here was ever written in v1beta1. */
function withoutTopology(slice: EndpointSlice): EndpointSlice {
  return withChanges(slice, {
    endpoints: changedItems(slice.endpoints ?? undefined, (endpoint) => without(endpoint, "deprecatedTopology")),
  });
}

/** Required by the type; a client may have omitted them. */
function addressesOf(endpoint: Partial<Endpoint>): readonly string[] {
  return endpoint.addresses ?? [];
}

function* addressWarnings(endpoint: Endpoint, at: string): Iterable<string> {
  for (const [index, address] of addressesOf(endpoint).entries()) yield* ipWarnings(address, element(child(at, "addresses"), index));
}

function portsText(ports: readonly EndpointPort[]): string {
  return formatFirst(ports.map(portText), ports.length);
}

function addressesText(endpoints: readonly Endpoint[]): string {
  const addresses = endpoints.flatMap(addressesOf);
  return formatFirst(addresses, addresses.length);
}

function portText({ port, name }: EndpointPort): string {
  return String(port ?? name ?? "*");
}

/**
 * discovery.k8s.io/v1 EndpointSlice: some of the addresses behind a Service, and the ports that they all have. A Service with many Pods has
 * many slices, so that one Pod that comes or goes changes only a small object.
 *
 * Its kind of address never changes. What was once accepted may stay as it is, however the rules for addresses have changed since.
 * Not here: who writes them (controllers/endpoint-slice), who reads them (proxy, dns); its rules stand in endpoint-slice/validate.ts.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changedItems, withChanges } from "../../changes.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../generated/discovery.k8s.io/v1.ts";
import { ageColumn, formatFirst, nameColumn, textColumn, UNSET } from "../../machinery/columns.ts";
import { child, element } from "../../machinery/field-error.ts";
import { ipWarnings } from "../../machinery/ip-validation.ts";
import { defineResource } from "../../machinery/resource.ts";
import { listOrAbsent, without } from "../../members.ts";
import { validateEndpointSlice } from "./endpoint-slice/validate.ts";

const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** Who writes addresses only in canonical form, so that there is nothing to warn of in what may be thousands of them. */
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
    textColumn("AddressType", "What kind of addresses they are", ({ addressType }) => addressType),
    textColumn("Ports", "The ports of all endpoints", ({ ports }) => portsText(ports ?? []) || UNSET),
    textColumn("Endpoints", "The addresses", ({ endpoints }) => addressesText(endpoints ?? []) || UNSET),
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

/** A field of v1beta1 that can only be read in v1; nothing here was ever written in v1beta1. */
function withoutTopology(slice: EndpointSlice): EndpointSlice {
  return withChanges(slice, {
    endpoints: changedItems(slice.endpoints ?? undefined, (endpoint) => without(endpoint, "deprecatedTopology")),
  });
}

/** The type says that there are some; a client may have left them out. */
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

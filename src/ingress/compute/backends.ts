/** Services and endpoints behind routes. Pure. Upstream's rule for endpoints: the ready ones; without any, those that terminate and serve. */
import type { Service, ServicePort } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { IngressBackend } from "../../api/generated/networking.k8s.io/v1.ts";
import type { ProxyEndpoint } from "../../host/http/proxy/contract.ts";
import type { Backend, Problem, ServiceBackend } from "../model.ts";

export interface FoundBackend {
  readonly backend: Backend;
  readonly appProtocol?: string | undefined;
  readonly problem?: Problem;
}

export function findBackend(
  { service: reference, resource }: IngressBackend,
  namespace: string,
  serviceOf: (namespace: string, name: string) => Service | undefined,
): FoundBackend {
  if (reference === undefined) return unsupported(`backend ${resource?.kind ?? ""} ${resource?.name ?? ""}: only Services are supported`);
  const { name, port: wanted = {} } = reference;
  const shown = `Service ${namespace}/${name}`;
  const service = serviceOf(namespace, name);
  if (service === undefined) return notFound(`${shown} does not exist`);
  if (service.spec?.type === "ExternalName") return unsupported(`${shown} is of type ExternalName, which has no endpoints`);
  const port = service.spec?.ports?.find((one) => isWanted(one, wanted));
  if (port === undefined) return notFound(`${shown} has no TCP port ${wanted.name ?? wanted.number ?? ""}`);
  const portName = port.name ?? "";
  const addressType = service.spec?.ipFamilies?.[0] === "IPv6" ? "IPv6" : "IPv4";
  const backend: ServiceBackend = {
    is: "service",
    key: `${namespace}/${name}/${portName}`,
    namespace,
    service: name,
    portName,
    addressType,
  };
  return { backend, appProtocol: port.appProtocol };
}

function isWanted(port: ServicePort, { name, number }: { readonly name?: string; readonly number?: number }): boolean {
  if ((port.protocol ?? "TCP") !== "TCP") return false;
  return name === undefined ? port.port === number : port.name === name;
}

function notFound(message: string): FoundBackend {
  return { backend: { is: "none", reason: message }, problem: { reason: "BackendNotFound", message } };
}

function unsupported(message: string): FoundBackend {
  return { backend: { is: "none", reason: message }, problem: { reason: "BackendUnsupported", message } };
}

/** `slices`: those of the Service. Sorted by address, without duplicates. */
export function computeEndpoints({ portName, addressType }: ServiceBackend, slices: readonly EndpointSlice[]): readonly ProxyEndpoint[] {
  const ready = new Map<string, ProxyEndpoint>();
  const draining = new Map<string, ProxyEndpoint>();
  for (const slice of slices) {
    if (slice.addressType !== addressType) continue;
    const port = slice.ports?.find(({ name = "", protocol = "TCP" }) => name === portName && protocol === "TCP")?.port;
    if (port === undefined || port === 0) continue;
    for (const { addresses, conditions = {} } of slice.endpoints ?? []) {
      const address = addresses[0];
      if (address === undefined) continue;
      const key = `${address} ${port}`;
      const isServing = conditions.serving ?? conditions.ready ?? true;
      if (conditions.ready ?? true) ready.set(key, { address, port });
      else if (isServing && conditions.terminating === true) draining.set(key, { address, port });
    }
  }
  const chosen = ready.size > 0 ? ready : draining;
  return [...chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, endpoint]) => endpoint);
}

/**
 * Resolves a Service to the address of a ready endpoint, for the API server's own calls to webhooks and aggregated servers. By
 * EndpointSlices instead of the cluster IP, so that it works where no proxy runs. Equivalent to upstream's resolver with
 * --enable-aggregator-routing, which also resolves ExternalName as the one without.
 */
import type { Service } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { shuffled, type Random } from "../../base/random.ts";
import type { Objects } from "../framework/objects.ts";

const SERVICES = { group: "", plural: "services" };
const SLICES = { group: "discovery.k8s.io", plural: "endpointslices" };
const SERVICE_NAME = "kubernetes.io/service-name";

export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

export interface ServiceResolution {
  readonly objects: Pick<Objects, "get" | "list">;
  readonly random: Random;
}

/** Rejects with a StatusError with upstream's message if the Service, its port or a ready endpoint does not exist. */
export async function resolveService({ objects, random }: ServiceResolution, target: ServicePortName): Promise<ServiceAddress> {
  const { namespace, name, port } = target;
  const service = await objects.get<Service>(SERVICES, { namespace, name });
  // Upstream's lister names the resource in the singular.
  if (service === undefined)
    throw new StatusError("NotFound", `service ${quoteGo(name)} not found`, { details: { name, kind: "service" } });
  const { type = "ClusterIP", externalName = "", ports = [], ipFamilies = [] } = service.spec ?? {};
  if (type === "ExternalName") return { host: externalName, port };
  const found = ports.find((candidate) => candidate.port === port);
  if (found === undefined) throw new StatusError("ServiceUnavailable", `no service port ${port} found for service ${quoteGo(name)}`);
  const all = await objects.list<EndpointSlice>(SLICES, namespace);
  const own = shuffled(
    random,
    all.filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === name),
  );
  // Those of the primary IP family first; the sort is stable.
  const isOther = ({ addressType }: EndpointSlice): number => (ipFamilies.length > 0 && addressType !== ipFamilies[0] ? 1 : 0);
  for (const slice of own.toSorted((a, b) => isOther(a) - isOther(b))) {
    const address = readyAddress(random, slice, found.name ?? "");
    if (address !== undefined) return address;
  }
  throw new StatusError("ServiceUnavailable", `no endpoints available for service ${quoteGo(name)}`);
}

function readyAddress(random: Random, { ports, endpoints }: EndpointSlice, portName: string): ServiceAddress | undefined {
  const port = (ports ?? []).find(({ name = "", port: number }) => name === portName && number !== undefined)?.port;
  if (port === undefined) return undefined;
  const ready = (endpoints ?? []).filter(({ conditions, addresses }) => conditions?.ready !== false && addresses.length > 0);
  const [first] = shuffled(random, ready);
  const host = first?.addresses[0];
  return host === undefined ? undefined : { host, port };
}

/** The Service behind an APIService and its EndpointSlices, from memory, for the check of its availability. */
import type { Service } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { Objects } from "../framework/objects.ts";
import type { ServiceReference } from "./api-service.ts";

export const SERVICES = { group: "", plural: "services" };
export const ENDPOINT_SLICES = { group: "discovery.k8s.io", plural: "endpointslices" };
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

export interface ServiceState {
  /** Absent: it does not exist. */
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
}

export async function readServiceState(objects: Objects, { namespace, name }: ServiceReference): Promise<ServiceState> {
  const service = await objects.get<Service>(SERVICES, { namespace, name });
  const slices = await objects.list<EndpointSlice>(ENDPOINT_SLICES, namespace);
  return { service, slices: slices.filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === name) };
}

/** Ready unless it says otherwise. */
export function isReady({ conditions }: NonNullable<EndpointSlice["endpoints"]>[number]): boolean {
  return conditions?.ready ?? true;
}

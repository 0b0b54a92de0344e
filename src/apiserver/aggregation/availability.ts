/** Decides whether the Service of an APIService can be reached, before it is asked; reasons and messages as upstream. Pure. */
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { Availability, ServiceReference } from "./api-service.ts";
import { isReady, type ServiceState } from "./service-state.ts";

export const LOCAL: Availability = { status: "True", reason: "Local", message: "Local APIServices are always available" };
export const PASSED: Availability = { status: "True", reason: "Passed", message: "all checks passed" };

/** Undefined: nothing is wrong so far. */
export function serviceProblem({ namespace, name, port }: ServiceReference, { service, slices }: ServiceState): Availability | undefined {
  const what = `service/${name} in ${quoteGo(namespace)}`;
  if (service === undefined) return unavailable("ServiceNotFound", `${what} is not present`);
  const { type = "ClusterIP", ports = [] } = service.spec ?? {};
  if (type !== "ClusterIP") return undefined;
  const found = ports.find((candidate) => candidate.port === port);
  if (found === undefined) return unavailable("ServicePortError", `${what} is not listening on port ${port}`);
  if (slices.length === 0) return unavailable("EndpointsNotFound", `cannot find endpointslices for ${what}`);
  const portName = found.name ?? "";
  if (slices.some((slice) => isServing(slice, portName))) return undefined;
  return unavailable("MissingEndpoints", `endpointslices for ${what} have no addresses with port name ${quoteGo(portName)}`);
}

export function failedDiscovery(message: string): Availability {
  return unavailable("FailedDiscoveryCheck", message);
}

function unavailable(reason: string, message: string): Availability {
  return { status: "False", reason, message };
}

function isServing({ endpoints = [], ports = [] }: EndpointSlice, portName: string): boolean {
  return endpoints.some(isReady) && ports.some(({ name = "", port }) => name === portName && port !== undefined);
}

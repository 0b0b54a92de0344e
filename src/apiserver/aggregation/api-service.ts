/** What the parts of aggregation read of an APIService. */
import type { APIService, APIServiceCondition } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import { isConditionTrue } from "../../api/machinery/conditions.ts";
import type { GroupVersion } from "../../api/machinery/object.ts";
import type { ServicePortName } from "../shared/service-endpoint.ts";

export const API_SERVICES = { group: "apiregistration.k8s.io", plural: "apiservices" };
/** For the server's own requests. */
export const API_SERVICES_PLACE = { ...API_SERVICES, version: "v1", namespace: "" };

export const AVAILABLE = "Available";

/** Upstream's default. */
const PORT_DEFAULT = 443;

/** The Service behind an APIService. */
export type ServiceReference = ServicePortName;

/** Undefined: this server serves it. */
export function serviceOf({ spec }: APIService): ServiceReference | undefined {
  const service = spec?.service;
  if (service === undefined) return undefined;
  return { namespace: service.namespace ?? "", name: service.name ?? "", port: service.port ?? PORT_DEFAULT };
}

export function placeOf({ spec }: APIService): GroupVersion {
  return { group: spec?.group ?? "", version: spec?.version ?? "" };
}

export function isAvailable({ status }: APIService): boolean {
  return isConditionTrue(status?.conditions, AVAILABLE);
}

/** Its state of availability, without the time. */
export type Availability = Required<Pick<APIServiceCondition, "status" | "reason" | "message">>;

/** "/apis/GROUP/VERSION": what every API server serves. */
export function discoveryPath({ group, version }: GroupVersion): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

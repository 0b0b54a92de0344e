/**
 * core/v1 Service: one name and address for a changing set of Pods.
 *
 * Its fields depend on its type and on each other in many ways: defaults, write strategy and validation are in service/, one file each;
 * which addresses and ports it needs, as plain values, is in service/allocation.ts. Not here: allocation of free addresses and ports
 * (apiserver/resources/service), forwarding (proxy).
 */
import type { LoadBalancerStatus, Service, ServicePort } from "../../generated/core/v1.ts";
import { ageColumn, formatLabels, formatList, nameColumn, NONE, textColumn, UNKNOWN } from "../../machinery/columns.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { withChanges } from "../../changes.ts";
import { proxyConnection } from "./proxy-connection.ts";
import { defaultService } from "./service/defaults.ts";
import { specOf } from "./service/needs.ts";
import { validateService, validateServiceStatus } from "./service/validate.ts";
import { serviceWarnings } from "./service/warnings.ts";
import { prepareForCreate, prepareForUpdate } from "./service/write-rules.ts";

export const services = defineResource<Service>({
  kind: "Service",
  plural: "services",
  singular: "service",
  shortNames: ["svc"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Service", defaults: defaultService }],
  createOnUpdate: true,
  returnsDeletedObject: true,

  prepareForCreate,
  prepareForUpdate,

  validateName: validateDnsLabel,
  validate: validateService,
  warnings: serviceWarnings,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withChanges(next, { spec: previous.spec }),
      validateUpdate: validateServiceStatus,
    },
    proxy: proxyConnection("ServiceProxyOptions"),
  },

  selectableFields: {
    "spec.clusterIP": (service) => specOf(service).clusterIP ?? "",
    "spec.type": (service) => specOf(service).type ?? "",
  },

  columns: [
    nameColumn,
    textColumn("Type", "Service type", (service) => specOf(service).type ?? ""),
    textColumn("Cluster-IP", "Cluster IP", (service) => specOf(service).clusterIPs?.[0] ?? NONE),
    textColumn("External-IP", "External addresses", externalAddresses),
    textColumn("Port(s)", "Ports of the Service and their node ports", (service) => formatList(specOf(service).ports?.map(portText))),
    ageColumn,
    textColumn("Selector", "Selector of the backend Pods", (service) => formatLabels(specOf(service).selector), {
      priority: 1,
    }),
  ],
});

function portText({ port, nodePort = 0, protocol }: ServicePort): string {
  return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}

function externalAddresses(service: Service): string {
  const { type, externalIPs = [], externalName = "" } = specOf(service);
  switch (type) {
    case "ClusterIP":
    case "NodePort":
      return formatList(externalIPs);
    case "LoadBalancer": {
      const all = [...ingressAddresses(service.status?.loadBalancer ?? {}), ...externalIPs];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return externalName;
    default:
      return UNKNOWN;
  }
}

/** Shared with Ingress: unique and sorted. */
export function ingressAddresses({ ingress = [] }: LoadBalancerStatus): readonly string[] {
  const addresses = ingress.map(({ ip, hostname }) => ip || (hostname ?? "")).filter((address) => address !== "");
  return [...new Set(addresses)].toSorted();
}

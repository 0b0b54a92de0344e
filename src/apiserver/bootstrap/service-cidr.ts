/**
 * The ServiceCIDR "kubernetes" with the configured ranges. A second family is added if configured; any other configuration change is logged
 * and left to the administrator, since Services have addresses of the old range.
 */
import { deepEqual } from "../../base/deep.ts";
import type { ServiceCIDR } from "../../api/generated/networking.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { BootstrapContext, BootstrapStep } from "./bootstrap.ts";

const PLACE = { group: "networking.k8s.io", version: "v1", plural: "servicecidrs", namespace: "" };
const NAME = "kubernetes";

export const serviceCidr: BootstrapStep = {
  hook: "start-kubernetes-service-cidr-controller",
  make,
  keeps: [{ ...PLACE, name: NAME }],
};

async function make(context: BootstrapContext): Promise<void> {
  const { server, requests } = context;
  const cidrs = server.config.serviceClusterIpRange.split(",");
  const wanted: ServiceCIDR = { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name: NAME }, spec: { cidrs } };
  const made = (await requests.make(PLACE, wanted)).object as ServiceCIDR;
  const found = made.spec?.cidrs ?? [];
  if (deepEqual(found, cidrs)) await markAsReady(context, made);
  else if (found.length === 1 && cidrs.length === 2 && found[0] === cidrs[0]) {
    await requests.put(PLACE, { ...made, spec: { cidrs } } as KubeObject);
  } else {
    const remedy = "Services keep their addresses; start with the range of the object, or add another ServiceCIDR";
    server.log.warn(`The default ServiceCIDR is ${found.join(",")}, not the configured ${cidrs.join(",")}: ${remedy}`);
  }
}

/** No controller sets the condition on this one. An existing condition is kept. */
async function markAsReady({ server, requests }: BootstrapContext, cidr: ServiceCIDR): Promise<void> {
  const conditions = cidr.status?.conditions ?? [];
  if (conditions.some(({ type, status }) => type === "Ready" && status !== "Unknown")) return;
  const ready = {
    type: "Ready",
    status: "True",
    reason: "",
    message: "Kubernetes default Service CIDR is ready",
    lastTransitionTime: formatTime(server.clock.now()),
  } as const;
  const others = conditions.filter(({ type }) => type !== "Ready");
  await requests.put(PLACE, { ...cidr, status: { conditions: [...others, ready] } } as KubeObject, "status");
}

/** Usage of Services: their number, node ports and load balancers. */
import type { Service } from "../../../generated/core/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import { quantityOf } from "../../../machinery/quantity.ts";
import { ONE, ZERO, type Amounts } from "./amounts.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";

const COUNT = countName("", "services");
const NAMES: readonly string[] = [COUNT, "services", "services.nodeports", "services.loadbalancers"];

export const serviceEvaluator: QuotaEvaluator = {
  group: "",
  plural: "services",
  // The type can change.
  handles: ({ operation, subresource }) => subresource === "" && (operation === "CREATE" || operation === "UPDATE"),
  namesAmong: (hard) => [...hard].filter((name) => NAMES.includes(name)),
  usageOf: (object) => usageOf(object),
};

function usageOf(object: KubeObject): Amounts {
  const service = object as Service;
  return new Map([
    [COUNT, ONE],
    ["services", ONE],
    ["services.nodeports", quantityOf(nodePortsOf(service))],
    ["services.loadbalancers", service.spec?.type === "LoadBalancer" ? ONE : ZERO],
  ]);
}

/** The desired number: ports may not be allocated yet. */
function nodePortsOf({ spec = {} }: Service): number {
  const { type, ports = [], allocateLoadBalancerNodePorts = true } = spec;
  if (type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts)) return ports.length;
  return type === "LoadBalancer" ? ports.filter(({ nodePort = 0 }) => nodePort !== 0).length : 0;
}

import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Endpoint } from "../../api/generated/discovery.k8s.io/v1.ts";
import { aService } from "../shared/service-endpoints/testing/builders.ts";
import { distributionOf, hintsCloseBy } from "./hints.ts";

const AUTO = { "service.kubernetes.io/topology-mode": "Auto" };
const OLD = "service.kubernetes.io/topology-aware-hints";

for (const { it, annotations = {}, trafficDistribution, is } of [
  { it: "has neither field nor annotation", is: "none" },
  { it: "prefers close endpoints", trafficDistribution: "PreferClose", is: "same-zone" },
  { it: "prefers its zone", trafficDistribution: "PreferSameZone", is: "same-zone" },
  { it: "prefers its node", trafficDistribution: "PreferSameNode", is: "same-node" },
  { it: "has the topology-mode annotation", annotations: AUTO, is: "topology" },
  { it: "has the annotation and trafficDistribution", annotations: AUTO, trafficDistribution: "PreferClose", is: "topology" },
  { it: "has the deprecated annotation", annotations: { [OLD]: "auto" }, is: "topology" },
  { it: "disables hints by the deprecated annotation", annotations: { ...AUTO, [OLD]: "Disabled" }, is: "none" },
] as readonly { it: string; annotations?: Record<string, string>; trafficDistribution?: string; is: string }[]) {
  test(`a Service that ${it} has the distribution "${is}"`, () => {
    const spec = trafficDistribution === undefined ? {} : { trafficDistribution };
    deepEqual(distributionOf(aService("web", { annotations, spec })), is);
  });
}

const PLACED: Endpoint = { addresses: ["10.0.0.1"], conditions: { ready: true }, zone: "a", nodeName: "n1" };

for (const { it, endpoint, distribution, hints } of [
  { it: "its zone", endpoint: PLACED, distribution: "same-zone", hints: { forZones: [{ name: "a" }] } },
  {
    it: "its zone and node",
    endpoint: PLACED,
    distribution: "same-node",
    hints: { forZones: [{ name: "a" }], forNodes: [{ name: "n1" }] },
  },
  { it: "no zone if it is not ready", endpoint: { ...PLACED, conditions: { ready: false } }, distribution: "same-node", hints: undefined },
  { it: "no zone if it has none", endpoint: { addresses: [], conditions: { ready: true } }, distribution: "same-zone", hints: undefined },
] as const) {
  test(`by ${distribution}, an endpoint is for ${it}`, () => deepEqual(hintsCloseBy(endpoint, distribution), hints));
}

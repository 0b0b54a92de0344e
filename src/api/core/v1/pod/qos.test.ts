import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../../generated/core/v1.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { qosClassOf } from "./qos.ts";

const BOTH = { cpu: "1", memory: "1Gi" };

function containers(...resources: readonly JsonObject[]): JsonObject {
  return { containers: resources.map((each) => ({ name: "c", resources: each })) };
}

const ROWS: readonly (readonly [string, JsonObject, string])[] = [
  ["no requests or limits", containers({}), "BestEffort"],
  ["requests for devices only", containers({ requests: { "example.com/gpu": "1" } }), "BestEffort"],
  ["requests and limits of 0", containers({ requests: { cpu: "0" }, limits: { cpu: "0" } }), "BestEffort"],
  ["a request without a limit", containers({ requests: { cpu: "1" } }), "Burstable"],
  ["limits are above requests", containers({ requests: BOTH, limits: { cpu: "2", memory: "1Gi" } }), "Burstable"],
  ["one container has no limits", containers({ requests: BOTH, limits: BOTH }, {}), "Burstable"],
  ["memory is not limited", containers({ requests: { cpu: "1" }, limits: { cpu: "1" } }), "Burstable"],
  ["an init container has no limits", { ...containers({ requests: BOTH, limits: BOTH }), initContainers: [{ name: "i" }] }, "Burstable"],
  ["limits are the requests", containers({ requests: BOTH, limits: BOTH }, { requests: BOTH, limits: BOTH }), "Guaranteed"],
  ["amounts count by value", containers({ requests: { cpu: "1000m", memory: "1024Mi" }, limits: BOTH }), "Guaranteed"],
  ["the pod as a whole is limited", { ...containers({}), resources: { requests: BOTH, limits: BOTH } }, "Guaranteed"],
  [
    "the pod as a whole asks for something",
    { ...containers({ requests: BOTH, limits: BOTH }), resources: { requests: BOTH } },
    "Burstable",
  ],
  ["empty Pod-level resources", { ...containers({ requests: BOTH }), resources: {} }, "BestEffort"],
];

for (const [title, spec, expected] of ROWS) {
  test(`QoS class ${expected}: ${title}`, () => {
    assert.equal(qosClassOf(spec as PodSpec), expected);
  });
}

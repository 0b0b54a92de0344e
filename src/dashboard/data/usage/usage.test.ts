import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { allocations, amountsOf, cpuText, memoryText, percent, podRequests, usageOf } from "./usage.ts";

const MI = 2 ** 20;

const container = (cpu: string, memory: string, more: object = {}) => ({ resources: { requests: { cpu, memory } }, ...more });
const pod = (spec: object, phase = "Running") => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec, status: { phase } });

test("quantities become cores and bytes; unreadable ones are 0", () => {
  deepEqual(amountsOf({ cpu: "53851045n", memory: "296Mi" }), { cpu: 0.053851045, memory: 296 * MI });
  deepEqual(amountsOf({ cpu: "much" }), { cpu: 0, memory: 0 });
});

test("usage is that of a node, or of all containers of a Pod", () => {
  deepEqual(usageOf({ usage: { cpu: "2", memory: "1Mi" } }), { cpu: 2, memory: MI });
  deepEqual(usageOf({ containers: [{ usage: { cpu: "1" } }, { usage: { cpu: "2", memory: "1Mi" } }] }), { cpu: 3, memory: MI });
});

test("a Pod reserves what its containers request together, or its largest init container", () => {
  const init = [container("2", "1Mi"), container("100m", "64Mi"), container("500m", "1Mi", { restartPolicy: "Always" })];
  const spec = { containers: [container("250m", "10Mi"), container("250m", "10Mi")], initContainers: init, overhead: { cpu: "100m" } };
  deepEqual(podRequests(pod(spec)), { cpu: 2.1, memory: 64 * MI });
});

test("a node's allocation counts its Pods that are not finished", () => {
  const spec = { nodeName: "a", containers: [container("1", "1Mi")] };
  deepEqual(
    [...allocations([pod(spec), pod(spec), pod(spec, "Succeeded"), pod({ containers: [] })])],
    [["a", { requests: { cpu: 2, memory: 2 * MI }, pods: 2 }]],
  );
});

test("amounts are written as kubectl users know them", () => {
  deepEqual([0, 0.25, 1, 1.256].map(cpuText), ["0m", "250m", "1", "1.26"]);
  deepEqual([0, 1_023, 1_536, 296 * MI, 1.5 * 2 ** 30].map(memoryText), ["0 B", "1023 B", "1.5 Ki", "296 Mi", "1.5 Gi"]);
  equal(percent(1, 3), 33);
  equal(percent(1, 0), 0);
});

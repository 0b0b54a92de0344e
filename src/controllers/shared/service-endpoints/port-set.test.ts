import { test } from "node:test";
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { inSliceOrder, inSubsetOrder, portSetKey } from "./port-set.ts";

const HTTP = { name: "http", protocol: "TCP", port: 8080 } as const;
const DNS = { name: "dns", protocol: "UDP", port: 53 } as const;
const HTTPS = { name: "https", protocol: "TCP", port: 8443, appProtocol: "kubernetes.io/h2c" } as const;
const METRICS = { name: "metrics", protocol: "TCP", port: 9090 } as const;

// The orders are those that upstream 1.36 wrote for the same Service.
test("the ports of a slice are in upstream's order", () => {
  deepEqual(inSliceOrder([METRICS, HTTPS, DNS, HTTP]), [HTTP, DNS, HTTPS, METRICS]);
  const other = { ...HTTP, port: 9999 };
  deepEqual(inSliceOrder([METRICS, other, HTTPS, DNS]), [DNS, other, HTTPS, METRICS]);
});

test("the ports of a subset are in upstream's other order", () => {
  deepEqual(inSubsetOrder([DNS, HTTPS, METRICS]), [METRICS, DNS, HTTPS]);
});

test("the order of ports does not matter for equality, any difference does", () => {
  equal(portSetKey([HTTP, HTTPS]), portSetKey([HTTPS, HTTP]));
  for (const other of [
    [HTTP],
    [HTTP, DNS],
    [HTTP, { ...HTTPS, appProtocol: "x" }],
    [HTTP, { ...HTTPS, port: 1 }],
    [HTTP, { ...HTTPS, name: "" }],
  ]) {
    notEqual(portSetKey([HTTP, HTTPS]), portSetKey(other));
  }
});

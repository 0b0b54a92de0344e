import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest, TransportResponse } from "../api/machinery/transport.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { RequestMetrics } from "./request-metrics.ts";

const KIND = { group: "", version: "v1", plural: "pods" };
const OBJECT = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } };

function answering(answer: () => Promise<TransportResponse>): Transport {
  return { request: answer, document: () => Promise.resolve({}), watch: () => Promise.resolve({ stop() {} }) };
}

const ROWS: readonly [verb: TransportRequest["verb"], answer: () => Promise<TransportResponse>, method: string, code: string][] = [
  ["get", () => Promise.resolve({ is: "value", value: {}, warnings: [] }), "GET", "200"],
  ["create", () => Promise.resolve({ is: "object", object: OBJECT, created: true, warnings: [] }), "POST", "201"],
  ["update", () => Promise.reject(new StatusError("Conflict", "changed")), "PUT", "409"],
  ["delete", () => Promise.reject(new StatusError("ServiceUnavailable", "gone", { cause: new Error("refused") })), "DELETE", "<error>"],
];

for (const [verb, answer, method, code] of ROWS) {
  test(`a ${verb} that is answered with ${code} is counted as ${method}`, async () => {
    const metrics = new RequestMetrics(virtualClock());

    await metrics
      .counted(answering(answer), "h:1")
      .request({ verb, ...KIND })
      .catch(() => undefined);

    const [duration, requests] = metrics.families();
    deepEqual(requests?.samples, [{ labels: { code, host: "h:1", method }, value: 1 }]);
    deepEqual(duration?.samples[0]?.labels, { host: "h:1", verb: method });
  });
}

test("documents and watches are requests, too", async () => {
  const metrics = new RequestMetrics(virtualClock());
  const transport = metrics.counted(
    answering(() => Promise.reject(new Error("not called"))),
    "h:1",
  );

  await transport.document("/version");
  await transport.watch(KIND, { event() {}, ended() {} });

  deepEqual(metrics.families()[1]?.samples, [{ labels: { code: "200", host: "h:1", method: "GET" }, value: 2 }]);
});

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { prometheusText } from "../base/metrics/prometheus-text.ts";
import { KubeletMetrics } from "./kubelet-metrics.ts";

const linesOf = (metrics: KubeletMetrics, name: string): readonly string[] =>
  prometheusText(metrics.families())
    .split("\n")
    .filter((line) => line.startsWith(name));

test("durations of DRA operations and calls have upstream's labels and 15 buckets from 0.1 s to 40 s", () => {
  const metrics = new KubeletMetrics();
  metrics.draOperation({ operation: "PrepareResources", isFailed: true, durationMs: 200 });
  metrics.draCalled("gpu.example.com", { method: "/m", code: "Unavailable", durationMs: 100 });

  const [first = "", ...others] = linesOf(metrics, "dra_operations_duration_seconds_bucket");
  for (const part of ['is_error="true"', 'operation_name="PrepareResources"', 'le="0.1"']) ok(first.includes(part), first);
  equal(others.length, 15);
  match(others.at(-2) ?? "", /le="40"/);
  match(
    linesOf(metrics, "dra_grpc_operations_duration_seconds_count")[0] ?? "",
    /driver_name="gpu.example.com",grpc_status_code="Unavailable",method_name="\/m"\} 1$/,
  );
});

test("ResourceClaims in use are counted by driver and for any driver, if the node has dynamic resources", () => {
  const metrics = new KubeletMetrics();
  deepEqual(linesOf(metrics, "dra_resource_claims_in_use"), []);

  metrics.countClaims(() => [["a", "b"], ["a"]]);

  deepEqual(linesOf(metrics, "dra_resource_claims_in_use"), [
    'dra_resource_claims_in_use{driver_name="<any>"} 2',
    'dra_resource_claims_in_use{driver_name="a"} 2',
    'dra_resource_claims_in_use{driver_name="b"} 1',
  ]);
});

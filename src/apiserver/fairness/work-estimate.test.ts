import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { FlowRequest, FlowRequestOptions } from "../framework/flow-request.ts";
import { flowRequest } from "./testing/flow-requests.ts";
import { WatchCounts } from "./watch-counts.ts";
import { estimateWork, type EstimateInputs } from "./work-estimate.ts";

const inputs = (objects: number | undefined, watches = 0): EstimateInputs => ({ objectCount: () => objects, watchCount: () => watches });

test("a list occupies one seat per 100 objects, up to 10 and to the level's maximum", () => {
  const rows: readonly [objects: number | undefined, options: FlowRequestOptions, seats: number][] = [
    [undefined, {}, 1],
    [0, {}, 1],
    [100, {}, 1],
    [101, {}, 2],
    [5_000, {}, 10],
    // Lists from the cache scan all objects, whatever the limit.
    [5_000, { limit: 500 }, 10],
    [5_000, { limit: 100, continue: "token" }, 2],
    [400, { limit: 100, continue: "token", labelSelector: "a=b" }, 5],
    [5_000, { resourceVersion: "7", resourceVersionMatch: "Exact" }, 10],
    [5_000, { resourceVersion: "7", limit: 100 }, 2],
    [5_000, { fieldSelector: "metadata.name=a" }, 1],
  ];
  for (const [objects, options, seats] of rows) {
    equal(estimateWork(flowRequest({ options }), inputs(objects)).initialSeats, seats, JSON.stringify([objects, options]));
  }
  equal(estimateWork(flowRequest(), inputs(5_000), { seatsMax: 3 }).initialSeats, 3);
});

test("a watch is estimated like a list only if it sends initial events", () => {
  const watch = (options: FlowRequestOptions) => estimateWork(flowRequest({ verb: "watch", options }), inputs(500)).initialSeats;
  equal(watch({ resourceVersion: "7" }), 1);
  equal(watch({}), 5);
  equal(watch({ resourceVersion: "0" }), 5);
  equal(watch({ resourceVersion: "7", sendInitialEvents: true }), 5);
});

test("a write lingers on seats for its watches: 10 of them are a seat for 5 ms, and fewer seats take longer", () => {
  const create = (watches: number, seatsMax?: number) => {
    const { initialSeats, finalSeats, additionalLatencyMs } = estimateWork(flowRequest({ verb: "create" }), inputs(0, watches), {
      seatsMax,
    });
    return [initialSeats, finalSeats, additionalLatencyMs];
  };
  deepEqual(create(9), [1, 0, 0]);
  deepEqual(create(10), [1, 1, 5]);
  deepEqual(create(95), [1, 10, 5]);
  deepEqual(create(1_000), [1, 10, 50]);
  deepEqual(create(100, 5), [1, 5, 10]);
  const token = flowRequest({ verb: "create", plural: "serviceaccounts", subresource: "token" });
  equal(estimateWork(token, inputs(0, 100)).finalSeats, 0);
});

test("watches are counted by scope, except those of one node's Pods", () => {
  const counts = new WatchCounts();
  const watch = (changes: Partial<FlowRequest>) => counts.started(flowRequest({ verb: "watch", namespace: "", ...changes }));
  watch({});
  watch({ namespace: "default" });
  watch({ namespace: "other" });
  watch({ namespace: "default", options: { fieldSelector: "metadata.name=a" } });
  watch({ options: { fieldSelector: "spec.nodeName=n" } });
  equal(counts.concernedBy(flowRequest({ verb: "create" })), 2);
  equal(counts.concernedBy(flowRequest({ verb: "update", name: "a" })), 3);
  counts.ended(flowRequest({ verb: "watch", namespace: "" }));
  equal(counts.concernedBy(flowRequest({ verb: "create" })), 1);
});

import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { JsonObject } from "../../../machinery/object.ts";
import { parseTime } from "../../../machinery/time.ts";
import { availableInMs, isActive, isAvailable, isReady, isTerminal, isTerminating, readySinceMs } from "./readiness.ts";
import { sentPod } from "./testing/pods.ts";

const NOON_MS = parseTime("2026-01-01T12:00:00Z") ?? 0;

for (const { it, metadata = {}, status = {}, active, terminal, terminating } of [
  { it: "without a status", active: true, terminal: false, terminating: false },
  { it: "that is running", status: { phase: "Running" }, active: true, terminal: false, terminating: false },
  { it: "that succeeded", status: { phase: "Succeeded" }, active: false, terminal: true, terminating: false },
  { it: "that failed", status: { phase: "Failed" }, active: false, terminal: true, terminating: false },
  {
    it: "that is being deleted",
    metadata: { deletionTimestamp: "2026-01-01T12:00:00Z" },
    active: false,
    terminal: false,
    terminating: true,
  },
  {
    it: "that failed and is being deleted",
    metadata: { deletionTimestamp: "2026-01-01T12:00:00Z" },
    status: { phase: "Failed" },
    active: false,
    terminal: true,
    terminating: false,
  },
] satisfies readonly {
  it: string;
  metadata?: JsonObject;
  status?: JsonObject;
  active: boolean;
  terminal: boolean;
  terminating: boolean;
}[]) {
  test(`a Pod ${it} is ${active ? "active" : terminating ? "terminating" : "neither active nor terminating"}`, () => {
    const pod = sentPod({ metadata, status });

    deepEqual([isActive(pod), isTerminal(pod), isTerminating(pod)], [active, terminal, terminating]);
  });
}

for (const { it, conditions, minReadySeconds, ready, available, inMs } of [
  { it: "without conditions", conditions: undefined, minReadySeconds: 0, ready: false, available: false, inMs: undefined },
  {
    it: "that is not ready",
    conditions: [{ type: "Ready", status: "False" }],
    minReadySeconds: 0,
    ready: false,
    available: false,
    inMs: undefined,
  },
  {
    it: "ready since an unknown time",
    conditions: [{ type: "Ready", status: "True" }],
    minReadySeconds: 0,
    ready: true,
    available: true,
    inMs: undefined,
  },
  {
    it: "ready since an unknown time, with minReadySeconds",
    conditions: [{ type: "Ready", status: "True" }],
    minReadySeconds: 1,
    ready: true,
    available: false,
    inMs: undefined,
  },
  {
    it: "ready since Go's zero time, with minReadySeconds",
    conditions: readySince("0001-01-01T00:00:00Z"),
    minReadySeconds: 1,
    ready: true,
    available: false,
    inMs: undefined,
  },
  {
    it: "ready for less than minReadySeconds",
    conditions: readySince("2026-01-01T11:59:51Z"),
    minReadySeconds: 10,
    ready: true,
    available: false,
    inMs: 1000,
  },
  {
    it: "ready for exactly minReadySeconds",
    conditions: readySince("2026-01-01T11:59:50Z"),
    minReadySeconds: 10,
    ready: true,
    available: true,
    inMs: 0,
  },
  {
    it: "ready for longer than minReadySeconds",
    conditions: readySince("2026-01-01T11:59:40Z"),
    minReadySeconds: 10,
    ready: true,
    available: true,
    inMs: -10_000,
  },
]) {
  test(`a Pod ${it} is ${ready ? "" : "not "}ready and ${available ? "" : "not "}available`, () => {
    const pod = sentPod({ status: conditions === undefined ? {} : { conditions } });
    const rule = { minReadySeconds, nowMs: NOON_MS };

    deepEqual([isReady(pod), isAvailable(pod, rule), availableInMs(pod, rule)], [ready, available, inMs]);
  });
}

test("a Pod that is no longer ready has no ready time", () => {
  const conditions = [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T11:00:00Z" }];

  equal(readySinceMs(sentPod({ status: { conditions } })), undefined);
  equal(readySinceMs(sentPod({ status: { conditions: readySince("2026-01-01T12:00:00Z") } })), NOON_MS);
});

function readySince(lastTransitionTime: string) {
  return [
    { type: "Initialized", status: "False" },
    { type: "Ready", status: "True", lastTransitionTime },
  ];
}

/** The table of Pods. The cells are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTime } from "../../../machinery/time.ts";
import type { JsonObject } from "../../../machinery/object.ts";
import { podColumns, podRowConditions } from "./columns.ts";
import { newPod, sentPod, type PodParts } from "./testing/pods.ts";

const NOW_MS = 1_700_000_000_000;

function ago(seconds: number): string {
  return formatTime(NOW_MS - seconds * 1000);
}

function status(name: string, state: JsonObject, more: JsonObject = {}): JsonObject {
  return { name, ready: false, restartCount: 0, state, ...more };
}

function restarted(count: number, secondsAgo: number): JsonObject {
  return { restartCount: count, lastState: { terminated: { exitCode: 1, finishedAt: ago(secondsAgo) } } };
}

/** Name and age are common to all kinds. */
function cellsOf(parts: PodParts, names: readonly string[]): readonly unknown[] {
  return names.map((name) => podColumns.find((column) => column.name === name)?.value(sentPod(parts), { nowMs: NOW_MS }));
}

const TWO = {
  spec: {
    containers: [
      { name: "a", image: "x" },
      { name: "b", image: "x" },
    ],
  },
};
const INIT = {
  spec: {
    initContainers: [
      { name: "i", image: "x" },
      { name: "s", image: "x", restartPolicy: "Always" },
    ],
  },
};
const DELETED = { metadata: { deletionTimestamp: ago(1) } };
const COMPLETED = { terminated: { exitCode: 0, reason: "Completed" } };
const RUNS = { running: {} };
const READY = { ready: true };

type Row = readonly [title: string, pod: PodParts, status: JsonObject, cells: readonly [ready: string, status: string, restarts: string]];

const ROWS: readonly Row[] = [
  ["waits", {}, { phase: "Pending" }, ["0/1", "Pending", "0"]],
  ["runs", {}, { phase: "Running", containerStatuses: [status("web", RUNS, READY)] }, ["1/1", "Running", "0"]],
  ["was evicted", {}, { phase: "Failed", reason: "Evicted" }, ["0/1", "Evicted", "0"]],
  ["is done", {}, { phase: "Succeeded", containerStatuses: [status("web", COMPLETED)] }, ["0/1", "Completed", "0"]],
  [
    "crashes",
    {},
    { phase: "Running", containerStatuses: [status("web", { waiting: { reason: "CrashLoopBackOff" } }, restarted(5, 310))] },
    ["0/1", "CrashLoopBackOff", "5 (5m10s ago)"],
  ],
  ["was restarted some time", {}, { containerStatuses: [status("web", RUNS, { ready: true, restartCount: 5 })] }, ["1/1", "", "5"]],
  ["failed", {}, { phase: "Failed", containerStatuses: [status("web", { terminated: { exitCode: 3 } })] }, ["0/1", "ExitCode:3", "0"]],
  [
    "was killed",
    {},
    { phase: "Failed", containerStatuses: [status("web", { terminated: { exitCode: 3, signal: 9 } })] },
    ["0/1", "Signal:9", "0"],
  ],
  [
    "has one container left and is ready",
    TWO,
    {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [status("a", COMPLETED), status("b", RUNS, READY)],
    },
    ["1/2", "Running", "0"],
  ],
  [
    "has one container left and is not ready",
    TWO,
    { phase: "Running", containerStatuses: [status("a", COMPLETED), status("b", RUNS, READY)] },
    ["1/2", "NotReady", "0"],
  ],
  [
    "is done in part and failed in part",
    TWO,
    { phase: "Running", containerStatuses: [status("a", COMPLETED), status("b", { terminated: { exitCode: 1, reason: "Error" } })] },
    ["0/2", "Error", "0"],
  ],
  [
    "waits behind a gate",
    {},
    { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    ["0/1", "SchedulingGated", "0"],
  ],
  [
    "runs its first init container",
    INIT,
    { phase: "Pending", initContainerStatuses: [status("i", RUNS), status("s", { waiting: { reason: "PodInitializing" } })] },
    ["0/2", "Init:0/2", "0"],
  ],
  [
    "starts its sidecar",
    INIT,
    { initContainerStatuses: [status("i", COMPLETED), status("s", RUNS, { started: false })] },
    ["0/2", "Init:1/2", "0"],
  ],
  [
    "cannot pull the image of an init container",
    INIT,
    { initContainerStatuses: [status("i", { waiting: { reason: "ImagePullBackOff" } })] },
    ["0/2", "Init:ImagePullBackOff", "0"],
  ],
  [
    "has an init container that failed",
    INIT,
    { initContainerStatuses: [status("i", { terminated: { exitCode: 2 } }, restarted(2, 20))] },
    ["0/2", "Init:ExitCode:2", "2 (20s ago)"],
  ],
  [
    "has an init container that was killed",
    INIT,
    { initContainerStatuses: [status("i", { terminated: { exitCode: 2, signal: 9 } })] },
    ["0/2", "Init:Signal:9", "0"],
  ],
  [
    "runs beside its sidecar, whose restarts count",
    INIT,
    {
      phase: "Running",
      initContainerStatuses: [
        status("i", COMPLETED, { restartCount: 3 }),
        status("s", RUNS, { started: true, ready: true, ...restarted(2, 400) }),
      ],
      containerStatuses: [status("web", RUNS, { ready: true, restartCount: 1 })],
    },
    ["2/2", "Running", "3 (6m40s ago)"],
  ],
  [
    "runs although its sidecar does not",
    INIT,
    {
      phase: "Running",
      conditions: [{ type: "Initialized", status: "True" }],
      initContainerStatuses: [status("i", COMPLETED), status("s", { waiting: { reason: "CrashLoopBackOff" } }, { restartCount: 4 })],
      containerStatuses: [status("web", RUNS, READY)],
    },
    ["1/2", "Init:CrashLoopBackOff", "4"],
  ],
  ["ends", DELETED, { phase: "Running" }, ["0/1", "Terminating", "0"]],
  ["ends on a node that is lost", DELETED, { phase: "Running", reason: "NodeLost" }, ["0/1", "Unknown", "0"]],
  ["ends and has failed", DELETED, { phase: "Failed" }, ["0/1", "Failed", "0"]],
];

for (const [title, pod, reported, cells] of ROWS) {
  test(`a Pod that ${title} has the status cell ${cells[1] === "" ? "nothing" : cells[1]}`, () => {
    assert.deepEqual(cellsOf({ ...pod, status: reported }, ["Ready", "Status", "Restarts"]), cells);
  });
}

const WIDE = ["IP", "Node", "Nominated Node", "Readiness Gates"];

test("the wide columns of Pods show node, addresses and readiness gates", () => {
  const spec = { nodeName: "node1", readinessGates: [{ conditionType: "a.b/c" }, { conditionType: "d.e/f" }] };
  const reported = {
    podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }],
    nominatedNodeName: "n1",
    conditions: [{ type: "a.b/c", status: "True" }],
  };

  assert.deepEqual(cellsOf({ spec, status: reported }, WIDE), ["10.0.0.1", "node1", "n1", "1/2"]);
  assert.deepEqual(cellsOf({}, WIDE), ["<none>", "<none>", "<none>", "<none>"]);
});

test("the columns of Pods are upstream's, in its order", () => {
  const names = podColumns.map(({ name, priority }) => `${name} ${priority}`);

  assert.deepEqual(names, [
    "Name 0",
    "Ready 0",
    "Status 0",
    "Restarts 0",
    "Age 0",
    "IP 1",
    "Node 1",
    "Nominated Node 1",
    "Readiness Gates 1",
  ]);
});

test("rows of finished Pods have the condition Completed", () => {
  const reasons = (["Pending", "Succeeded", "Failed"] as const).map(
    (phase) => podRowConditions({ ...newPod({}), status: { phase } })[0]?.reason,
  );

  assert.deepEqual(reasons, [undefined, "Succeeded", "Failed"]);
});

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRecord } from "./home/cluster-record.ts";
import type { ClusterStatus } from "./observe-cluster.ts";
import { statusLines, statusObject } from "./status-lines.ts";

const RECORD: ClusterRecord = {
  name: "default",
  state: "running",
  process: { pid: 42, started: "1" },
  version: "1.2.3",
  kubernetesVersion: "v1.36.0",
  mode: "one process",
  isDetached: true,
  since: "2026-01-01T00:00:00.000Z",
  logFile: "/h/logs/k8ts.log",
  runtimeDirectory: "/run/k8ts/x",
  server: "https://127.0.0.1:6443",
  context: "k8ts",
  kubeconfig: "/k/config",
  node: { name: "box", runtimeEndpoint: "unix:///run/c.sock", runtime: "containerd 1.6.20" },
  parts: [
    { name: "store", description: "in /h" },
    { name: "API server", description: "x" },
    { name: "nodes", description: "x" },
    { name: "node", description: "x" },
  ],
};

const base: ClusterStatus = { name: "default", directory: "/h", state: "running", record: RECORD };

test("a running cluster is shown with all known facts", () => {
  const nodes = [{ name: "box", ready: "Ready", runtime: "containerd://1.6.20" }];
  deepEqual(statusLines({ ...base, api: { answers: true, nodes, podsByPhase: { Running: 3, Pending: 2 } } }), [
    'cluster "default": running',
    "  directory:   /h",
    "  process:     42, since 2026-01-01T00:00:00.000Z",
    "  version:     k8ts 1.2.3, Kubernetes v1.36.0",
    "  API server:  https://127.0.0.1:6443, answers",
    "  store:       in /h",
    "  node:        box Ready (containerd://1.6.20)",
    "  pods:        5 (3 Running, 2 Pending)",
    "  runtime:     containerd 1.6.20 at unix:///run/c.sock",
    "  context:     k8ts in /k/config",
    "  log:         /h/logs/k8ts.log",
  ]);
});

test("many nodes are summarized by their number", () => {
  const nodes = Array.from({ length: 11 }, (_, index) => ({ name: `n${index}`, ready: index === 0 ? "NotReady" : "Ready" }));
  const lines = statusLines({ ...base, api: { answers: true, nodes, podsByPhase: {} } });
  deepEqual(
    lines.filter((line) => /node|pod/.test(line)),
    ["  nodes:       11, 10 Ready", "  pods:        none"],
  );
});

test("an unresponsive server is shown with the reason", () => {
  const lines = statusLines({ ...base, api: { answers: false, why: "connection refused" } });
  deepEqual(lines[4], "  API server:  https://127.0.0.1:6443, does not respond: connection refused");
});

test("a killed cluster is shown as killed, without facts of running components", () => {
  const lines = statusLines({ ...base, state: "killed" });
  deepEqual(
    lines.map((line) => line.slice(0, 30)),
    [
      'cluster "default": stopped (its',
      "  directory:   /h",
      "  version:     k8ts 1.2.3, Kub",
      "  runtime:     containerd 1.6.",
      "  context:     k8ts in /k/conf",
      "  log:         /h/logs/k8ts.lo",
    ].map((line) => line.slice(0, 30)),
  );
});

test("a running cluster with a corrupt record is shown with its process and the remedy", () => {
  const process = { pid: 42, started: "1" };
  const status: ClusterStatus = {
    ...{ name: "a", directory: "/h", state: "running" },
    unrecorded: { process, damagedRecord: "/h/run/cluster.json" },
  };
  deepEqual(statusLines(status), [
    'cluster "a": running',
    "  directory:   /h",
    "  process:     42",
    "  record:      /h/run/cluster.json is corrupt; k8ts down stops the cluster, and the next k8ts up rewrites the file",
  ]);
  deepEqual(statusObject(status), {
    ...{ name: "a", directory: "/h", state: "running" },
    ...{ process, damagedRecord: "/h/run/cluster.json" },
  });
});

test("a stopped cluster is shown with its directory only", () => {
  deepEqual(statusLines({ name: "a", directory: "/h", state: "stopped" }), ['cluster "a": stopped', "  directory:   /h"]);
});

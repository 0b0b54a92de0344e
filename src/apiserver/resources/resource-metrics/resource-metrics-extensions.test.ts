import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { NodeMetrics, PodMetrics } from "../../../api/generated/metrics.k8s.io/v1beta1.ts";
import type { VirtualClock } from "../../../base/virtual-clock.ts";
import type { ConnectionCall, NodeConnector } from "../../framework/node-connector.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const METRICS = "/apis/metrics.k8s.io/v1beta1";

/** Every node has the Pods shop/web (half a core) and shop/db; the kubelet of "broken" does not work, that of "silent" does not respond. */
class Kubelets implements NodeConnector {
  readonly calls: string[] = [];
  clock: VirtualClock | undefined;

  connect({ target, path, query, signal }: ConnectionCall) {
    const name = target.is === "kubelet" ? target.node.name : "";
    this.calls.push(`${name} ${path}?${query}`);
    if (name === "silent") return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    if (name === "broken") return Promise.resolve({ code: 500, headers: {}, body: [] });
    const nowMs = this.clock?.now() ?? 0;
    const seconds = (nowMs - Date.UTC(2026, 0, 1)) / 1_000;
    const lines = [
      ...["web", "db"].flatMap((pod, index) => [
        `container_cpu_usage_seconds_total{container="main",pod="${pod}",namespace="shop"} ${seconds * 0.5 * (1 - index)} ${nowMs}`,
        `container_memory_working_set_bytes{container="main",pod="${pod}",namespace="shop"} ${1_048_576 * (index + 1)} ${nowMs}`,
      ]),
      `node_cpu_usage_seconds_total ${seconds * 2} ${nowMs}`,
      `node_memory_working_set_bytes 1073741824 ${nowMs}`,
    ];
    return Promise.resolve({ code: 200, headers: {}, body: [new TextEncoder().encode(`${lines.join("\n")}\n`)] });
  }
}

async function started(nodes: readonly string[]): Promise<{ readonly server: StartedServer; readonly kubelets: Kubelets }> {
  const kubelets = new Kubelets();
  const server = await startServer({ connector: kubelets });
  kubelets.clock = server.clock;
  await server.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  for (const name of nodes) {
    const status = { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] };
    await server.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels: { disk: name } }, status });
  }
  for (const name of ["web", "db"]) {
    const spec = { nodeName: nodes[0] ?? "", containers: [{ name: "main", image: "i" }] };
    await server.call("POST", "/api/v1/namespaces/shop/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: name } },
      spec,
    });
    await server.call(
      "PATCH",
      `/api/v1/namespaces/shop/pods/${name}/status`,
      { status: { phase: "Running" } },
      { "content-type": "application/merge-patch+json" },
    );
  }
  return { server, kubelets };
}

/** The measurement takes time. */
async function read({ call, clock }: StartedServer, path: string, afterMs = 1_000): Promise<CallAnswer> {
  const answer = call("GET", `${METRICS}${path}`);
  await clock.advance(afterMs);
  return answer;
}

test("NodeMetrics has the labels of the Node and its usage, and a node that does not respond is missing", async () => {
  const { server, kubelets } = await started(["one", "broken", "silent"]);
  await using _ = server;

  const { body } = await read(server, "/nodes", 20_000);

  deepEqual(
    (body.items as readonly NodeMetrics[]).map(({ metadata, usage, window }) => [metadata.name, metadata.labels, usage, window]),
    [["one", { disk: "one" }, { cpu: "2", memory: "1Gi" }, "6s"]],
  );
  equal(kubelets.calls.includes("one /metrics/resource?node=one"), true);
});

test("PodMetrics selects by namespace, name and labels, and measures once for many readers", async () => {
  const { server, kubelets } = await started(["one"]);
  await using _ = server;

  const answers = [
    server.call("GET", `${METRICS}/pods?labelSelector=app%3Dweb`),
    server.call("GET", `${METRICS}/namespaces/shop/pods`),
    server.call("GET", `${METRICS}/namespaces/default/pods`),
    server.call("GET", `${METRICS}/namespaces/shop/pods/db`),
    server.call("GET", `${METRICS}/namespaces/shop/pods/none`),
  ];
  await server.clock.advance(1_000);
  const [selected, all, elsewhere, one, none] = await Promise.all(answers);

  deepEqual(
    ((selected?.body.items ?? []) as readonly PodMetrics[]).map(({ metadata: { creationTimestamp: _created, ...metadata }, ...rest }) => ({
      metadata,
      ...rest,
    })),
    [
      {
        metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
        timestamp: "2026-01-01T00:00:01Z",
        window: "1s",
        containers: [{ name: "main", usage: { cpu: "500m", memory: "1Mi" } }],
      },
    ],
  );
  deepEqual([all?.body.items.length, elsewhere?.body.items.length, one?.body.metadata.name], [2, 0, "db"]);
  deepEqual([none?.code, none?.body.message], [404, 'podmetrics.metrics.k8s.io "shop/none" not found']);
  equal(kubelets.calls.length, 2);
});

test("a measurement is repeated after 5 s, over the window since the last one, and from scratch after a pause", async () => {
  const { server, kubelets } = await started(["one"]);
  await using _ = server;
  const windowAfter = async (ms: number, waitMs: number) => {
    await server.clock.advance(ms);
    return (await read(server, "/nodes/one", waitMs)).body.window;
  };

  deepEqual(
    [await windowAfter(0, 1_000), await windowAfter(4_000, 0), await windowAfter(11_000, 0), await windowAfter(600_000, 1_000)],
    ["1s", "1s", "15s", "1s"],
  );
  equal(kubelets.calls.length, 5);
});

test("tables of metrics have the columns of metrics-server", async () => {
  const { server } = await started(["one"]);
  await using _ = server;
  const tableOf = async (path: string) => {
    const answer = server.call("GET", `${METRICS}${path}`, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    await server.clock.advance(1_000);
    const { columnDefinitions, rows } = (await answer).body as Table;
    return [columnDefinitions.map(({ name }) => name), rows.map(({ cells }) => cells)];
  };

  deepEqual(await tableOf("/nodes"), [["Name", "cpu", "memory", "Window"], [["one", "2", "1Gi", "1s"]]]);
  deepEqual(await tableOf("/namespaces/shop/pods"), [
    ["Name", "cpu", "memory", "Window"],
    [
      ["db", "0", "2Mi", "1s"],
      ["web", "500m", "1Mi", "1s"],
    ],
  ]);
});

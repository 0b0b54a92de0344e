import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { ConnectionCall, NodeConnector } from "../framework/node-connector.ts";
import { startServer, type CallAnswer, type StartedServer } from "../testing/server.ts";

const CUSTOM = "/apis/custom.metrics.k8s.io";
const EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop";

/** Pages of Pods by their name; a counter `requests_total` increases by the given rate. */
class Pages implements NodeConnector {
  readonly calls: string[] = [];
  clock: VirtualClock | undefined;
  readonly #rates: Readonly<Record<string, number>>;

  constructor(rates: Readonly<Record<string, number>>) {
    this.#rates = rates;
  }

  connect({ target, path, query }: ConnectionCall) {
    const name = target.is === "server" ? (target.pod?.name ?? "") : "";
    this.calls.push(`${name} ${target.is === "server" ? `${target.scheme}://${target.host}:${target.port}` : ""}${path}?${query}`);
    const rate = this.#rates[name];
    if (rate === undefined) return Promise.reject(new Error("connection refused"));
    const seconds = ((this.clock?.now() ?? 0) - Date.UTC(2026, 0, 1)) / 1_000;
    const page = [
      "# TYPE requests_total counter",
      `requests_total{code="200"} ${seconds * rate}`,
      `requests_total{code="500"} ${seconds}`,
      "# TYPE queue_length gauge",
      `queue_length{queue="mail"} ${rate}`,
      'queue_length{queue="bills"} 2.5',
      "# TYPE latency_seconds histogram",
      `latency_seconds_bucket{le="+Inf"} ${seconds}`,
      `latency_seconds_count ${seconds}`,
    ].join("\n");
    return Promise.resolve({ code: 200, headers: {}, body: [new TextEncoder().encode(page)] });
  }
}

async function createPod({ call }: StartedServer, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const spec = { nodeName: "one", containers: [{ name: "main", image: "i", ports: [{ containerPort: 8080 }] }] };
  const metadata = { name, labels: { app: name.split("-")[0] ?? "" }, annotations };
  await call("POST", "/api/v1/namespaces/shop/pods", { apiVersion: "v1", kind: "Pod", metadata, spec });
  const status = { phase: "Running", podIP: "10.244.0.5", podIPs: [{ ip: "10.244.0.5" }] };
  const type = { "content-type": "application/merge-patch+json" };
  await call("PATCH", `/api/v1/namespaces/shop/pods/${name}/status`, { status }, type);
}

async function started(rates: Readonly<Record<string, number>>): Promise<{ readonly server: StartedServer; readonly pages: Pages }> {
  const pages = new Pages(rates);
  const server = await startServer({ connector: pages, config: { podMetricsApis: true } });
  pages.clock = server.clock;
  await server.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  for (const name of Object.keys(rates)) await createPod(server, name, { "prometheus.io/scrape": "true" });
  return { server, pages };
}

/** The first scrape waits for the second one. */
async function read({ call, clock }: StartedServer, path: string): Promise<CallAnswer> {
  const answer = call("GET", path);
  await clock.advance(1_000);
  return answer;
}

test("a custom metric of Pods is the rate of a counter, summed over the selected series of each Pod", async () => {
  const { server } = await started({ "web-1": 10, "web-2": 20, "db-1": 5 });
  await using _ = server;
  const path = `${CUSTOM}/v1beta2/namespaces/shop/pods/*/requests?labelSelector=app%3Dweb&metricLabelSelector=code%3D200`;

  const { code, body } = await read(server, path);

  const item = (name: string, value: string) => ({
    describedObject: { kind: "Pod", namespace: "shop", name, apiVersion: "v1" },
    metric: { name: "requests" },
    timestamp: "2026-01-01T00:00:01Z",
    value,
    windowSeconds: 1,
  });
  equal(code, 200);
  deepEqual(body, {
    kind: "MetricValueList",
    apiVersion: "custom.metrics.k8s.io/v1beta2",
    metadata: {},
    items: [item("web-1", "10"), item("web-2", "20")],
  });
});

test("a custom metric of a Service, a Deployment and a namespace is the sum over their Pods, in both versions", async () => {
  const { server } = await started({ "web-1": 10, "web-2": 20, "db-1": 5 });
  await using _ = server;
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  };
  await server.call("POST", "/api/v1/namespaces/shop/services", service);
  const template = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "main", image: "i" }] } };
  await server.call("POST", "/apis/apps/v1/namespaces/shop/deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "db" },
    spec: { selector: { matchLabels: { app: "db" } }, template },
  });
  const valueOf = async (path: string) => {
    const { body } = await read(server, `${CUSTOM}${path}`);
    return body.items.map((item: Readonly<Record<string, unknown>>) => [
      item["describedObject"],
      item["metricName"] ?? item["metric"],
      item["value"],
    ]);
  };

  deepEqual(await valueOf("/v1beta1/namespaces/shop/services/web/queue_length"), [
    [{ kind: "Service", namespace: "shop", name: "web", apiVersion: "v1" }, "queue_length", "35"],
  ]);
  deepEqual(await valueOf("/v1beta2/namespaces/shop/deployments.apps/db/queue_length"), [
    [{ kind: "Deployment", namespace: "shop", name: "db", apiVersion: "apps/v1" }, { name: "queue_length" }, "7500m"],
  ]);
  deepEqual(await valueOf("/v1beta2/namespaces/shop/metrics/latency_seconds_count"), [
    [{ kind: "Namespace", name: "shop", apiVersion: "v1" }, { name: "latency_seconds_count" }, "3"],
  ]);
});

test("an external metric has one value per series of the namespace's Pods", async () => {
  const { server } = await started({ "exporter-1": 7 });
  await using _ = server;

  const { body } = await read(server, `${EXTERNAL}/queue_length?labelSelector=queue%21%3Dbills`);

  deepEqual(body, {
    kind: "ExternalMetricValueList",
    apiVersion: "external.metrics.k8s.io/v1beta1",
    metadata: {},
    items: [{ metricName: "queue_length", metricLabels: { queue: "mail" }, timestamp: "2026-01-01T00:00:01Z", value: "7" }],
  });
});

test("an in-process client reads an external metric as a list, as over HTTP", async () => {
  const { server } = await started({ "exporter-1": 7 });
  await using _ = server;
  const request = { group: "external.metrics.k8s.io", version: "v1beta1", plural: "queue_length", namespace: "shop" };

  const answer = server.transport().request({ verb: "list", ...request });
  await server.clock.advance(1_000);
  const response = await answer;

  deepEqual([response.is, response.is === "list" && response.items.length], ["list", 2]);
});

const REFUSED: readonly [method: string, path: string, code: number, message: string][] = [
  ["GET", `${CUSTOM}/v1beta2/namespaces/shop/pods/*/none`, 404, "the server could not find the metric none for pods"],
  [
    "GET",
    `${CUSTOM}/v1beta2/namespaces/shop/pods/web-9/queue_length`,
    404,
    "the server could not find the metric queue_length for pods web-9",
  ],
  ["GET", `${CUSTOM}/v1beta2/namespaces/shop/metrics/none`, 404, "the server could not find the metric none for namespace shop"],
  ["GET", `${CUSTOM}/v1beta2/namespaces/shop/wishes/a/queue_length`, 404, "the server could not find the metric queue_length for wishes a"],
  ["GET", `${EXTERNAL}/none`, 404, "the server could not find the metric none for namespace shop"],
  [
    "DELETE",
    `${CUSTOM}/v1beta2/namespaces/shop/pods/web-1/queue_length`,
    405,
    "the server does not allow this method on the requested resource",
  ],
  ["GET", `${CUSTOM}/v1beta3/namespaces/shop/pods/web-1/queue_length`, 404, "the server could not find the requested resource"],
];

for (const [method, path, code, message] of REFUSED) {
  test(`${method} ${path} is answered with ${code}`, async () => {
    const { server } = await started({ "web-1": 1 });
    await using _ = server;

    const answer = server.call(method, path);
    await server.clock.advance(1_000);
    const { code: actual, body } = await answer;

    deepEqual([actual, body.message], [code, message]);
  });
}

test("one scrape serves many readers for 5 s, and the next rates are over the time since", async () => {
  const { server, pages } = await started({ "web-1": 10 });
  await using _ = server;
  const path = `${CUSTOM}/v1beta2/namespaces/shop/pods/web-1/requests`;

  const first = (await read(server, path)).body.items[0];
  await server.clock.advance(3_000);
  const second = (await server.call("GET", path)).body.items[0];
  await server.clock.advance(12_000);
  const third = (await server.call("GET", path)).body.items[0];

  deepEqual([first.windowSeconds, second.windowSeconds, third.windowSeconds], [1, 1, 15]);
  equal(pages.calls.length, 3);
});

test("annotations select port, path and scheme, and a Pod that does not respond has no metrics", async () => {
  const { server, pages } = await started({ "web-1": 1 });
  await using _ = server;
  await createPod(server, "web-2", {
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "9",
    "prometheus.io/path": "a?b=c",
    "prometheus.io/scheme": "https",
  });
  await createPod(server, "web-3", { "prometheus.io/scrape": "true", "prometheus.io/port": "no" });
  await createPod(server, "web-4", {});

  const { body } = await read(server, `${CUSTOM}/v1beta2/namespaces/shop/pods/*/queue_length`);

  equal(body.items.length, 1);
  deepEqual([...new Set(pages.calls)].sort(), ["web-1 http://10.244.0.5:8080/metrics?", "web-2 https://10.244.0.5:9/a?b=c"]);
});

test("discovery lists the metrics in both forms, and nothing of them if the APIs are disabled", async () => {
  const { server } = await started({ "web-1": 1 });
  await using _ = server;
  await using without = await startServer();

  const plain = await read(server, `${CUSTOM}/v1beta1`);
  const groups = await server.call("GET", "/apis");
  const aggregated = await server.call("GET", "/apis", undefined, {
    accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  });

  const names = ["latency_seconds_count", "queue_length", "requests"];
  deepEqual(
    plain.body.resources.map(({ name }: { readonly name: string }) => name),
    ["namespaces", "pods", "services"].flatMap((resource) => names.map((metric) => `${resource}/${metric}`)),
  );
  const named = (group: string) => groups.body.groups.find(({ name }: { readonly name: string }) => name === group);
  equal(named("custom.metrics.k8s.io").preferredVersion.version, "v1beta2");
  const external = aggregated.body.items.find(
    ({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name === "external.metrics.k8s.io",
  );
  deepEqual(external.versions[0].resources[1], {
    resource: "queue_length",
    responseKind: { group: "", version: "", kind: "ExternalMetricValueList" },
    scope: "Namespaced",
    singularResource: "",
    verbs: ["get"],
  });
  equal((await without.call("GET", `${CUSTOM}/v1beta1`)).code, 404);
});

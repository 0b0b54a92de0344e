/** Endpoints and proxies of network/ingress, one task per process. */
import { once } from "node:events";
import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLogger } from "../../src/base/logger.ts";
import { createProxyServer } from "../../src/host/http/proxy/proxy-server.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { selfSigned } from "../../src/components/node/kubelet-certificate.ts";
import { computeRoutes } from "../../src/ingress/compute/compute-routes.ts";
import { IngressHandler } from "../../src/ingress/serve/ingress-handler.ts";
import { IngressMetrics } from "../../src/ingress/serve/ingress-metrics.ts";
import { serve } from "../serve.ts";

/** A small page. */
const BODY = Buffer.alloc(512, "x");

const HOST = "web.example";

const tasks = {
  /** Ports of `count` servers. */
  async endpoints(count: number): Promise<readonly number[]> {
    const servers = Array.from({ length: count }, () =>
      createServer({ keepAliveTimeout: 600_000 }, (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain", "content-length": BODY.length });
        response.end(BODY);
      }),
    );
    return Promise.all(servers.map(listen));
  },

  /** The least that a reverse proxy in Node does: no routes, no headers of its own, no retries, no metrics. */
  async bare(endpoints: readonly number[]): Promise<number> {
    const agent = new Agent({ keepAlive: true, scheduling: "lifo" });
    let turn = 0;
    const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
      const port = endpoints[turn++ % endpoints.length];
      const sent = request({ host: "127.0.0.1", port, path: incoming.url, method: incoming.method, headers: incoming.headers, agent });
      sent.on("response", (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      sent.on("error", () => response.destroy());
      incoming.pipe(sent);
    });
    return listen(server);
  },

  /** The data plane with a routing table of 1,000 Ingresses. */
  async ingress(endpoints: readonly number[]): Promise<number> {
    const metrics = new IngressMetrics();
    const onFinished: ConstructorParameters<typeof IngressHandler>[0]["onFinished"] = (record, ingress) => metrics.count(record, ingress);
    const handler = new IngressHandler({ clock: realClock, httpsPort: () => 443, onFinished });
    const table = computeRoutes({
      ingresses: [HOST, ...Array.from({ length: 999 }, (_, index) => `host-${index}.example`)].map(ingressOf),
      classes: [
        { apiVersion: "networking.k8s.io/v1", kind: "IngressClass", metadata: { name: "k8ts" }, spec: { controller: "k8ts.io/ingress" } },
      ],
      service: (namespace, name) => ({ apiVersion: "v1", kind: "Service", metadata: { namespace, name }, spec: { ports: [{ port: 80 }] } }),
    });
    handler.useTable(table);
    for (const key of table.backends.keys())
      handler.useEndpoints(
        key,
        endpoints.map((port) => ({ address: "127.0.0.1", port })),
      );
    const server = createProxyServer({ handler, defaultCertificate: selfSigned(["bench"], Date.now()), log: silentLogger });
    return server.listen("http", { host: "127.0.0.1", port: 0 });
  },
};

function ingressOf(host: string, index: number) {
  const backend = { service: { name: `web-${index}`, port: { number: 80 } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { namespace: "default", name: `web-${index}` },
    spec: { ingressClassName: "k8ts", rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
  } as const;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export type ProxyTasks = typeof tasks;

serve(tasks);

/** An ingress controller on loopback with the API server of a cluster in the same process, and programs that stand for Pods, for tests. */
import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import type { Event } from "../../api/generated/core/v1.ts";
import { INGRESS_CONTROLLER } from "../../api/identities.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import { startCluster, type Cluster } from "../../testing/index.ts";
import { startIngressController, type IngressController } from "../ingress-controller.ts";

/** EndpointSlices must not have loopback addresses. */
export const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

export const NEEDS_ADDRESS = { skip: ADDRESS === undefined ? "this machine has no address except loopback" : false };

export class IngressScene implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #owned: Disposables;
  readonly cluster: Cluster;
  readonly controller: IngressController;

  private constructor(owned: Disposables, cluster: Cluster, controller: IngressController) {
    this.#owned = owned;
    owned.defer(() => this.#agent.destroy());
    this.cluster = cluster;
    this.controller = controller;
  }

  static async start(lines: string[] = []): Promise<IngressScene> {
    await using starting = new Disposables();
    const cluster = starting.use(await startCluster({ nodes: 0 }));
    const controller = starting.use(
      await startIngressController({
        // Only what its role permits.
        transport: cluster.transport({ userAgent: "k8ts-ingress", identity: INGRESS_CONTROLLER }),
        addresses: ["192.0.2.1"],
        ports: { http: 0, https: 0 },
        host: "127.0.0.1",
        defaultCertificate: testServing(),
        accessLog: (text) => void lines.push(...text.split("\n")),
        ...{ clock: realClock, random: realRandom(), log: silentLogger },
      }),
    );
    return new IngressScene(starting.move(), cluster, controller);
  }

  use<T extends AsyncDisposable>(resource: T): T {
    return this.#owned.use(resource);
  }

  async fetch(host: string, path = "/", { method = "GET", body = "" } = {}): Promise<string> {
    const sent = request({ host: "127.0.0.1", port: this.controller.ports.http, path, method, headers: { host }, agent: this.#agent });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return `${response.statusCode} ${(await text(response)).trim()}`;
  }

  endpointCount(): number {
    return Number(/^k8ts_ingress_endpoints (\d+)$/m.exec(prometheusText(this.controller.metrics()))?.[1]);
  }

  /** "refused" while it does not listen. */
  answer(host: string, path = "/"): Promise<string> {
    return this.fetch(host, path).catch((error: NodeJS.ErrnoException) => (error.code === "ECONNREFUSED" ? "refused" : String(error)));
  }

  async eventsOf(name: string): Promise<readonly string[]> {
    const { items } = await this.cluster.client.list<Event>(EVENTS, { namespace: "default" });
    return items
      .filter(({ involvedObject, type }) => involvedObject.name === name && type === "Warning")
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
}

const EVENTS = { kind: "Event", plural: "events", scope: "Namespaced", storage: { group: "", version: "v1" } } as const;

export interface Pod extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
}

/** A server that says its name, at ADDRESS. */
export async function startPod(name: string, delayMs = 0): Promise<Pod> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    setTimeout(() => response.end(`${name} ${incoming.url}`), delayMs);
  });
  server.listen(0);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function service(name: string): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ name: "http", port: 80 }] } };
}

/** One slice per Pod, since each has a port of its own here. */
export function slice(service: string, name: string, port: number, conditions: object = { ready: true }): object {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    ports: [{ name: "http", port }],
    endpoints: [{ addresses: [ADDRESS], conditions }],
  };
}

export function ingress(
  name: string,
  host: string,
  service: string,
  more: { readonly spec?: object; readonly annotations?: object } = {},
): object {
  const backend = { service: { name: service, port: { number: 80 } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, annotations: more.annotations ?? {} },
    spec: { rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }], ...more.spec },
  };
}

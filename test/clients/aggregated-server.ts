/**
 * An aggregated API server over real HTTPS: Flunders in memory with create, get, list, watch and delete, discovery, OpenAPI v3, and an echo
 * over an upgraded connection. It trusts a front proxy by its certificate, and records who asked for what. It can be made slow or broken.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { PURPOSE } from "../../src/api/machinery/x509/extensions.ts";
import { sharedPki, testAuthority, type TestAuthority } from "../../src/testing/fixtures/certificates.ts";

export const FLUNDER_GROUP = "wardle.example.com";
const VERSION = `${FLUNDER_GROUP}/v1alpha1`;
const DISCOVERY = `/apis/${VERSION}`;
/** The Service that leads to it: its certificate is for this name. */
const SERVICE = { namespace: "default", name: "wardle" };

interface Flunder {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion?: string };
}

export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly user: string;
  readonly groups: string;
}

export class AggregatedServer implements AsyncDisposable {
  readonly authority: TestAuthority;
  readonly asked: AskedRequest[] = [];
  /** Answers instead of the usual ones if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly #server: Server;
  readonly #flunders = new Map<string, Flunder>();
  readonly #watchers = new Set<ServerResponse>();
  #revision = 1;

  private constructor(server: Server, authority: TestAuthority) {
    this.#server = server;
    this.authority = authority;
  }

  /** `name`: of its certificate. */
  static async start(name = `${SERVICE.name}.${SERVICE.namespace}.svc`): Promise<AggregatedServer> {
    const authority = testAuthority("aggregated");
    const { frontProxyAuthority } = await sharedPki();
    const { certificate: cert, key } = authority.sign(name, {
      alternativeNames: { dnsNames: [name] },
      extendedKeyUsages: [PURPOSE.server],
    });
    const server = createServer({ cert, key, ca: frontProxyAuthority, requestCert: true, rejectUnauthorized: false });
    const started = new AggregatedServer(server, authority);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void started.#serve(request, response));
    server.on("upgrade", (request: IncomingMessage, socket: TLSSocket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
      socket.write(`hello ${String(request.headers["x-remote-user"])};`);
      socket.on("error", () => undefined).pipe(socket);
    });
    server.listen(0);
    await once(server, "listening");
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The Service and APIService that register it. */
  manifests(spec: object = {}): readonly object[] {
    return [
      { apiVersion: "v1", kind: "Service", metadata: SERVICE, spec: { type: "ExternalName", externalName: "localhost" } },
      {
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: `v1alpha1.${FLUNDER_GROUP}` },
        spec: {
          ...{ group: FLUNDER_GROUP, version: "v1alpha1", groupPriorityMinimum: 2_000, versionPriority: 200 },
          caBundle: Buffer.from(this.authority.certificate).toString("base64"),
          service: { ...SERVICE, port: this.port },
          ...spec,
        },
      },
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://localhost");
    const user = String(request.headers["x-remote-user"] ?? "");
    const groups = String(request.headers["x-remote-group"] ?? "");
    this.asked.push({ method: request.method ?? "", path: pathname, user, groups });
    if (!(request.socket as TLSSocket).authorized) return send(response, 401, failure("Unauthorized", 401));
    if (this.intercept(request, response)) return;
    if (pathname === DISCOVERY) return send(response, 200, RESOURCES);
    if (pathname === "/openapi/v3") return send(response, 200, OPEN_API_INDEX);
    if (pathname === OPEN_API_PATH) return send(response, 200, OPEN_API);
    const [, namespace, name] = FLUNDERS.exec(pathname) ?? [];
    if (namespace === undefined) return send(response, 404, failure("NotFound", 404));
    if (request.method === "POST") return this.#create(request, response, namespace);
    if (request.method === "DELETE") return this.#delete(response, `${namespace}/${name}`);
    if (name !== undefined) return this.#get(response, `${namespace}/${name}`);
    if (searchParams.get("watch") === "true" || searchParams.get("watch") === "1") return this.#watch(response);
    const metadata = { resourceVersion: String(this.#revision) };
    const items = [...this.#flunders.values()].filter((flunder) => flunder.metadata.namespace === namespace);
    send(response, 200, { kind: "FlunderList", apiVersion: VERSION, metadata, items });
  }

  async #create(request: IncomingMessage, response: ServerResponse, namespace: string): Promise<void> {
    const { metadata, ...rest } = JSON.parse(await text(request)) as Flunder;
    const creationTimestamp = new Date().toISOString();
    const flunder = { ...rest, metadata: { ...metadata, namespace, resourceVersion: String(++this.#revision), creationTimestamp } };
    this.#flunders.set(`${namespace}/${metadata.name}`, flunder);
    for (const watcher of this.#watchers) watcher.write(`${JSON.stringify({ type: "ADDED", object: flunder })}\n`);
    send(response, 201, flunder);
  }

  #delete(response: ServerResponse, key: string): void {
    send(response, 200, { kind: "Status", apiVersion: "v1", status: this.#flunders.delete(key) ? "Success" : "Failure" });
  }

  #get(response: ServerResponse, key: string): void {
    const flunder = this.#flunders.get(key);
    if (flunder === undefined) send(response, 404, failure("NotFound", 404));
    else send(response, 200, flunder);
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    this.#watchers.add(response);
    response.on("close", () => this.#watchers.delete(response));
  }
}

const FLUNDERS = new RegExp(`^${DISCOVERY}/namespaces/([^/]+)/flunders(?:/([^/]+))?$`);

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function failure(reason: string, code: number): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", reason, code, message: `the answer is ${reason}` };
}

const RESOURCES = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: VERSION,
  resources: [
    {
      ...{ name: "flunders", singularName: "flunder", namespaced: true, kind: "Flunder", shortNames: ["fl"] },
      verbs: ["create", "delete", "get", "list", "watch"],
    },
  ],
};

const OPEN_API_PATH = `/openapi/v3${DISCOVERY}`;
const OPEN_API_INDEX = { paths: { [DISCOVERY.slice(1)]: { serverRelativeURL: `${OPEN_API_PATH}?hash=1` } } };
const GROUP_VERSION_KIND = { group: FLUNDER_GROUP, version: "v1alpha1", kind: "Flunder" };
const OPEN_API = {
  openapi: "3.0.0",
  info: { title: "Wardle", version: "v1" },
  paths: {
    [`${DISCOVERY}/namespaces/{namespace}/flunders`]: {
      get: { "x-kubernetes-action": "list", "x-kubernetes-group-version-kind": GROUP_VERSION_KIND, responses: {} },
    },
  },
  components: {
    schemas: {
      "com.example.Flunder": {
        type: "object",
        description: "Flunder is a fish.",
        properties: { spec: { type: "object", description: "Its behaviour." } },
        "x-kubernetes-group-version-kind": [GROUP_VERSION_KIND],
      },
    },
  },
};

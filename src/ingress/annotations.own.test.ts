/** Every annotation has its effect on requests through real sockets. How values are parsed: compute/compute-routes.test.ts. */
import { equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { Disposables } from "../base/disposables.ts";
import { becomes } from "../testing/becomes.ts";
import { testServing } from "../testing/fixtures/certificates.ts";
import { ingress, IngressScene, NEEDS_ADDRESS, service, slice } from "./testing/ingress-scene.ts";

/** What an application answers: /silent gets none, /unfinished the beginning of one. */
const application: RequestListener = (incoming, response) => {
  incoming.resume();
  if (incoming.url === "/silent") return;
  if (incoming.url === "/unfinished") return void response.write("begin");
  incoming.on("end", () => response.end(`${incoming.httpVersion} ${incoming.url}`));
};

const http2Application = (incoming: Http2ServerRequest, response: Http2ServerResponse) =>
  void response.end(`${incoming.httpVersion} ${incoming.url}`);

const { certificate: cert, key } = testServing();

/** Programs behind Services of the same name; "refuses" ends connections at once, "deaf" never answers a TLS handshake. */
const programs = {
  web: () => createServer(application),
  secure: () => createHttpsServer({ cert, key }, application),
  h2c: () => createHttp2Server(http2Application),
  refuses: () => createTcpServer((socket) => void socket.destroy()),
  deaf: () => createTcpServer(() => {}),
} satisfies Record<string, () => Server>;

/** Host, Service and annotations of an Ingress each. */
const INGRESSES: readonly [host: string, service: string, annotations: Readonly<Record<string, string>>][] = [
  ["plain", "web", {}],
  ["https", "secure", { "backend-protocol": "HTTPS" }],
  ["h2c", "h2c", { "backend-protocol": "H2C" }],
  ["grpc", "h2c", { "backend-protocol": "GRPC" }],
  ["connect", "deaf", { "backend-protocol": "HTTPS", "connect-timeout": "100ms", retries: "0" }],
  ["response", "web", { "response-timeout": "1s" }],
  ["idle", "web", { "idle-timeout": "1s" }],
  ["body", "web", { "max-body-size": "1k" }],
  ["rewrite", "web", { "rewrite-path": "/new" }],
  ["rate", "web", { "rate-limit": "1", "rate-limit-burst": "2" }],
  ["sticky", "pair", { "sticky-cookie": "pod" }],
  ["redirect", "web", { "ssl-redirect": "true" }],
  ["retried", "mixed", {}],
  ["once", "mixed", { retries: "0" }],
  ["last", "web", {}],
];

describe("annotations of Ingresses", NEEDS_ADDRESS, () => {
  const owned = new Disposables();
  let scene: IngressScene;

  before(async () => {
    if (NEEDS_ADDRESS.skip !== false) return;
    scene = owned.use(await IngressScene.start());
    const ports: Record<string, number> = {};
    for (const [name, program] of Object.entries(programs)) ports[name] = owned.use(await started(program())).port;
    const second = owned.use(await started(createServer(application))).port;
    const of = (name: string, port = ports[name] ?? 0) => [service(name), slice(name, name, port)];
    await scene.cluster.apply([
      ...Object.keys(programs).flatMap((name) => of(name)),
      ...[...of("pair", ports["web"]), slice("pair", "pair-2", second)],
      ...[...of("mixed", ports["web"]), slice("mixed", "mixed-2", ports["refuses"] ?? 0)],
      ...INGRESSES.map(([host, backend, annotations]) =>
        ingress(host, `${host}.example`, backend, {
          annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`ingress.k8ts.io/${name}`, value])),
        }),
      ),
    ]);
    // The last one is served: so are the others.
    await becomes(async () => (await scene.answer("last.example")).slice(0, 3), "200");
    await becomes(async () => scene.endpointCount(), 8);
  });
  after(() => owned[Symbol.asyncDispose]());

  const fetch = (host: string, path = "/x", more: Parameters<IngressScene["fetch"]>[2] = {}) => scene.fetch(`${host}.example`, path, more);

  test("backend-protocol: HTTP by default, HTTPS, and HTTP/2 for H2C and GRPC", async () => {
    equal(await fetch("plain"), "200 1.1 /x");
    equal(await fetch("https"), "200 1.1 /x");
    equal(await fetch("h2c"), "200 2.0 /x");
    equal(await fetch("grpc"), "200 2.0 /x");
  });

  test("connect-timeout: an endpoint that does not finish the handshake is given up with 504", async () =>
    match(await fetch("connect"), /^504 /));

  test("response-timeout: an endpoint that does not answer is given up with 504", async () =>
    match(await fetch("response", "/silent"), /^504 /));

  test("idle-timeout: an answer without progress is cut off", () => rejects(fetch("idle", "/unfinished"), { code: "ECONNRESET" }));

  test("max-body-size: a larger body is refused with 413", async () => {
    equal(await fetch("body", "/x", { method: "POST", body: "x".repeat(1_000) }), "200 1.1 /x");
    match(await fetch("body", "/x", { method: "POST", body: "x".repeat(1_001) }), /^413 /);
  });

  test("rewrite-path: the matched part is replaced", async () => equal(await fetch("rewrite", "/x?y"), "200 1.1 /new/x?y"));

  test("rate-limit: more requests than the burst are refused with 429", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch("rate")));
    ok(answers.includes("200 1.1 /x"));
    ok(answers.some((answer) => answer.startsWith("429 ")));
  });

  test("sticky-cookie: a client with the cookie stays on its Pod, others take turns", async () => {
    const first = await head("sticky");
    const cookie = (first.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
    match(cookie, /^pod=[0-9a-f]+$/);
    // A cookie is set only if it changes.
    for (let count = 0; count < 4; count++) equal((await head("sticky", { cookie })).headers["set-cookie"], undefined);
    const others = new Set<string | undefined>();
    for (let count = 0; count < 4; count++) others.add((await head("sticky")).headers["set-cookie"]?.[0]);
    equal(others.size, 2);
  });

  test("ssl-redirect: HTTP is redirected to HTTPS", async () => {
    const { statusCode, headers } = await head("redirect");
    equal(`${statusCode} ${headers.location}`, `308 https://redirect.example:${scene.controller.ports.https}/x`);
  });

  test("retries: the next endpoint answers, unless the number of retries is 0", async () => {
    const statuses = async (host: string) => {
      const answers: string[] = [];
      for (let count = 0; count < 2; count++) answers.push((await fetch(host)).slice(0, 3));
      return answers.toSorted().join(" ");
    };
    // Two endpoints in turn, one of which fails. First without retries: the second failure in a row ejects it.
    equal(await statuses("once"), "200 502");
    equal(await statuses("retried"), "200 200");
  });

  async function head(host: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const { http: port } = scene.controller.ports;
    const sent = request({ host: "127.0.0.1", port, path: "/x", agent: false, headers: { host: `${host}.example`, ...headers } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await text(response);
    return response;
  }
});

async function started(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

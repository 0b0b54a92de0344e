import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { test } from "node:test";
import { realClock } from "../../host/real-clock.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import { ProbeTimeout, type HttpProbeRequest } from "../contracts/probe-actions.ts";
import { createProbeActions } from "./probe-actions.ts";

const actions = createProbeActions({ clock: realClock });
const HOST = "127.0.0.1";

async function listening<T extends Server>(server: T): Promise<{ readonly server: T; readonly port: number }> {
  await new Promise<void>((resolve) => void server.listen(0, HOST, resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** A port without a listener. */
async function freePort(): Promise<number> {
  const { server, port } = await listening(createTcpServer());
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

function request(port: number, path: string, more: Partial<HttpProbeRequest> = {}): HttpProbeRequest {
  return { scheme: "http", host: HOST, port, path, headers: [], ...more };
}

const unlimited = (): AbortSignal => new AbortController().signal;

/** Deadline as the kubelet sets it: the reason contains the timeout. Expires when the test says so, however busy the machine is. */
function timeOf(timeoutMs: number): { readonly signal: AbortSignal; readonly isUp: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, isUp: () => controller.abort(new ProbeTimeout(timeoutMs)) };
}

/** Answers with the status code that the path begins with, or redirects. */
function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const [, code = "", rest = ""] = url.split("/");
  if (code === "echo") return void response.end(`${headers.host} ${headers["user-agent"]} ${JSON.stringify(headers["x-many"])} ${url}`);
  if (code === "large") return void response.end("x".repeat(50_000));
  if (code === "never") return;
  if (code === "cut") return void response.socket?.destroy();
  if (code === "elsewhere") return void response.writeHead(302, { location: "http://example.invalid/" }).end("go away");
  if (code === "round") return void response.writeHead(302, { location: "/round" }).end();
  if (code === "redirect") return void response.writeHead(301, { location: `/${rest}/` }).end();
  response.writeHead(Number(code)).end("a secret");
}

test("an HTTP probe succeeds or fails by status code, with upstream's messages", async (t) => {
  const { server, port } = await listening(createServer(answer));
  t.after(() => server.close());
  const url = `http://${HOST}:${port}`;
  const rows: readonly (readonly [path: string, result: string, output: string])[] = [
    ["/200", "success", "a secret"],
    ["/399", "warning", "Probe terminated redirects, Response body: a secret"],
    ["/400", "failure", "HTTP probe failed with statuscode: 400"],
    ["/500", "failure", "HTTP probe failed with statuscode: 500"],
    ["/redirect/200", "success", "a secret"],
    ["/redirect/503", "failure", "HTTP probe failed with statuscode: 503"],
    ["/elsewhere", "warning", "Probe terminated redirects, Response body: go away"],
    ["/round", "failure", 'Get "/round": stopped after 10 redirects'],
    ["/cut", "failure", `Get "${url}/cut": EOF`],
    ["/large", "success", "x".repeat(10 * 1024)],
  ];
  for (const [path, result, output] of rows) {
    const { result: got, output: said } = await actions.http(request(port, path), unlimited());
    assert.deepEqual([path, got, said], [path, result, output]);
  }
});

test("an HTTP probe sends headers unchanged and escapes its path", async (t) => {
  const { server, port } = await listening(createServer(answer));
  t.after(() => server.close());
  const headers = [
    ["Host", "named"],
    ["User-Agent", "kube-probe/1.36"],
    ["X-Many", "1"],
    ["x-many", "2"],
  ] as const;

  const { output } = await actions.http(request(port, "/echo/a b?c=ü", { headers }), unlimited());

  assert.equal(output, 'named kube-probe/1.36 "1, 2" /echo/a%20b?c=%C3%BC');
});

test("a refused connection or a timeout is reported with Go's message", async (t) => {
  const { server, port } = await listening(createServer(answer));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const free = await freePort();
  const time = timeOf(1_000);
  server.once("request", time.isUp);

  const refused = await actions.http(request(free, "/"), unlimited());
  const late = await actions.http(request(port, "/never"), time.signal);
  const unnamed = await actions.http(request(free, "/", { host: "unknown.invalid" }), unlimited());

  const where = `http://${HOST}:${free}/`;
  assert.deepEqual(refused, { result: "failure", output: `Get "${where}": dial tcp ${HOST}:${free}: connect: connection refused` });
  const deadline = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
  assert.deepEqual(late, { result: "failure", output: `Get "http://${HOST}:${port}/never": ${deadline}` });
  assert.match(unnamed.output, /^Get "http:\/\/unknown\.invalid:\d+\/": dial tcp: lookup unknown\.invalid: no such host$/);
});

test("an HTTPS probe ignores the certificate, and reports a server without TLS", async (t) => {
  const { certificate, key } = testServing();
  const { server, port } = await listening(createHttpsServer({ cert: certificate, key }, answer));
  const plain = await listening(createServer(answer));
  t.after(() => {
    server.close();
    plain.server.close();
  });

  const secure = await actions.http(request(port, "/200", { scheme: "https" }), unlimited());
  const wrong = await actions.http(request(plain.port, "/200", { scheme: "https" }), unlimited());

  assert.equal(secure.result, "success");
  assert.equal(wrong.output, `Get "https://${HOST}:${plain.port}/200": http: server gave HTTP response to HTTPS client`);
});

test("a TCP probe succeeds on connect", async (t) => {
  const { server, port } = await listening(createTcpServer((socket) => socket.on("error", () => undefined)));
  t.after(() => server.close());
  const free = await freePort();

  assert.deepEqual(await actions.tcp(HOST, port, unlimited()), { result: "success", output: "" });
  assert.deepEqual(await actions.tcp(HOST, free, unlimited()), {
    result: "failure",
    output: `dial tcp ${HOST}:${free}: connect: connection refused`,
  });
});

/** A gRPC server by hand: maps a service name to its status and response. */
type Health = (service: string) => { readonly code?: number; readonly words?: string; readonly status?: number } | undefined;

/** A gRPC frame: a flag byte, the length in four bytes, and the message. */
const PREFIX_BYTES = 5;

async function startHealth(health: Health): Promise<{ readonly server: Http2Server; readonly port: number; close(): void }> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    stream.once("data", (message: Buffer) => {
      const said = health(message.subarray(PREFIX_BYTES + 2).toString());
      if (said === undefined) return;
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(said.code ?? 0), "grpc-message": said.words ?? "" }));
      stream.end(said.status === undefined ? Buffer.alloc(0) : Buffer.from([0, 0, 0, 0, 2, 8, said.status]));
    });
  });
  const { port } = await listening(server);
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { server, port, close };
}

const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

test("a gRPC probe succeeds or fails by the health service", async (t) => {
  const time = timeOf(1_000);
  const { port, close } = await startHealth((service) => {
    if (service === "missing") return { code: NOT_FOUND, words: "unknown service" };
    if (service !== "never") return { status: service === "ill" ? 2 : 1 };
    time.isUp();
    return undefined;
  });
  const other = await startHealth(() => ({ code: UNIMPLEMENTED, words: "no such method" }));
  t.after(() => {
    close();
    other.close();
  });
  const free = await freePort();
  const rows: readonly (readonly [port: number, service: string, result: string, output: RegExp])[] = [
    [port, "", "success", /^service healthy$/],
    [port, "ill", "failure", /^service unhealthy \(responded with "NOT_SERVING"\)$/],
    [port, "missing", "failure", /^error: health rpc probe failed: rpc error: code = NotFound desc = unknown service$/],
    [port, "never", "failure", /^timeout: health rpc did not complete within 1s$/],
    [
      other.port,
      "",
      "failure",
      /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): no such method$/,
    ],
  ];
  for (const [at, service, result, output] of rows) {
    const answered = await actions.grpc(HOST, at, service, service === "never" ? time.signal : unlimited());
    assert.equal(answered.result, result, service);
    assert.match(answered.output, output);
  }
  const noTime = timeOf(1_000);
  setTimeout(noTime.isUp, 1_000);
  assert.deepEqual(await actions.grpc(HOST, free, "", noTime.signal), {
    result: "failure",
    output: `timeout: failed to connect service "${HOST}:${free}" within 1s: context deadline exceeded`,
  });
});

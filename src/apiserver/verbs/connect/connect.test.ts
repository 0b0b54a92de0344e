import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { ApiServerConfig } from "../../framework/api-server-config.ts";
import type { ExchangeAnswer, MessageSocket } from "../../framework/exchange.ts";
import { asUser, startServer, type StartedServer } from "../../testing/server.ts";
import type { ConnectionCall, NodeConnector } from "../../framework/node-connector.ts";

const NAMESPACE = "/api/v1/namespaces/default";
const MERGE = { "content-type": "application/merge-patch+json" };
const CONTAINER = { name: "a", image: "x", ports: [{ containerPort: 8080 }] };

/** A reachable node, Pods in all relevant states, and an optional connector. */
async function withPods(connector?: NodeConnector, config: Partial<ApiServerConfig> = {}): Promise<StartedServer> {
  const server = await startServer({ config, ...(connector === undefined ? {} : { connector }) });
  const address = (type: string, value: string) => ({ addresses: [{ type, address: value }] });
  await node(server, "reached", { ...address("InternalIP", "192.0.2.7"), daemonEndpoints: { kubeletEndpoint: { Port: 10_255 } } });
  await node(server, "bare", {});
  await node(server, "odd", address("Elsewhere", "1.2.3.4"));
  await node(server, "local", address("InternalIP", "127.0.0.1"));
  await pod(server, "new", { containers: [CONTAINER] });
  await pod(server, "two", {
    nodeName: "reached",
    initContainers: [{ ...CONTAINER, name: "i" }],
    containers: [CONTAINER, { ...CONTAINER, name: "b" }],
  });
  await pod(server, "running", { nodeName: "reached", containers: [CONTAINER] }, "192.0.2.50");
  await pod(server, "local", { nodeName: "local", containers: [CONTAINER] }, "127.0.0.1");
  await pod(server, "bare", { nodeName: "bare", containers: [CONTAINER] });
  await pod(server, "lost", { nodeName: "nowhere", containers: [CONTAINER] });
  await service(server, "web", [
    { ip: "192.0.2.51", name: "running" },
    { ip: "192.0.2.50", name: "running" },
  ]);
  await service(server, "stray", [
    { ip: "192.0.2.50", name: "running", namespace: "kube-system" },
    { ip: "192.0.2.50", name: "gone" },
    { ip: "192.0.2.50" },
  ]);
  await service(server, "empty", []);
  return server;
}

async function made(server: StartedServer, path: string, body: Parameters<StartedServer["call"]>[2]): Promise<void> {
  const { code, text } = await server.call("POST", path, body, { "content-type": "application/json" });
  equal(code, 201, text);
}

function node(server: StartedServer, name: string, status: object): Promise<void> {
  return made(server, "/api/v1/nodes", { metadata: { name }, status: status as never });
}

async function pod(server: StartedServer, name: string, spec: object, ip?: string): Promise<void> {
  await made(server, `${NAMESPACE}/pods`, { metadata: { name }, spec: spec as never });
  if (ip !== undefined) await server.call("PATCH", `${NAMESPACE}/pods/${name}/status`, { status: { podIP: ip, podIPs: [{ ip }] } }, MERGE);
}

interface Address {
  readonly ip: string;
  readonly name?: string;
  readonly namespace?: string;
}

async function service(server: StartedServer, name: string, addresses: readonly Address[]): Promise<void> {
  await made(server, `${NAMESPACE}/services`, { metadata: { name }, spec: { ports: [{ name: "http", port: 80 }] } });
  const of = ({ ip, name: podName, namespace = "default" }: Address) =>
    podName === undefined ? { ip } : { ip, targetRef: { kind: "Pod", name: podName, namespace } };
  const subsets = addresses.length === 0 ? [] : [{ addresses: addresses.map(of), ports: [{ name: "http", port: 8080 }] }];
  await made(server, `${NAMESPACE}/endpoints`, { metadata: { name }, subsets });
}

const NO_KUBELET = "no kubelet is connected to this API server; start one there and try again";

/** [method, path, code, reason, message] of responses without a kubelet. Method "WS": GET with a WebSocket upgrade. */
const rules: readonly (readonly [method: string, path: string, code: number, reason: string | undefined, message: string])[] = [
  ["GET", "pods/none/log", 404, "NotFound", 'pods "none" not found'],
  ["GET", "pods/new/log?container=x", 400, "BadRequest", "container x is not valid for pod new"],
  ["GET", "pods/two/log", 400, "BadRequest", "a container name must be specified for pod two, choose one of: [i a b]"],
  [
    "GET",
    "pods/none/log?tailLines=-1",
    422,
    "Invalid",
    'PodLogOptions "none" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  ],
  ["GET", "pods/new/log?tailLines=x", 400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax'],
  ["GET", "pods/bare/log", 500, undefined, "no preferred addresses found; known addresses: []"],
  ["GET", "pods/lost/log", 404, "NotFound", 'pods "nowhere" not found'],
  ["GET", "pods/running/log", 500, undefined, `cannot reach the kubelet of node "reached": ${NO_KUBELET}`],
  ["POST", "pods/running/log", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"],
  ["GET", "pods/running/log/x", 404, "NotFound", "the server could not find the requested resource"],
  ["GET", "pods/running/status/x", 404, "NotFound", "the server could not find the requested resource"],
  ["WS", "pods/none/exec", 404, "NotFound", 'pods "none" not found'],
  ["WS", "pods/new/exec?command=sh", 400, "BadRequest", "pod new does not have a host assigned"],
  ["WS", "pods/two/exec", 400, "BadRequest", "a container name must be specified for pod two, choose one of: [i a b]"],
  ["WS", "pods/two/attach?container=q", 400, "BadRequest", "container q is not valid for pod two"],
  ["WS", "pods/lost/attach", 404, "NotFound", 'pods "nowhere" not found'],
  ["WS", "pods/new/portforward", 400, "BadRequest", "pod new does not have a host assigned"],
  ["WS", "pods/running/exec?dryRun=All", 400, "BadRequest", "dryRun is not supported"],
  ["WS", "pods/running/exec", 500, undefined, `cannot reach the kubelet of node "reached": ${NO_KUBELET}`],
  ["GET", "pods/running/exec", 400, "BadRequest", "Upgrade request required"],
  ["POST", "pods/running/portforward", 400, "BadRequest", "Upgrade request required"],
  ["PUT", "pods/running/exec", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"],
  ["GET", "pods/none/proxy/", 404, "NotFound", 'pods "none" not found'],
  ["GET", "pods/ftp:running:80/proxy/", 400, "BadRequest", 'invalid pod request "ftp:running:80"'],
  ["GET", "pods/new/proxy/", 400, "BadRequest", "address not allowed"],
  ["GET", "pods/local/proxy/", 400, "BadRequest", "address not allowed"],
  ["GET", "pods/running/proxy/", 503, "ServiceUnavailable", `error trying to reach service: cannot reach 192.0.2.50:8080: ${NO_KUBELET}`],
  ["TRACE", "pods/running/proxy/", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"],
  ["GET", "services/a:b:c:d/proxy/", 400, "BadRequest", 'invalid service request "a:b:c:d"'],
  ["GET", "services/none/proxy/", 404, "NotFound", 'services "none" not found'],
  ["GET", "services/none:80/proxy/", 404, "NotFound", 'services "none" not found'],
  ["GET", "services/web:81/proxy/", 503, "ServiceUnavailable", 'no service port 81 found for service "web"'],
  ["GET", "services/web:other/proxy/", 503, "ServiceUnavailable", 'no endpoints available for service "web:other"'],
  ["GET", "services/empty:http/proxy/", 503, "ServiceUnavailable", 'no endpoints available for service "empty"'],
  ["GET", "services/stray:http/proxy/", 503, "ServiceUnavailable", 'no endpoints available for service "stray:http"'],
  [
    "GET",
    "services/https:web:80/proxy/",
    503,
    "ServiceUnavailable",
    `error trying to reach service: cannot reach 192.0.2.50:8080: ${NO_KUBELET}`,
  ],
  ["GET", "/nodes/none/proxy/", 404, "NotFound", 'nodes "none" not found'],
  ["GET", "/nodes/x:reached:1/proxy/", 400, "BadRequest", 'invalid node request "x:reached:1"'],
  ["GET", "/nodes/odd/proxy/", 500, undefined, "no preferred addresses found; known addresses: [{Elsewhere 1.2.3.4}]"],
  ["GET", "/nodes/local/proxy/", 400, "BadRequest", "address not allowed"],
  [
    "GET",
    "/nodes/reached/proxy/",
    503,
    "ServiceUnavailable",
    `error trying to reach service: cannot reach the kubelet of node "reached": ${NO_KUBELET}`,
  ],
  [
    "GET",
    "/nodes/reached:9100/proxy/",
    503,
    "ServiceUnavailable",
    `error trying to reach service: cannot reach 192.0.2.7:9100: ${NO_KUBELET}`,
  ],
];

test("errors of connections that need no kubelet are returned without one, with upstream's messages", async () => {
  await using server = await withPods();
  for (const [method, path, code, reason, message] of rules) {
    const full = path.startsWith("/") ? `/api/v1${path}` : `${NAMESPACE}/${path}`;
    const answer = method === "WS" ? await refused(server.upgrade("GET", full, ["v5.channel.k8s.io"])) : await server.call(method, full);
    deepEqual([answer.code, answer.body.reason, answer.body.message], [code, reason, message], `${method} ${path}`);
  }
});

/** The response to a client whose WebSocket is rejected. */
async function refused(answer: Promise<ExchangeAnswer>) {
  const settled = await answer;
  if (!("body" in settled)) throw new Error("The upgrade was not rejected");
  return { code: settled.code, body: JSON.parse(new TextDecoder().decode(settled.body[0])) };
}

test("the log of a Pod without a node is empty, and no error", async () => {
  await using server = await withPods();

  const { code, text } = await server.call("GET", `${NAMESPACE}/pods/new/log?follow=true&dryRun=All`);

  deepEqual({ code, text }, { code: 204, text: "" });
});

test("a log request that accepts only object encodings is rejected", async () => {
  await using server = await withPods();

  equal((await server.call("GET", `${NAMESPACE}/pods/new/log`, undefined, { accept: "text/plain" })).code, 406);
});

/** Records its requests and answers with a given response. */
function recording(answer: (call: ConnectionCall) => ExchangeAnswer | Promise<ExchangeAnswer>) {
  const calls: ConnectionCall[] = [];
  const connector: NodeConnector = {
    async connect(call) {
      calls.push(call);
      return answer(call);
    },
  };
  return { connector, calls };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const KUBELET = { is: "kubelet", node: { name: "reached", host: "192.0.2.7", port: 10_255 } };
const POD = { namespace: "default", name: "running" };

test("a log comes from the kubelet of the Pod's node, as text", async () => {
  const { connector, calls } = recording(() => ({ code: 200, headers: { "x-kubelet": "1" }, body: [bytes("one\n"), bytes("two\n")] }));
  await using server = await withPods(connector);

  const { code, headers, text } = await server.call("GET", `${NAMESPACE}/pods/running/log?tailLines=2`);

  deepEqual([code, headers["content-type"], headers["x-kubelet"], text], [200, "text/plain", undefined, "one\ntwo\n"]);
  const [call] = calls;
  deepEqual(call?.target, { ...KUBELET, pod: POD, container: "a" });
  deepEqual(call?.options, { kind: "PodLogOptions", apiVersion: "v1", tailLines: 2 });
});

test("a followed log streams until one side ends it, and counts as running meanwhile", async () => {
  const { connector } = recording(({ options }) => ({
    code: 200,
    headers: {},
    stream: (sink) => void sink.write({ bytes: bytes(`follow=${JSON.stringify(options["follow"])}\n`) }),
  }));
  await using server = await withPods(connector);
  const running = async () =>
    /apiserver_longrunning_requests\{.*subresource="log",verb="CONNECT".*\} (\d+)/.exec((await server.call("GET", "/metrics")).text)?.[1];

  const log = await server.watch(`${NAMESPACE}/pods/running/log?follow=true`);
  const during = await running();
  log.close();

  equal(new TextDecoder().decode(log.chunks[0]?.bytes), "follow=true\n");
  deepEqual([log.headers["content-type"], during, await running()], ["text/plain", "1", "0"]);
});

const failures: readonly (readonly [code: number, reason: string, message: string])[] = [
  [400, "BadRequest", "no such log"],
  [404, "NotFound", "the server could not find the requested resource ( pods/log running)"],
  [500, "InternalError", "Internal error occurred: no such log"],
  [502, "InternalError", 'an error on the server ("no such log") has prevented the request from succeeding ( pods/log running)'],
];

for (const [code, reason, message] of failures) {
  test(`a kubelet that answers a log request with ${code} is reported as ${reason}`, async () => {
    const { connector } = recording(() => ({ code, headers: {}, body: [bytes("no such log")] }));
    await using server = await withPods(connector);

    const { body } = await server.call("GET", `${NAMESPACE}/pods/running/log`);

    deepEqual([body.reason, body.message], [reason, message]);
  });
}

for (const [method, asked] of [
  ["GET", ""],
  ["POST", "body"],
  ["PUT", "body"],
  ["PATCH", "body"],
  ["DELETE", ""],
  ["HEAD", ""],
  ["OPTIONS", ""],
] as const) {
  test(`a proxy forwards ${method} with its path, query, headers and body, and returns the response`, async () => {
    const { connector, calls } = recording(() => ({
      code: 418,
      headers: { "content-type": "text/x-tea", "x-pot": "1" },
      body: [bytes("tea")],
    }));
    await using server = await withPods(connector);
    const headers = { "x-asked": "1", authorization: "Bearer t", "content-type": "text/plain" };

    const answer = await server.call(method, `${NAMESPACE}/pods/https:running:8443/proxy/a%20b/../c/?limit=x&watch=1`, asked, headers);

    deepEqual([answer.code, answer.headers["content-type"], answer.headers["x-pot"], answer.text], [418, "text/x-tea", "1", "tea"]);
    const [call] = calls;
    deepEqual([call?.method, call?.path, call?.query], [method, "/c/", "limit=x&watch=1"]);
    deepEqual([call?.headers["x-asked"], call?.headers["authorization"], call?.headers["content-type"]], ["1", undefined, "text/plain"]);
    equal(call?.headers["x-forwarded-uri"], `${NAMESPACE}/pods/https:running:8443/proxy/c/`);
    deepEqual(call?.target, { is: "server", scheme: "https", host: "192.0.2.50", port: 8443, pod: POD });
    equal(new TextDecoder().decode(await call?.body()), asked);
  });
}

const targets: readonly (readonly [path: string, target: object])[] = [
  ["pods/running/proxy/", { is: "server", scheme: "http", host: "192.0.2.50", port: 8080, pod: POD }],
  ["services/web:http/proxy/", { is: "server", scheme: "http", host: "192.0.2.50", port: 8080, pod: POD }],
  ["services/https:web:80/proxy/", { is: "server", scheme: "https", host: "192.0.2.50", port: 8080, pod: POD }],
  ["/nodes/reached/proxy/", KUBELET],
  ["/nodes/http:reached:10255/proxy/", KUBELET],
  ["/nodes/https:reached:9100/proxy/", { is: "server", scheme: "https", host: "192.0.2.7", port: 9100, nodeName: "reached" }],
];

for (const [path, target] of targets) {
  test(`${path} resolves to ${JSON.stringify(target)}`, async () => {
    const { connector, calls } = recording(() => ({ code: 200, headers: {}, body: [] }));
    await using server = await withPods(connector);

    await server.call("GET", path.startsWith("/") ? `/api/v1${path}` : `${NAMESPACE}/${path}`);

    deepEqual(calls[0]?.target, target);
  });
}

test("a proxied GET without a trailing slash is redirected to one; a request with a body is not", async () => {
  const { connector, calls } = recording(() => ({ code: 200, headers: {}, body: [] }));
  await using server = await withPods(connector);

  const page = await server.call("GET", `${NAMESPACE}/pods/running/proxy?a=b`);
  const form = await server.call("POST", `${NAMESPACE}/pods/running/proxy?a=b`, "x");

  deepEqual([page.code, page.headers["location"], form.code], [301, `${NAMESPACE}/pods/running/proxy/?a=b`, 200]);
  deepEqual([calls.length, calls[0]?.path], [1, ""]);
});

test("an unreachable target is reported as ServiceUnavailable by a proxy, and with its own error for a kubelet", async () => {
  const { connector } = recording(() => Promise.reject(new Error("connection refused")));
  await using server = await withPods(connector);

  const proxy = await server.call("GET", `${NAMESPACE}/pods/running/proxy/`);
  const log = await server.call("GET", `${NAMESPACE}/pods/running/log`);

  deepEqual([proxy.code, proxy.body.message], [503, "error trying to reach service: connection refused"]);
  deepEqual([log.code, log.body.reason, log.body.message], [500, undefined, "connection refused"]);
});

/** A client on a WebSocket without a socket. */
class TestSocket implements MessageSocket {
  readonly sent: string[] = [];
  readonly #closed: (() => void)[] = [];
  say: (message: Uint8Array, options: { readonly binary: boolean }) => void = () => {};

  send(message: Uint8Array): number {
    this.sent.push(new TextDecoder().decode(message));
    return 0;
  }
  onMessage(listener: TestSocket["say"]): void {
    this.say = listener;
  }
  close(): void {
    for (const listener of this.#closed.splice(0)) listener();
  }
  abort(): void {
    this.close();
  }
  onClosed(listener: () => void): void {
    this.#closed.push(listener);
  }
  pause(): void {}
  resume(): void {}
  onDrained(): void {}
}

/** An exec that echoes its input. */
function echo({ offer }: ConnectionCall): ExchangeAnswer {
  const [protocol] = offer?.protocols ?? [];
  return {
    ...(protocol === undefined ? {} : { protocol }),
    run: (socket) => socket.onMessage((message) => void socket.send(bytes(`echo ${new TextDecoder().decode(message)}`), { binary: true })),
  };
}

for (const method of ["GET", "POST"]) {
  test(`exec by ${method} becomes a bidirectional WebSocket to the kubelet`, async () => {
    const { connector, calls } = recording(echo);
    await using server = await withPods(connector);

    const path = `${NAMESPACE}/pods/two/exec?container=b&command=sh&command=-c&stdin=1&stdout=1&tty=0`;
    const answer = await server.upgrade(method, path, ["v5.channel.k8s.io", "v4.channel.k8s.io"]);

    if (!("run" in answer)) throw new Error("The answer is no WebSocket");
    const socket = new TestSocket();
    answer.run(socket);
    socket.say(bytes("hello"), { binary: true });
    deepEqual([answer.protocol, socket.sent], ["v5.channel.k8s.io", ["echo hello"]]);
    const [call] = calls;
    deepEqual(call?.target, { ...KUBELET, pod: { namespace: "default", name: "two" }, container: "b" });
    deepEqual(call?.options, {
      kind: "PodExecOptions",
      apiVersion: "v1",
      command: ["sh", "-c"],
      container: "b",
      stdin: true,
      stdout: true,
    });
  });
}

test("portforward connects to the Pod without naming a container", async () => {
  const { connector, calls } = recording(echo);
  await using server = await withPods(connector);

  await server.upgrade("GET", `${NAMESPACE}/pods/two/portforward?ports=80,81`, ["SPDY/3.1+portforward.k8s.io"]);

  deepEqual(calls[0]?.target, { ...KUBELET, pod: { namespace: "default", name: "two" } });
  deepEqual(calls[0]?.options["ports"], [80, 81]);
});

test("a protocol upgrade on a connection that does not support it is rejected with a message", async () => {
  const { connector } = recording(echo);
  await using server = await withPods(connector);

  const { code, body } = await server.call("POST", `${NAMESPACE}/pods/running/exec`, "", { connection: "Upgrade", upgrade: "SPDY/3.1" });

  deepEqual([code, body.message], [400, 'unable to upgrade to "SPDY/3.1": this connection does not support protocol upgrades']);
});

test("an unsupported connection is rejected with the connector's message, whatever the upgrade protocol", async () => {
  const { connector, calls } = recording(echo);
  await using server = await withPods({
    ...connector,
    refusal: (subresource) => (subresource === "portforward" ? "not supported here" : undefined),
  });
  const upgrade = { connection: "Upgrade", upgrade: "SPDY/3.1" };

  const { body } = await server.call("POST", `${NAMESPACE}/pods/running/portforward`, "", upgrade);
  match(body.message, /not supported here/);
  const exec = await server.call("POST", `${NAMESPACE}/pods/running/exec`, "", upgrade);
  match(exec.body.message, /this connection does not support protocol upgrades/);
  deepEqual(calls, []);
});

test("a WebSocket answer to a request without an upgrade is an error, and is not sent", async () => {
  const { connector } = recording(echo);
  await using server = await withPods(connector);

  const { code } = await server.call("GET", `${NAMESPACE}/pods/running/proxy/`);

  equal(code, 503);
});

test("connections occupy no seat: other requests are not rejected because of them, however long they last", async () => {
  const waiting: ((answer: ExchangeAnswer) => void)[] = [];
  const { connector } = recording(() => new Promise((resolve) => waiting.push(resolve)));
  await using server = await withPods(connector, { maxRequestsInFlight: 1, maxMutatingRequestsInFlight: 1 });

  const held = [server.call("GET", `${NAMESPACE}/pods/running/log`), server.call("POST", `${NAMESPACE}/pods/running/proxy/`)];
  await server.clock.settle();
  const list = await server.call("GET", `${NAMESPACE}/pods`);
  const underWay = waiting.length;
  for (const answer of waiting) answer({ code: 200, headers: {}, body: [] });
  await Promise.all(held);

  deepEqual([underWay, list.code], [2, 200]);
});

test("connections are counted with the verb CONNECT, whatever their method", async () => {
  const { connector } = recording(() => ({ code: 200, headers: {}, body: [] }));
  await using server = await withPods(connector);

  await server.call("POST", `${NAMESPACE}/pods/running/proxy/`);
  const { text } = await server.call("GET", "/metrics");

  equal(/apiserver_request_total\{code="200".*subresource="proxy",verb="CONNECT".*\} 1/.test(text), true);
});

test("a connection without permission is rejected with Forbidden", async () => {
  const jane = { name: "jane", groups: ["system:authenticated"] };
  await using server = await startServer({ authenticator: asUser(jane) });
  const message = async (method: string, path: string) => (await server.call(method, `${NAMESPACE}/${path}`)).body.message;

  deepEqual(
    [await message("GET", "pods/p/log"), await message("POST", "pods/p/exec"), await message("OPTIONS", "pods/p/proxy")],
    [
      'pods "p" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "default"',
      'pods "p" is forbidden: User "jane" cannot create resource "pods/exec" in API group "" in the namespace "default"',
      'pods "p" is forbidden: User "jane" cannot  resource "pods/proxy" in API group "" in the namespace "default"',
    ],
  );
});

test("the in-process transport rejects connections", async () => {
  await using server = await withPods();
  const request = {
    verb: "get",
    group: "",
    version: "v1",
    plural: "pods",
    subresource: "log",
    namespace: "default",
    name: "running",
  } as const;

  const failure = await server
    .transport()
    .request(request)
    .catch((error: Error) => error.message);

  equal(failure, "pods/log is a connection and available over HTTP only");
});

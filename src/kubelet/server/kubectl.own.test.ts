import { deepEqual, equal, match } from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { sharedPki } from "../../testing/fixtures/certificates.ts";
import { clientProgram, type ClientProgram } from "../../testing/clients/client-program.ts";
import { startHttpsWire } from "../../testing/servers/https-wire.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { aKubelet, serve, WEB } from "./testing/served.ts";

const encoder = new TextEncoder();

/** Commands of a simulated container. */
/** A request for this many lines gets none. */
const LOST_LINES = 404;

const runtime: Partial<Runtime> = {
  async exec(_id, [name, ...words], { input, output, error, tty }) {
    if (name === "cat") for await (const chunk of input ?? []) await output(chunk);
    else if (name === "echo") await output(encoder.encode(`${words.join(" ")}${tty === true ? " on a terminal" : ""}\n`));
    else await error(encoder.encode(`${name}: not found\n`));
    return name === "cat" || name === "echo" ? 0 : 127;
  },
  async attach(_id, { input, output }) {
    await output(encoder.encode("attached\n"));
    for await (const chunk of input ?? []) await output(chunk);
  },
  async *logs(_id, { follow, tailLines }, signal) {
    if (tailLines === 0) return;
    if (tailLines === LOST_LINES) throw new Error("unable to retrieve container logs for containerd://1");
    yield { atMs: 0, time: "2026-01-01T00:00:00.5Z", stream: "stdout", text: "one" };
    yield { atMs: 0, time: "2026-01-01T00:00:01Z", stream: "stderr", text: "two" };
    if (follow) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  },
  async portForward(_uid, port, stream) {
    if (port !== 80) throw new Error("connection refused");
    for await (const chunk of stream.input) await stream.write(encoder.encode(new TextDecoder().decode(chunk).toUpperCase()));
    stream.end();
  },
};

interface World extends AsyncDisposable {
  readonly kubectl: ClientProgram;
  readonly kubeconfig: string;
  readonly directory: string;
}

/** An API server, and a node that it reaches over the network, whose server delegates authorization to it. */
async function aWorld(): Promise<World> {
  await using starting = new Disposables();
  const { server, direct } = starting.use(await startHttpsWire());
  const client = createClient(direct);
  const kubelet = starting.use(
    await serve(aKubelet(runtime), {
      authentication: { clientAuthority: (await sharedPki()).authority, tokenReviewer: client },
      authorization: { mode: "Webhook", accessReviewer: client },
    }),
  );
  await addNodeAndPod(client, kubelet.port);
  const { kubectl, kubeconfig, directory } = server;
  const running = starting.move();
  return { kubectl, kubeconfig, directory, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

async function addNodeAndPod(client: Client, port: number): Promise<void> {
  const node = await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
  const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
  await client.updateStatus(nodes, { ...node, status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } } });
  const spec = { ...WEB.spec, containers: WEB.spec?.containers ?? [], nodeName: "n1" };
  const pod = await client.create(pods, { ...WEB, metadata: { name: "web", namespace: "default" }, spec });
  await client.updateStatus(pods, { ...pod, status: { ...pod.status, phase: "Running" } });
}

test("kubectl exec passes input and exit codes, and reports why a command cannot run", { ...needs("kubectl") }, async () => {
  await using world = await aWorld();
  const { kubectl } = world;

  equal(await kubectl("exec web -c main -- echo 'a b' c"), "a b c\n");
  equal(await kubectl("exec -i web -c main -- cat", { input: "through and back\n" }), "through and back\n");
  const { code, stderr } = await kubectl.run("exec web -c main -- nothing");
  deepEqual([code, /^nothing: not found$/m.test(stderr)], [127, true]);
  match(await kubectl.fails("exec web -c done -- echo"), /unable to upgrade connection: container not found \("done"\)/);
});

test("kubectl exec works over SPDY", { ...needs("kubectl") }, async () => {
  await using world = await aWorld();
  const environment = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" };

  equal(await world.kubectl("exec -i web -c main -- cat", { input: "through and back\n", environment }), "through and back\n");
});

test("kubectl attach joins a container's process", { ...needs("kubectl") }, async () => {
  await using world = await aWorld();

  match(await world.kubectl("attach -i web -c main", { input: "hello\n" }), /^attached\nhello\n$/);
});

test("kubectl logs prints and follows logs", { ...needs("kubectl") }, async () => {
  await using world = await aWorld();
  const { kubectl } = world;

  equal(await kubectl("logs web -c main --timestamps"), "2026-01-01T00:00:00.500000000Z one\n2026-01-01T00:00:01.000000000Z two\n");
  await using following = kubectl.start("logs -f web -c main");
  deepEqual([await following.line(), await following.line()], ["one", "two"]);
  equal(await kubectl("logs web -c main --tail=0"), "");
  const { code, stdout, stderr } = await kubectl.run(`logs web -c main --tail=${LOST_LINES}`);
  deepEqual([code, stdout], [1, ""]);
  match(stderr, /^Error from server.*: unable to retrieve container logs for containerd:\/\/1\n$/);
  match(await kubectl.fails("logs web -c done"), /container "done" in pod "web" is waiting to start: image can't be pulled/);
});

for (const KUBECTL_PORT_FORWARD_WEBSOCKETS of ["true", "false"]) {
  test(
    `kubectl port-forward works with KUBECTL_PORT_FORWARD_WEBSOCKETS=${KUBECTL_PORT_FORWARD_WEBSOCKETS}`,
    { ...needs("kubectl") },
    async () => {
      await using world = await aWorld();
      const environment = { HOME: world.directory, KUBECONFIG: world.kubeconfig, KUBECTL_PORT_FORWARD_WEBSOCKETS };
      await using forwarding = clientProgram({ path: toolPath("kubectl"), environment }).start("port-forward web :80");
      const [, port = ""] = /127\.0\.0\.1:(\d+) -> 80/.exec(await forwarding.line()) ?? [];
      const socket = connect(Number(port), "127.0.0.1");
      socket.end("hello");

      equal(await text(socket), "HELLO");
    },
  );
}

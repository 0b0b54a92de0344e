import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { realClock } from "../../host/real-clock.ts";
import { webSocketClient } from "../../host/http/testing/web-socket-client.ts";
import type { ExchangeAnswer } from "../framework/exchange.ts";
import { startServer } from "../testing/server.ts";
import { PROTOCOLS, serve, type Served } from "./testing/served.ts";
import type { ConnectionCall, NodeConnector } from "../framework/node-connector.ts";

const POD = "/api/v1/namespaces/default/pods/web";

/** End to end over real sockets, to a Pod whose kubelet is the function. */
async function withPod(connect: (call: ConnectionCall) => ExchangeAnswer | Promise<ExchangeAnswer>): Promise<Served> {
  const connector: NodeConnector = { connect: async (call) => connect(call) };
  const server = await startServer({ connector, clock: realClock });
  const json = { "content-type": "application/json" };
  const status = { addresses: [{ type: "InternalIP", address: "192.0.2.7" }] };
  await server.call("POST", "/api/v1/nodes", { metadata: { name: "node" }, status }, json);
  const spec = { nodeName: "node", containers: [{ name: "a", image: "x" }] };
  await server.call("POST", "/api/v1/namespaces/default/pods", { metadata: { name: "web" }, spec }, json);
  const ips = { status: { podIP: "192.0.2.50", podIPs: [{ ip: "192.0.2.50" }] } };
  await server.call("PATCH", `${POD}/status`, ips, { "content-type": "application/merge-patch+json" });
  const served = await serve(server.server.exchange);
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("an exec over a WebSocket streams both ways to the kubelet until one side closes", async () => {
  let closed: () => void = () => {};
  const over = new Promise<void>((resolve) => (closed = resolve));
  await using served = await withPod(({ offer }) => ({
    protocol: offer?.protocols[0] ?? "",
    run(socket) {
      socket.onMessage((message) => void socket.send(Buffer.concat([Buffer.from("\u0001"), message]), { binary: true }));
      socket.onClosed(closed);
    },
  }));
  const url = `wss://127.0.0.1:${served.port}${POD}/exec?command=cat&stdin=1&stdout=1`;
  using client = webSocketClient(url, { protocols: ["v5.channel.k8s.io"], authority: served.authority });
  await once(client, "open");

  client.send(Buffer.from("\u0000hello"));
  const [message] = (await once(client, "message")) as [Buffer];
  client.close();
  await over;

  deepEqual([client.protocol, message.toString()], ["v5.channel.k8s.io", "\u0001\u0000hello"]);
});

test("a rejected WebSocket is answered with a Status", async () => {
  await using served = await withPod(() => Promise.reject(new Error("connection refused")));
  const url = `wss://127.0.0.1:${served.port}${POD}/exec?command=cat`;
  using client = webSocketClient(url, { protocols: ["v5.channel.k8s.io"], authority: served.authority });

  const [, response] = (await once(client, "unexpected-response")) as [unknown, AsyncIterable<Buffer> & { statusCode: number }];
  let body = "";
  for await (const piece of response) body += piece.toString();

  deepEqual([response.statusCode, (JSON.parse(body) as { message: string }).message], [500, "connection refused"]);
});

test("a log over a WebSocket is one message per chunk", async () => {
  await using served = await withPod(() => ({
    code: 200,
    headers: {},
    stream(sink) {
      sink.write({ bytes: Buffer.from("line\n") });
      sink.end();
    },
  }));
  const url = `wss://127.0.0.1:${served.port}${POD}/log?follow=1`;
  using client = webSocketClient(url, { protocols: [], authority: served.authority });
  const closed = once(client, "close");

  const [message] = (await once(client, "message")) as [Buffer];
  await closed;

  equal(message.toString(), "line\n");
});

for (const [protocol, connect] of Object.entries(PROTOCOLS)) {
  test(`a request over ${protocol} is proxied with its headers, and so is the response`, async () => {
    await using served = await withPod(async (call) => {
      const shown = {
        method: call.method,
        path: call.path,
        query: call.query,
        asked: call.headers["x-asked"],
        names: Object.keys(call.headers).sort(),
      };
      return {
        code: 201,
        headers: { "x-answered": "1" },
        body: [Buffer.from(JSON.stringify({ ...shown, body: Buffer.from(await call.body()).toString() }))],
      };
    });
    using client = connect(served);

    const headers = { "x-asked": "1", authorization: "Bearer t" };
    const answer = await client.ask({ method: "POST", path: `${POD}/proxy/a/b?c=d`, headers, body: "sent" });

    deepEqual([answer.code, answer.headers["x-answered"]], [201, "1"]);
    deepEqual(JSON.parse(answer.body), {
      method: "POST",
      path: "/a/b",
      query: "c=d",
      asked: "1",
      names: ["x-asked", "x-forwarded-for", "x-forwarded-uri"],
      body: "sent",
    });
  });

  test(`a log over ${protocol} is streamed as it is written`, async () => {
    await using served = await withPod(() => ({
      code: 200,
      headers: {},
      stream(sink) {
        sink.write({ bytes: Buffer.from("one\n") });
        sink.write({ bytes: Buffer.from("two\n") });
        sink.end();
      },
    }));
    using client = connect(served);

    const { code, headers, body } = await client.ask({ path: `${POD}/log?follow=true` });

    deepEqual([code, headers["content-type"], body], [200, "text/plain", "one\ntwo\n"]);
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { isReason, type StatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import { HttpClientError, type HttpClientLimits } from "../../host/http/client/contract.ts";
import { openHttpClient } from "../../host/http/client/pool.ts";
import { realClock } from "../../host/real-clock.ts";
import { startTcpProxy } from "../../testing/servers/tcp-proxy.ts";
import type { ConnectionConfig } from "../kubeconfig/connection-config.ts";
import { httpsTransport } from "./https-transport.ts";
import { nextEvents } from "./testing/next-events.ts";
import { startScriptedServer, type Protocol, type ScriptedServer } from "./testing/scripted-server.ts";

const PROTOCOLS: readonly Protocol[] = ["HTTP/1.1", "HTTP/2"];
const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" } as const;
const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", resourceVersion: "1" } };

interface ConnectOptions {
  readonly clock?: Clock;
  readonly limits?: Partial<HttpClientLimits>;
  readonly config?: Partial<ConnectionConfig>;
}

function connect(
  { url, authority }: ScriptedServer,
  { clock = realClock, limits = {}, config = {} }: ConnectOptions = {},
): Transport & AsyncDisposable {
  const connection = { server: url, namespace: "default", authority: { text: authority }, ...config };
  return httpsTransport(connection, { clock, log: silentLogger, userAgent: "test", limits });
}

const read = (transport: Transport) => transport.request({ ...MAPS, verb: "get", name: "a" });
const write = (transport: Transport) => transport.request({ ...MAPS, verb: "create", object: MAP });

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a read whose connection dies before the response is sent once more, a write never`, async () => {
    let times = 0;
    await using server = await startScriptedServer({ protocol }, (request, reply) => {
      times++;
      if (times === 1 || request.method === "POST") reply.cut();
      else reply.send(200, MAP);
    });
    await using transport = connect(server);

    assert.equal((await read(transport)).is, "object");
    await assert.rejects(write(transport), (error: unknown) => {
      assert(isReason(error, "ServiceUnavailable"));
      assert(error.cause instanceof Error);
      return true;
    });

    const path = "/api/v1/namespaces/default/configmaps";
    assert.deepEqual(server.asked, [`GET ${path}/a`, `GET ${path}/a`, `POST ${path}`]);
  });

  test(`${protocol}: a server that drops every connection is given up after the second attempt`, async () => {
    await using server = await startScriptedServer({ protocol }, (_request, reply) => reply.cut());
    await using transport = connect(server);

    await assert.rejects(read(transport), (error) => isReason(error, "ServiceUnavailable"));

    assert.equal(server.asked.length, 2);
  });

  test(`${protocol}: a truncated response is never taken for a complete one, compressed or not`, async () => {
    const whole = Buffer.from(JSON.stringify({ kind: "Status", status: "Success" }));
    const packed = gzipSync(whole);
    await using server = await startScriptedServer({ protocol }, ({ url = "" }, reply) => {
      if (url.includes("packed")) reply.cutAfter(packed.subarray(0, packed.length - 4), { "content-encoding": "gzip" });
      else reply.cutAfter(whole);
    });
    await using transport = connect(server);

    for (const path of ["/plain", "/packed"])
      await assert.rejects(transport.document(path), (error) => isReason(error, "ServiceUnavailable"), path);
  });

  test(`${protocol}: a complete response can be read long after it arrived, and a truncated one is detected`, async () => {
    await using server = await startScriptedServer({ protocol }, ({ url = "" }, reply) => {
      if (url === "/whole") reply.send(200, "whole");
      else reply.cutAfter("half");
    });
    const tls = () => Promise.resolve({ authorities: server.authority });
    await using client = openHttpClient({ server: server.url, tls, clock: realClock });

    const whole = await client.send({ method: "GET", path: "/whole", headers: {} });
    // By then another request has been answered: the whole first response has arrived.
    const cut = server.nextClosed();
    const half = await client.send({ method: "GET", path: "/half", headers: {} });
    assert.equal(Buffer.from(await whole.body()).toString(), "whole");
    await cut;
    await assert.rejects(half.body(), HttpClientError);
  });

  test(`${protocol}: compressed responses are decompressed, small and large`, async () => {
    await using server = await startScriptedServer({ protocol }, (request, reply) => {
      assert.equal(request.headers["accept-encoding"], "gzip");
      const length = Number(request.url?.slice(1));
      const body = gzipSync(JSON.stringify({ text: Buffer.alloc(length, "0123456789abcdef").toString("hex") }), { level: 0 });
      reply.send(200, body, { "content-encoding": "gzip" });
    });
    await using transport = connect(server);

    for (const length of [10, 200_000]) {
      const { text } = (await transport.document(`/${length}`)) as { readonly text?: string };
      assert.equal(text?.length, 2 * length);
    }
  });

  test(`${protocol}: 429 with Retry-After is retried when the server says so, a bounded number of times`, async () => {
    let refusals = 0;
    await using server = await startScriptedServer({ protocol }, (request, reply) => {
      refusals++;
      if (request.method === "POST" && refusals > 2) return reply.send(201, MAP);
      return reply.send(
        429,
        { kind: "Status", apiVersion: "v1", reason: "TooManyRequests", message: "later", code: 429 },
        { "retry-after": "0" },
      );
    });
    await using transport = connect(server);

    const made = await write(transport);
    assert(made.is === "object" && made.created);
    assert.equal(refusals, 3);
    await assert.rejects(read(transport), (error) => isReason(error, "TooManyRequests"));
    assert.equal(refusals, 3 + 11);
  });

  test(`${protocol}: a proxy's error page becomes the error that upstream's clients make of it`, async () => {
    await using server = await startScriptedServer({ protocol }, (_request, reply) => {
      reply.send(502, '<html>Bad "Gateway"</html>');
    });
    await using transport = connect(server);

    await assert.rejects(read(transport), (error: StatusError) => {
      assert.deepEqual(
        [error.reason, error.code, error.message],
        [
          "InternalError",
          502,
          'an error on the server ("<html>Bad \\"Gateway\\"</html>") has prevented the request from succeeding (get configmaps a)',
        ],
      );
      return true;
    });
  });

  test(`${protocol}: a response that does not come times out and is not requested again`, async () => {
    let onAsked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (onAsked = resolve));
    await using server = await startScriptedServer({ protocol }, () => onAsked());
    // Long enough that a busy machine has delivered the request.
    const clock: Clock = { ...realClock, sleep: (durationMs, signal) => isAsked.then(() => realClock.sleep(durationMs, signal)) };
    await using transport = connect(server, { clock, limits: { answerTimeoutMs: 100 } });

    await assert.rejects(read(transport), /did not respond within 0\.1 s/);

    assert.equal(server.asked.length, 1);
  });

  test(`${protocol}: a watch that is cut in the middle of an event delivers the earlier ones and ends once`, async () => {
    const event = (text: string) => `${JSON.stringify({ type: "ADDED", object: { ...MAP, data: { text } } })}\n`;
    await using server = await startScriptedServer({ protocol }, (_request, reply) => {
      reply.cutAfter(Buffer.from(event("1") + event("2ü") + event("3").slice(0, -5)));
    });
    await using transport = connect(server);
    const received = nextEvents();

    await transport.watch(MAPS, received.listener);
    await received.ended;

    assert.deepEqual([received.events.length, received.ends], [2, 1]);
  });

  test(`${protocol}: a watch is stopped from either side, and reports what it cannot read`, async () => {
    await using server = await startScriptedServer({ protocol }, ({ url = "" }, reply) => {
      const expired = { type: "ERROR", object: { kind: "Status", reason: "Expired", code: 410, message: "gone" } };
      if (url.includes("broken")) reply.begin("{nonsense\n");
      else if (url.includes("ends")) reply.send(200, "");
      else if (url.includes("expired")) reply.begin(`${JSON.stringify(expired)}\n`);
      else reply.begin("\n");
    });
    await using transport = connect(server);
    const outcomes: unknown[] = [];
    for (const labelSelector of ["broken", "ends", "expired"]) {
      const received = nextEvents();
      await transport.watch({ ...MAPS, options: { labelSelector } }, received.listener);
      await received.ended;
      outcomes.push(received.events.map((event) => (event.type === "ERROR" ? event.error.reason : event.type)));
    }
    const received = nextEvents();
    const watch = await transport.watch(MAPS, received.listener);
    watch.stop();

    assert.deepEqual(outcomes, [["InternalError"], [], ["Expired"]]);
    assert.equal(received.ends, 1);
  });
}

test("HTTP/2: a watch on a silent, dead connection is detected by a ping", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => {
    reply.begin("\n");
  });
  await using wire = await startTcpProxy(server.port);
  const config = { server: `https://127.0.0.1:${wire.port}` };
  // Earlier pings must be answered in time, also on a busy machine.
  await using transport = connect(server, { config, limits: { pingIntervalMs: 30, pingTimeoutMs: 1_000 } });
  const received = nextEvents();
  await transport.watch(MAPS, received.listener);

  wire.hold();
  await received.ended;

  assert.equal(received.ends, 1);
});

test("HTTP/2: watches beyond the server's stream limit use another connection", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2", settings: { maxConcurrentStreams: 3 } }, (request, reply) => {
    if (request.url?.includes("watch=true") === true) reply.begin("\n");
    else reply.send(200, MAP);
  });
  await using transport = connect(server);
  await read(transport);

  for (let index = 0; index < 7; index++) await transport.watch(MAPS, nextEvents().listener);
  const answer = await read(transport);

  assert.equal(answer.is, "object");
  assert.equal(server.connections, 3);
});

test("HTTP/2: a write that meets a closing connection uses another one", async () => {
  let isFirst = true;
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => {
    if (!isFirst) return reply.send(201, MAP);
    isFirst = false;
    return reply.refuse();
  });
  await using transport = connect(server);

  assert.equal((await write(transport)).is, "object");
  assert.equal(server.asked.length, 2);
});

test("HTTP/2: an idle connection is closed and opened again on demand", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server, { limits: { pingIntervalMs: 5, idleTimeoutMs: 5 } });
  await read(transport);
  await server.nextClosed();

  await read(transport);

  assert.equal(server.connections, 2);
});

test("HTTP/1.1: consecutive requests share a connection", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/1.1" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server);

  for (let index = 0; index < 5; index++) await read(transport);

  assert.equal(server.connections, 1);
});

test("a server that is unreachable or has another identity is reported as unavailable with the reason", async () => {
  const server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => reply.send(200, MAP));
  {
    await using untrusting = httpsTransport({ server: server.url, namespace: "" }, { clock: realClock, log: silentLogger, userAgent: "" });
    await assert.rejects(read(untrusting), /certificate/);
    await using misnamed = connect(server, { config: { serverName: "elsewhere.example.com" } });
    await assert.rejects(read(misnamed), /elsewhere\.example\.com/);
    await using careless = connect(server, { config: { serverName: "elsewhere.example.com", isInsecure: true } });
    assert.equal((await read(careless)).is, "object");
  }
  await server[Symbol.asyncDispose]();

  await using transport = connect(server);

  await assert.rejects(read(transport), (error) => isReason(error, "ServiceUnavailable") && /ECONNREFUSED/.test(error.message));
});

test("the server's path prefix precedes all request paths", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server, { config: { server: `${server.url}/k8s/one/` } });

  await read(transport);

  assert.deepEqual(server.asked, ["GET /k8s/one/api/v1/namespaces/default/configmaps/a"]);
});

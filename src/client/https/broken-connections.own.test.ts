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
import type { ConnectionConfig } from "./connection-config.ts";
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
  test(`${protocol}: a read whose connection dies before the answer is sent once more, a write never`, async () => {
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

  test(`${protocol}: a server that breaks off every time is given up after the second`, async () => {
    await using server = await startScriptedServer({ protocol }, (_request, reply) => reply.cut());
    await using transport = connect(server);

    await assert.rejects(read(transport), (error) => isReason(error, "ServiceUnavailable"));

    assert.equal(server.asked.length, 2);
  });

  test(`${protocol}: an answer that was cut is never taken for a whole one, packed or not`, async () => {
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

  test(`${protocol}: a whole answer can be read long after it has come, and one that was cut meanwhile is known to be`, async () => {
    await using server = await startScriptedServer({ protocol }, ({ url = "" }, reply) => {
      if (url === "/whole") reply.send(200, "whole");
      else reply.cutAfter("half");
    });
    const tls = () => Promise.resolve({ authorities: server.authority });
    await using client = openHttpClient({ server: server.url, tls, clock: realClock });

    const whole = await client.send({ method: "GET", path: "/whole", headers: {} });
    // By then another request has been answered: all of the first has come.
    const cut = server.nextClosed();
    const half = await client.send({ method: "GET", path: "/half", headers: {} });
    assert.equal(Buffer.from(await whole.body()).toString(), "whole");
    await cut;
    await assert.rejects(half.body(), HttpClientError);
  });

  test(`${protocol}: what comes packed is unpacked, small and large`, async () => {
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

  test(`${protocol}: too many requests are tried again when the server says so, a bounded number of times`, async () => {
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

  test(`${protocol}: a page that a proxy answers with becomes the error that upstream's clients make of it`, async () => {
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

  test(`${protocol}: an answer that does not come is not waited for without end, nor asked for again`, async () => {
    let onAsked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (onAsked = resolve));
    await using server = await startScriptedServer({ protocol }, () => onAsked());
    // No time is over before a busy machine has brought the request there.
    const clock: Clock = { ...realClock, sleep: (durationMs, signal) => isAsked.then(() => realClock.sleep(durationMs, signal)) };
    await using transport = connect(server, { clock, limits: { answerTimeoutMs: 100 } });

    await assert.rejects(read(transport), /did not answer within 0\.1 s/);

    assert.equal(server.asked.length, 1);
  });

  test(`${protocol}: a watch that is cut in the middle of an event has heard those before it, and ends once`, async () => {
    const event = (text: string) => `${JSON.stringify({ type: "ADDED", object: { ...MAP, data: { text } } })}\n`;
    await using server = await startScriptedServer({ protocol }, (_request, reply) => {
      reply.cutAfter(Buffer.from(event("1") + event("2ü") + event("3").slice(0, -5)));
    });
    await using transport = connect(server);
    const heard = nextEvents();

    await transport.watch(MAPS, heard.listener);
    await heard.ended;

    assert.deepEqual([heard.events.length, heard.ends], [2, 1]);
  });

  test(`${protocol}: a watch is stopped from either side, and told of what it cannot read`, async () => {
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
      const heard = nextEvents();
      await transport.watch({ ...MAPS, options: { labelSelector } }, heard.listener);
      await heard.ended;
      outcomes.push(heard.events.map((event) => (event.type === "ERROR" ? event.error.reason : event.type)));
    }
    const heard = nextEvents();
    const watch = await transport.watch(MAPS, heard.listener);
    watch.stop();

    assert.deepEqual(outcomes, [["InternalError"], [], ["Expired"]]);
    assert.equal(heard.ends, 1);
  });
}

test("HTTP/2: a watch whose connection is silent and dead is noticed by a ping", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => {
    reply.begin("\n");
  });
  await using wire = await startTcpProxy(server.port);
  const config = { server: `https://127.0.0.1:${wire.port}` };
  // The pings before must be answered in time, also on a busy machine.
  await using transport = connect(server, { config, limits: { pingIntervalMs: 30, pingTimeoutMs: 1_000 } });
  const heard = nextEvents();
  await transport.watch(MAPS, heard.listener);

  wire.hold();
  await heard.ended;

  assert.equal(heard.ends, 1);
});

test("HTTP/2: watches beyond what the server allows on one connection get another", async () => {
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

test("HTTP/2: a write that meets a connection which the server is closing goes over another", async () => {
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

test("HTTP/2: a connection that is not used is closed, and made again when it is", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server, { limits: { pingIntervalMs: 5, idleTimeoutMs: 5 } });
  await read(transport);
  await server.nextClosed();

  await read(transport);

  assert.equal(server.connections, 2);
});

test("HTTP/1.1: requests one after the other share a connection", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/1.1" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server);

  for (let index = 0; index < 5; index++) await read(transport);

  assert.equal(server.connections, 1);
});

test("a server that is not there, or that is somebody else, is unavailable with the reason", async () => {
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

test("a path of the server stands before all others", async () => {
  await using server = await startScriptedServer({ protocol: "HTTP/2" }, (_request, reply) => reply.send(200, MAP));
  await using transport = connect(server, { config: { server: `${server.url}/k8s/one/` } });

  await read(transport);

  assert.deepEqual(server.asked, ["GET /k8s/one/api/v1/namespaces/default/configmaps/a"]);
});

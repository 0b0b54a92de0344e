import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { becomes } from "../../../testing/becomes.ts";
import { testAuthority, testServing } from "../../../testing/fixtures/certificates.ts";
import { ProxyScene, refusingEndpoint, startBackend, startHttp2Backend } from "./testing/proxy-scene.ts";

/** Describes the request that it gets. */
const echo = async () =>
  startBackend((incoming, response) => {
    const { method, url, headers } = incoming;
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => void pieces.push(piece));
    incoming.on("end", () => response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(pieces).toString() })));
  });

describe("headers through the proxy", () => {
  test("the endpoint learns client, host, protocol and request id from the proxy alone", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const forged = { "x-forwarded-for": "6.6.6.6", "x-real-ip": "6.6.6.6", x_forwarded_for: "6.6.6.6", forwarded: "for=6.6.6.6" };
    const { body } = await scene.fetch("/a?b=c", {
      headers: { host: "Example.com:81", connection: "keep-alive, x-private", "x-private": "1", "x-kept": "2", te: "trailers", ...forged },
    });
    const { url, headers } = JSON.parse(body) as { url: string; headers: Record<string, string> };
    const { "x-request-id": requestId = "", ...others } = headers;
    equal(url, "/a?b=c");
    match(requestId, /^[0-9a-f]{32}$/);
    deepEqual(others, {
      host: "Example.com:81",
      connection: "keep-alive",
      "x-kept": "2",
      "x-forwarded-for": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      "x-forwarded-host": "Example.com:81",
      "x-forwarded-proto": "http",
      "x-forwarded-port": String(scene.httpPort),
    });
    equal(scene.records[0]?.request.host, "example.com");
  });

  test("the client gets status, headers and cookies of the endpoint, without those of its connection", async () => {
    await using backend = await startBackend((_incoming, response) => {
      response.writeHead(418, "Teapot", [
        "Set-Cookie",
        "a=1",
        "Set-Cookie",
        "b=2",
        "Connection",
        "keep-alive, X-Hop",
        "X-Hop",
        "1",
        "X-Kept",
        "2",
      ]);
      response.end("short");
    });
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const { status, headers, body } = await scene.fetch("/");
    deepEqual([status, body, headers["set-cookie"], headers["x-hop"], headers["x-kept"]], [418, "short", ["a=1", "b=2"], undefined, "2"]);
  });
});

describe("bodies through the proxy", () => {
  test("large bodies arrive unchanged, with a length and chunked", async () => {
    await using backend = await startBackend((incoming, response) => void incoming.pipe(response));
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const large = Buffer.alloc(3_000_000, "0123456789");
    const { body } = await scene.fetch("/", { method: "POST", body: large });
    ok(large.equals(Buffer.from(body)));
    const chunked = await scene.fetch("/", { method: "POST", body: large, headers: { "transfer-encoding": "chunked" } });
    ok(large.equals(Buffer.from(chunked.body)));
    const put = await scene.fetch("/", { method: "PUT", body: "small" });
    equal(put.body, "small");
  });

  test("events are streamed while the answer continues", async () => {
    let send = (_event: string) => {};
    await using backend = await startBackend((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      send = (event) => void response.write(`data: ${event}\n\n`);
    });
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const sent = request({ host: "127.0.0.1", port: scene.httpPort }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    send("one");
    equal(String((await once(response, "data"))[0]), "data: one\n\n");
    send("two");
    equal(String((await once(response, "data"))[0]), "data: two\n\n");
    // The endpoint notices that the client left.
    const left = once([...backend.sockets][0] ?? backend.server, "close");
    sent.destroy();
    await left;
    await becomes(
      async () => scene.records.map(({ status, isComplete }) => ({ status, isComplete })),
      [{ status: 200, isComplete: false }],
    );
  });

  test("a body over the limit is refused with 413, with a length and chunked", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint], policy: { bodyBytesMax: 1_000 } });
    equal((await scene.fetch("/", { method: "POST", body: "x".repeat(1_000) })).status, 200);
    equal((await scene.fetch("/", { method: "POST", body: "x".repeat(1_001) })).status, 413);
    const sent = request({ host: "127.0.0.1", port: scene.httpPort, method: "POST" });
    sent.on("error", () => {});
    sent.write("x".repeat(1_001));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    equal(response.statusCode, 413);
    sent.end();
  });

  test("an empty body with a length has one length for the endpoint", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    match(raw, /^HTTP\/1\.1 200 /);
    match(raw, /"content-length":"0"/);
  });

  test("a small body that does not arrive is refused with 408 after the idle timeout", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint], policy: { idleTimeoutMs: 50 } });
    const sent = request({ host: "127.0.0.1", port: scene.httpPort, method: "PUT", headers: { "content-length": "5" } });
    sent.on("error", () => {});
    sent.flushHeaders();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    equal(response.statusCode, 408);
    equal(backend.sockets.size, 0);
    sent.destroy();
  });

  test("an answer that the endpoint cuts off is cut off for the client", async () => {
    await using backend = await startBackend((_incoming, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("part", () => response.socket?.destroy());
    });
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    match(raw, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\npart$/);
    await becomes(async () => scene.records[0]?.isComplete, false);
  });
});

describe("retries", () => {
  test("a refused connection is retried on the next endpoint for every method", async () => {
    await using backend = await echo();
    const refusing = await refusingEndpoint();
    await using scene = await ProxyScene.start({ endpoints: [refusing, backend.endpoint] });
    for (const method of ["GET", "POST", "PATCH"]) {
      const body = method === "GET" ? {} : { body: "text" };
      const { status, body: answer } = await scene.fetch("/", { method, ...body });
      deepEqual([status, (JSON.parse(answer) as { body: string }).body], [200, method === "GET" ? "" : "text"]);
    }
    deepEqual(scene.failures, [refusing, refusing, refusing]);
    deepEqual(
      scene.records.map(({ attempts }) => attempts),
      [2, 2, 2],
    );
  });

  test("a connection that ends before the answer is retried for idempotent requests only", async () => {
    let requests = 0;
    await using broken = await startBackend((incoming) => {
      requests++;
      incoming.socket.destroy();
    });
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [broken.endpoint, backend.endpoint] });
    equal((await scene.fetch("/")).status, 200);
    equal((await scene.fetch("/", { method: "PUT", body: "again" })).status, 200);
    equal((await scene.fetch("/", { method: "POST", body: "once" })).status, 502);
    equal(requests, 3);
  });

  test("without endpoints the answer is 503, and 502 when all failed", async () => {
    await using scene = await ProxyScene.start();
    equal((await scene.fetch("/")).status, 503);
    scene.endpoints = [await refusingEndpoint()];
    equal((await scene.fetch("/")).status, 502);
  });

  test("an endpoint that does not answer in time is not retried, and the answer is 504", async () => {
    await using silent = await startBackend(() => {});
    await using backend = await echo();
    // Long enough that the connection is established on a busy machine: before, the request could be repeated.
    await using scene = await ProxyScene.start({ endpoints: [silent.endpoint, backend.endpoint], policy: { responseTimeoutMs: 1_000 } });
    equal((await scene.fetch("/")).status, 504);
  });

  test("an endpoint that closes idle connections loses no request", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint, backend.endpoint, backend.endpoint] });
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => scene.fetch("/")));
      ok(answers.every(({ status }) => status === 200));
      for (const socket of backend.sockets) socket.destroy();
    }
  });

  test("connections of endpoints that left are closed, running requests finish", async () => {
    let finish = () => {};
    await using backend = await startBackend((incoming, response) => {
      if (incoming.url === "/slow") finish = () => void response.end("slow");
      else response.end("quick");
    });
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    equal((await scene.fetch("/quick")).body, "quick");
    const [idle] = backend.sockets;
    const slow = scene.fetch("/slow");
    await becomes(async () => scene.server.runningCount, 1);
    equal((await scene.fetch("/quick")).body, "quick");
    scene.server.forgetEndpoints([backend.endpoint]);
    await becomes(async () => backend.sockets.size, 1);
    ok(idle !== undefined);
    finish();
    equal((await slow).body, "slow");
    await becomes(async () => backend.sockets.size, 0);
  });
});

describe("requests that could be read differently by proxy and endpoint", () => {
  for (const [title, bytes, answer] of [
    [
      "length and chunks",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
      /^HTTP\/1\.1 400 /,
    ],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", /^HTTP\/1\.1 400 /],
    ["a space before the colon", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello", /^HTTP\/1\.1 400 /],
    ["chunked not last", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["a bare line feed in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "a folded header",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    // Node closes the connection at once.
    ["an unknown coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", /^$|^HTTP\/1\.1 400 /],
    ["a carriage return in a header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["a signed length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello", /^HTTP\/1\.1 400 /],
    [
      "a coding before chunked",
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["no host", "GET / HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["a target that is no path", "GET a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    [
      "an upgrade with a body",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc",
      /^HTTP\/1\.1 400 /,
    ],
  ] as const) {
    test(`${title}: refused, and nothing reaches the endpoint`, async () => {
      await using backend = await echo();
      await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
      match(await scene.raw(bytes), answer);
      equal(backend.sockets.size, 0);
    });
  }

  for (const [title, chunks] of [
    ["a bad size", "zz\r\nhello\r\n0\r\n\r\n"],
    ["a size with a sign", "+5\r\nhello\r\n0\r\n\r\n"],
    ["more bytes than their size", "3\r\nhello\r\n0\r\n\r\n"],
    ["a size beyond 64 bits", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"],
    ["a size that ends with a bare line feed", "5\nhello\r\n0\r\n\r\n"],
  ] as const) {
    test(`chunks with ${title} end the connection, and no second request reaches the endpoint`, async () => {
      const seen: (string | undefined)[] = [];
      await using backend = await startBackend((incoming, response) => {
        seen.push(incoming.url);
        incoming.resume().on("end", () => response.end());
      });
      await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
      const second = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n";
      const raw = await scene.raw(`POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${second}`);
      doesNotMatch(raw, /^HTTP\/1\.1 200 /);
      equal(seen.includes("/second"), false);
    });
  }

  test("the length of a body stays if the client declares it to be of the connection", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: close, content-length\r\nContent-Length: 5\r\n\r\nhello");
    match(raw, /"body":"hello"/);
    match(raw, /"content-length":"5"/);
  });

  test("a target in absolute form is routed by its own host", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw("GET http://real.example/x HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n");
    match(raw, /"url":"\/x"/);
    match(raw, /"host":"real\.example"/);
    equal(scene.records[0]?.request.host, "real.example");
  });
});

describe("switching protocols", () => {
  test("a WebSocket carries messages in both directions and ends for both", async () => {
    await using backend = await startBackend((_incoming, response) => void response.end());
    const sockets = new WebSocketServer({ server: backend.server });
    sockets.on("connection", (socket, incoming) => {
      socket.send(`hello ${incoming.url} from ${String(incoming.headers["x-forwarded-for"])}`);
      socket.on("message", (message: Buffer) => socket.send(`you said ${message.toString()}`));
    });
    await using scene = await ProxyScene.start({ endpoints: [await refusingEndpoint(), backend.endpoint] });
    const client = new WebSocket(`ws://127.0.0.1:${scene.httpPort}/chat`);
    const messages: string[] = [];
    client.on("message", (message: Buffer) => void messages.push(message.toString()));
    await once(client, "open");
    client.send("hi");
    await becomes(async () => messages, ["hello /chat from 127.0.0.1", "you said hi"]);
    const [served] = sockets.clients;
    ok(served !== undefined);
    const ended = once(served, "close");
    client.close();
    await ended;
    await becomes(async () => scene.records.map(({ status }) => status), [101]);
  });

  test("an endpoint that refuses to switch answers as usual", async () => {
    await using backend = await startBackend((_incoming, response) => void response.writeHead(403).end("no"));
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    match(raw, /^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nno$|^HTTP\/1\.1 403 Forbidden\r\n[^]*no\r\n0\r\n\r\n$/);
  });

  test("an offer of HTTP/2 without TLS is ignored", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const raw = await scene.raw(
      "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
    );
    match(raw, /^HTTP\/1\.1 200 OK\r\n[^]*"url":"\/x"/);
  });
});

describe("HTTP/2", () => {
  for (const isTls of [true, false]) {
    test(`requests ${isTls ? "with" : "without"} TLS reach endpoints of HTTP/1.1, several at a time on one connection`, () =>
      sendSeveral(isTls));
  }

  const sendSeveral = async (isTls: boolean) => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const session = scene.http2({ isTls });
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const stream = session.request({ ":method": "POST", ":path": `/${index}`, ":authority": "web.example", cookie: ["a=1", "b=2"] });
        stream.end(`body ${index}`);
        const [headers] = (await once(stream, "response")) as [Record<string, string | number>];
        return {
          status: headers[":status"],
          ...(JSON.parse(await text(stream)) as { url: string; body: string; headers: Record<string, string> }),
        };
      }),
    );
    for (const [index, { status, url, body, headers }] of answers.entries()) {
      deepEqual([status, url, body, headers["host"], headers["cookie"]], [200, `/${index}`, `body ${index}`, "web.example", "a=1; b=2"]);
      const [protocol, port] = isTls ? ["https", scene.httpsPort] : ["http", scene.httpPort];
      deepEqual([headers["x-forwarded-proto"], headers["x-forwarded-port"]], [protocol, String(port)]);
    }
  };

  test("the preface may come in pieces, and so may a request of HTTP/1.1 that begins like it", async () => {
    await using backend = await echo();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
    const answerTo = async (...pieces: readonly string[]) => {
      const socket = connect(scene.httpPort, "127.0.0.1").setNoDelay(true);
      for (const piece of pieces) await new Promise((written) => socket.write(piece, "latin1", written));
      const [bytes] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return bytes;
    };
    match((await answerTo("P", "OST / HTTP/1.1\r\nHost: a\r\nContent-", "Length: 2\r\n\r\n", "ok")).toString(), /^HTTP\/1\.1 200 OK/);
    const settings = "\0\0\0\x04\0\0\0\0\0";
    // A frame of type SETTINGS.
    equal((await answerTo("PR", "I * HTTP/2.0\r\n\r\nSM", `\r\n\r\n${settings}`))[3], 4);
    match((await answerTo("PRI * HTTP/1.1\r\nHost: a\r\n\r\n")).toString(), /^HTTP\/1\.1 400 /);
  });

  test("a header that HTTP/2 does not repeat is the client's fault, not the endpoint's", async () => {
    await using backend = await startHttp2Backend();
    await using scene = await ProxyScene.start({ endpoints: [backend.endpoint, backend.endpoint], policy: { protocol: "h2c" } });
    const twice = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n";
    match(await scene.raw(twice), /^HTTP\/1\.1 400 /);
    deepEqual(scene.failures, []);
    equal((await scene.fetch("/")).body, "HTTP/2");
  });
});

describe("HTTPS", () => {
  /** The certificate that the server presents, as base64. */
  const presented = async (scene: ProxyScene, options: ConnectionOptions) => {
    const socket = connectTls({ host: "127.0.0.1", port: scene.httpsPort, rejectUnauthorized: false, ...options });
    await once(socket, "secureConnect");
    const { raw } = socket.getPeerCertificate();
    socket.destroy();
    return raw.toString("base64");
  };
  const rawOf = ({ certificate }: { readonly certificate: string }) => certificate.replaceAll(/-----[^-]*-----|\s/g, "");

  test("the certificate follows the name of the handshake and is exchanged while it runs", async () => {
    await using scene = await ProxyScene.start();
    const [first, second, wildcard] = [testServing(), testServing(), testServing()];
    const serialOf = (servername: string) => presented(scene, { servername });
    scene.server.useCertificates(
      new Map([
        ["a.example", first],
        ["*.wild.example", wildcard],
      ]),
    );
    ok(rawOf(first).startsWith(await serialOf("a.example")));
    ok(rawOf(first).startsWith(await serialOf("A.Example")));
    ok(rawOf(wildcard).startsWith(await serialOf("x.wild.example")));
    for (const other of ["b.example", "x.y.wild.example", "wild.example", ""])
      ok(rawOf(scene.certificate).startsWith(await serialOf(other)));
    scene.server.useCertificates(new Map([["a.example", second]]));
    ok(rawOf(second).startsWith(await serialOf("a.example")));
  });

  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    test(`a certificate with another type of key than the default one is presented with ${version}`, async () => {
      await using scene = await ProxyScene.start();
      const { privateKey, publicKey } = generateKeyPairSync("rsa", {
        modulusLength: 2_048,
        publicKeyEncoding: { type: "spki", format: "der" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      });
      const { certificate } = testAuthority("rsa").sign("a.example", { publicKey });
      scene.server.useCertificates(new Map([["a.example", { certificate, key: privateKey }]]));
      const versions = { minVersion: version, maxVersion: version };
      equal(await presented(scene, { servername: "a.example", ...versions }), rawOf({ certificate }));
      ok(rawOf(scene.certificate).startsWith(await presented(scene, { servername: "b.example", ...versions })));
    });
  }
});

test("stopping the proxy lets running requests finish and refuses new connections", async () => {
  const finishing: (() => void)[] = [];
  await using backend = await startBackend((_incoming, response) => void finishing.push(() => response.end("done")));
  await using scene = await ProxyScene.start({ endpoints: [backend.endpoint] });
  const running = scene.fetch("/");
  await becomes(async () => finishing.length, 1);
  const stopped = scene.server[Symbol.asyncDispose]();
  await becomes(
    async () => scene.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n").catch((error: NodeJS.ErrnoException) => error.code),
    "ECONNREFUSED",
  );
  for (const finish of finishing) finish();
  const { body, headers } = await running;
  deepEqual([body, headers.connection], ["done", "close"]);
  await stopped;
});

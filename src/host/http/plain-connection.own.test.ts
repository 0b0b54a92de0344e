import { onAbort } from "../../base/abort.ts";
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { request as requestHttps, Agent } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import type { HttpHandler, HttpReply } from "./contract.ts";
import type { HttpLimits } from "./limits.ts";
import { startHttpsServer, type HttpsServer } from "./server.ts";

const tls = testServing();
const LARGE_BYTES = 1024 * 1024;

function start(handler: HttpHandler, limits: Partial<HttpLimits> = {}): Promise<HttpsServer> {
  return startHttpsServer({
    ...{ host: "127.0.0.1", port: 0, tls, log: silentLogger, limits, handler },
    bodyTooLarge: (limitBytes) => new Error(`limit is ${limitBytes}`),
  });
}

/** Answers with the method, the path and the body. */
const echo: HttpHandler = (request, reply) => {
  void Promise.resolve(request.body()).then((body) =>
    reply.send({ code: 200, headers: { "content-type": "text/plain" } }, [Buffer.from(`${request.method} ${request.path} `), body]),
  );
};

async function open({ port }: HttpsServer): Promise<Client> {
  const socket = connect({ host: "127.0.0.1", port, ca: tls.authority, ALPNProtocols: ["http/1.1"] });
  await once(socket, "secureConnect");
  return new Client(socket);
}

class Client {
  readonly socket: TLSSocket;
  #text = "";
  #changed = () => {};

  constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.on("data", (text: string) => {
      this.#text += text;
      this.#changed();
    });
    socket.on("close", () => this.#changed());
  }

  /** Takes what was received up to the end of the pattern. */
  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#text);
      if (found !== null) {
        const end = found.index + found[0].length;
        const taken = this.#text.slice(0, end);
        this.#text = this.#text.slice(end);
        return taken;
      }
      if (this.socket.closed) throw new Error(`The connection is closed; received: ${this.#text.slice(0, 300)}`);
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }
}

const headOf = (answer: string) =>
  answer
    .slice(0, answer.indexOf("\r\n\r\n"))
    .replace(/Date: .*/, "Date: now")
    .split("\r\n");

test("a connection serves plain requests one after the other", async () => {
  await using server = await start(echo);
  const client = await open(server);

  client.socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  match(await client.until(/GET \/a $/), /^HTTP\/1\.1 200 OK\r\n/);
  client.socket.write("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  match(await client.until(/POST \/b body$/), /^HTTP\/1\.1 200 OK\r\ncontent-length: 12\r\n/);
  client.socket.destroy();
});

test("a client that ends its side with its request receives a response that is there at once", async () => {
  await using server = await start(echo);
  const client = await open(server);

  client.socket.end("GET /a HTTP/1.1\r\nhost: x\r\n\r\n");

  match(await client.until(/GET \/a $/), /^HTTP\/1\.1 200 OK/);
});

test("the response to a plain request has the head that Node's server writes", async () => {
  await using server = await start(echo);
  const [plain, other] = [await open(server), await open(server)];

  plain.socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  other.socket.write("GET /a HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n");

  deepEqual(headOf(await plain.until(/GET \/a $/)), headOf(await other.until(/GET \/a $/)));
  for (const { socket } of [plain, other]) socket.destroy();
});

const HANDED_OVER: Readonly<Record<string, { readonly writes: readonly string[]; readonly bodies: readonly string[] }>> = {
  "a request in two parts": { writes: ["GET /a HTTP/1.1\r\nHo", "st: a\r\n\r\n"], bodies: ["GET /a "] },
  "a head before its body": { writes: ["POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n", "body"], bodies: ["POST /a body"] },
  "two requests at once": {
    writes: ["GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n"],
    bodies: ["GET /a ", "GET /b "],
  },
  "a chunked body": {
    writes: ["POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"],
    bodies: ["POST /a body"],
  },
};

for (const [what, { writes, bodies }] of Object.entries(HANDED_OVER)) {
  test(`a connection with ${what} is served, before and after it plain requests`, async () => {
    await using server = await start(echo);
    const client = await open(server);

    client.socket.write("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/GET \/first $/);
    for (const text of writes) await new Promise((resolve) => client.socket.write(text, resolve));
    for (const body of bodies) match(await client.until(new RegExp(body)), /^HTTP\/1\.1 200 OK\r\n/);
    client.socket.write("GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    match(await client.until(/GET \/last /), /^HTTP\/1\.1 200 OK\r\n/);
    client.socket.destroy();
  });
}

test("requests that arrive before the response are answered after it, in order", async () => {
  let release: HttpReply | undefined;
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  await using server = await start((request, reply, ...more) => {
    if (request.path !== "/slow") return echo(request, reply, ...more);
    release = reply;
    begun();
  });
  const client = await open(server);

  client.socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  await isBegun;
  for (const path of ["/b", "/c"]) await new Promise((resolve) => client.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, resolve));
  release?.send({ code: 200, headers: {} }, [Buffer.from("slow")]);

  match(await client.until(/GET \/c /), /^[^]*\r\n\r\nslowHTTP[^]*GET \/b HTTP[^]*GET \/c $/);
  client.socket.destroy();
});

for (const how of ["destroy", "end"] as const) {
  test(`the signal of a plain request is aborted when its client disconnects (${how})`, async () => {
    let aborted = () => {};
    const isAborted = new Promise<void>((resolve) => (aborted = resolve));
    await using server = await start(({ signal }) => void onAbort(signal, aborted));
    const client = await open(server);

    client.socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", () => client.socket[how]());

    await isAborted;
  });
}

test("large responses, compressed or not, arrive whole, and the connection serves the next request", async () => {
  const large = Buffer.alloc(LARGE_BYTES, "large ");
  await using server = await start((request, reply) => {
    const pieces = Array.from({ length: 16 }, (_, index) => large.subarray((index * LARGE_BYTES) / 16, ((index + 1) * LARGE_BYTES) / 16));
    reply.send({ code: 200, headers: {} }, pieces, { gzip: request.path === "/gzip" });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: tls.authority });
  const ports: (number | undefined)[] = [];

  for (const path of ["/plain", "/gzip", "/plain"]) {
    const request = requestHttps({ host: "127.0.0.1", port: server.port, path, agent });
    request.end();
    const [answer] = (await once(request, "response")) as [NodeJS.ReadableStream & { readonly socket: TLSSocket }];
    ports.push(answer.socket.localPort);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    equal((path === "/gzip" ? gunzipSync(bytes) : bytes).equals(large), true);
  }

  equal(new Set(ports).size, 1);
  agent.destroy();
});

test("a stream is chunked, ends, and the connection serves the next request", async () => {
  await using server = await start((request, reply, ...more) => {
    if (request.path !== "/stream") return echo(request, reply, ...more);
    const sink = reply.stream({ code: 200, headers: {} });
    sink.write({ bytes: Buffer.from("one") });
    sink.write({ bytes: Buffer.from("two") });
    sink.end();
  });
  const client = await open(server);

  client.socket.write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  match(await client.until(/two\r\n0\r\n\r\n$/), /Transfer-Encoding: chunked\r\n[^]*\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n$/);
  client.socket.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(/GET \/next $/);
  client.socket.destroy();
});

test("a connection that sends nothing, and one that is idle after a request, are closed after their timeouts", async () => {
  await using server = await start(echo, { headersTimeoutMs: 1, idleTimeoutMs: 1, sweepIntervalMs: 5 });
  const [silent, idle] = [await open(server), await open(server)];
  const closed = [once(silent.socket, "close"), once(idle.socket, "close")];

  idle.socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");

  await Promise.all(closed);
  match(await silent.until(/$/), /^(?:|HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n\r\n)$/);
});

test("a server that stops closes idle connections at once, and running ones after their response, which says so", async () => {
  let release: HttpReply | undefined;
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const server = await start((_request, reply) => {
    release = reply;
    begun();
  });
  const [idle, running] = [await open(server), await open(server)];
  running.socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  await isBegun;

  const stopped = server.close();
  await once(idle.socket, "close");
  release?.send({ code: 200, headers: {} }, [Buffer.from("last")]);

  match(await running.until(/last$/), /Connection: close\r\n/);
  await stopped;
});

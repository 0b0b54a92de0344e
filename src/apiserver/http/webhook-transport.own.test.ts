import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { test } from "node:test";
import { PURPOSE } from "../../api/machinery/x509/extensions.ts";
import { realClock } from "../../host/real-clock.ts";
import { testAuthority } from "../../testing/fixtures/certificates.ts";
import type { WebhookPost } from "../framework/webhook-caller.ts";
import { networkWebhookTransport, type NetworkWebhookTransport, type WebhookCredentials } from "./webhook-transport.ts";

const authority = testAuthority("webhooks");

function leaf(purpose: "server" | "client", ...names: readonly string[]): CertificateWithKey {
  return authority.sign(purpose, { extendedKeyUsages: [PURPOSE[purpose]], alternativeNames: { dnsNames: names, ipAddresses: [] } });
}

type CertificateWithKey = ReturnType<ReturnType<typeof testAuthority>["sign"]>;

const SERVER_NAME = "hook.shop.svc";
const serving = leaf("server", SERVER_NAME);

interface Served extends AsyncDisposable {
  readonly transport: NetworkWebhookTransport;
  readonly connections: () => number;
  readonly request: WebhookPost;
}

interface ServedOptions {
  readonly certificate?: CertificateWithKey;
  readonly credentials?: WebhookCredentials;
}

async function serve(answer: RequestListener, { certificate = serving, credentials = {} }: ServedOptions = {}): Promise<Served> {
  const tls = {
    cert: certificate.certificate,
    key: certificate.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = createServer(tls, answer).listen(0, "127.0.0.1");
  let connections = 0;
  server.on("secureConnection", () => connections++);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const transport = networkWebhookTransport({ clock: realClock, credentials: () => Promise.resolve(credentials) });
  return {
    transport,
    connections: () => connections,
    request: {
      target: `${SERVER_NAME}:443`,
      scheme: "https",
      host: "127.0.0.1",
      port,
      serverName: SERVER_NAME,
      path: "/admit?timeout=10s",
      body: '{"a":1}',
      authorities: authority.certificate,
      answerBytesMax: 1_000_000,
      signal: new AbortController().signal,
    },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const FINE: RequestListener = (_request, response) => void response.setHeader("content-type", "application/json").end("{}");

test("a webhook is called by POST with the name of its Service, over one kept connection", async () => {
  const seen: unknown[] = [];
  await using served = await serve((request, response) => {
    request.setEncoding("utf8").on("data", (body) => {
      seen.push([request.method, request.url, request.headers.host, request.headers["content-type"], body]);
      response.setHeader("content-type", "application/json").end('{"ok":true}');
    });
  });

  const { code, contentType, body } = await served.transport.post(served.request);
  await served.transport.post(served.request);

  deepEqual([code, contentType, new TextDecoder().decode(body)], [200, "application/json", '{"ok":true}']);
  const call = ["POST", "/admit?timeout=10s", "hook.shop.svc:443", "application/json", '{"a":1}'];
  deepEqual(seen, [call, call]);
  equal(served.connections(), 1);
});

test("the API server presents its configured certificate and token", async () => {
  const { certificate, key: privateKey } = leaf("client");
  const seen: unknown[] = [];
  await using served = await serve(
    (request, response) => {
      seen.push([(request.socket as TLSSocket).authorized, request.headers.authorization]);
      response.end("{}");
    },
    { credentials: { certificate, key: privateKey, token: "secret" } },
  );

  await served.transport.post(served.request);

  deepEqual(seen, [[true, "Bearer secret"]]);
});

test("a redirect is a response like any other, and is not followed", async () => {
  await using served = await serve((_request, response) => void response.writeHead(307, { location: "https://elsewhere.example/" }).end());
  equal((await served.transport.post(served.request)).code, 307);
});

const REFUSED = "tls: failed to verify certificate: x509:";

for (const { title, certificate, change, message } of [
  {
    title: "of another name",
    certificate: leaf("server", "other.shop.svc"),
    change: {},
    message: `${REFUSED} certificate is valid for other.shop.svc, not hook.shop.svc`,
  },
  {
    title: "of an unknown CA",
    certificate: serving,
    change: { authorities: testAuthority("other").certificate },
    message: `${REFUSED} certificate signed by unknown authority`,
  },
] as const) {
  test(`a webhook with a certificate ${title} is not called`, async () => {
    await using served = await serve(FINE, { certificate });
    await rejects(served.transport.post({ ...served.request, ...change }), { message });
  });
}

test("a refused connection is reported as Go does", async () => {
  await using served = await serve(FINE);
  const { port } = served.request;
  await served[Symbol.asyncDispose]();
  await using other = await serve(FINE);
  const message = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
  await rejects(other.transport.post({ ...other.request, port }), { message });
});

test("a response that ends early is reported as upstream's client does", async () => {
  await using served = await serve((_request, response) => {
    response.setHeader("content-length", "1000");
    response.write("{", () => response.socket?.destroy());
  });

  const message = "unexpected error when reading response body. Please retry. Original error: unexpected EOF";
  await rejects(served.transport.post(served.request), { name: "IncompleteResponse", message });
});

test("a response of 1 GB is cut off at the limit", async () => {
  let sentBytes = 0;
  await using served = await serve((_request, response) => {
    const piece = Buffer.alloc(64 * 1024, " ");
    const more = (): void => {
      while (sentBytes < 1_000_000_000 && !response.destroyed) {
        sentBytes += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
    };
    more();
  });

  await rejects(served.transport.post(served.request), { message: "the response exceeds the limit of 1000000 bytes" });

  ok(sentBytes < 100_000_000, `the server could send ${sentBytes} bytes`);
});

test("a cancelled call ends at once with the reason, also while the body is read", async () => {
  const stop = new AbortController();
  await using served = await serve((_request, response) => {
    response.write("{");
    stop.abort(new Error("enough"));
  });
  await rejects(served.transport.post({ ...served.request, signal: stop.signal }), { message: "enough" });
});

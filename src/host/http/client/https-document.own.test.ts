import { deepEqual, rejects } from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { testServing } from "../../../testing/fixtures/certificates.ts";
import { fetchHttpsDocument } from "./https-document.ts";

const { certificate: cert, key, authority } = testServing();
const NEVER = new AbortController().signal;

/** Responses by path; HERE in redirects is replaced by the server's address. */
const ANSWERS: Readonly<Record<string, { readonly code?: number; readonly location?: string; readonly body?: string }>> = {
  "/good": { body: '{"keys":[1,"a",null]}' },
  "/list": { body: "[]" },
  "/text": { body: "hello" },
  "/missing": { code: 404, body: "{}" },
  "/moved": { code: 302, location: "/good" },
  "/moved-away": { code: 301, location: "http://127.0.0.1:1/good" },
  "/moved-to-file": { code: 301, location: "file:///etc/passwd" },
  "/forever": { code: 302, location: "/forever" },
  "/large": { body: `{"a":"${"x".repeat(1_100_000)}"}` },
};

async function start(): Promise<AsyncDisposable & { readonly url: string }> {
  const options: ServerOptions = { cert, key };
  const server: Server = createServer(options, ({ url = "" }, response) => {
    if (url === "/silent") return;
    const { code = 200, location, body = "" } = ANSWERS[url] ?? { code: 500 };
    response.writeHead(code, location === undefined ? {} : { location }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a document is fetched from a server with a trusted certificate, also through redirects", async () => {
  await using server = await start();
  const options = { certificateAuthority: authority, signal: NEVER };

  deepEqual(await fetchHttpsDocument(`${server.url}/good`, options), { keys: [1, "a", null] });
  deepEqual(await fetchHttpsDocument(`${server.url}/moved`, options), { keys: [1, "a", null] });
});

const refused: readonly [path: string, message: RegExp][] = [
  ["/list", /must be a JSON object/],
  ["/text", /must be a JSON object/],
  ["/missing", /the response status must be 200, is 404/],
  ["/moved-away", /"http:\/\/127.0.0.1:1\/good": it must be an HTTPS URL/],
  ["/moved-to-file", /must be an HTTPS URL/],
  ["/forever", /more than 5 redirects/],
  ["/large", /the response exceeds 1048576 bytes/],
];

for (const [path, message] of refused) {
  test(`${path} is rejected: ${message.source}`, async () => {
    await using server = await start();
    await rejects(fetchHttpsDocument(`${server.url}${path}`, { certificateAuthority: authority, signal: NEVER }), message);
  });
}

test("a server whose certificate is not signed by a trusted CA is rejected", async () => {
  await using server = await start();
  await rejects(fetchHttpsDocument(`${server.url}/good`, { signal: NEVER }), /Cannot fetch/);
});

test("a URL that is not HTTPS is rejected without a request", async () => {
  const server = createHttpServer((_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  await rejects(fetchHttpsDocument(`http://127.0.0.1:${port}/`, { signal: NEVER }), /must be an HTTPS URL/);
  await rejects(fetchHttpsDocument("nonsense", { signal: NEVER }), /must be an HTTPS URL/);
  await new Promise((resolve) => server.close(resolve));
});

test("an aborted fetch rejects immediately with the reason", async () => {
  await using server = await start();
  const controller = new AbortController();
  const reason = new Error("too late");
  const fetched = rejects(
    fetchHttpsDocument(`${server.url}/silent`, { certificateAuthority: authority, signal: controller.signal }),
    reason,
  );

  setImmediate(() => controller.abort(reason));

  await fetched;
});

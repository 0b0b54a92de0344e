import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { get } from "node:https";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { silentLogger } from "../../base/logger.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import type { HttpHandler } from "./contract.ts";
import { startHttpsServer } from "./server.ts";

const tls = testServing();

function start(handler: HttpHandler) {
  const bodyTooLarge = () => new Error("Too large");
  return startHttpsServer({ host: "127.0.0.1", port: 0, tls, handler, bodyTooLarge, log: silentLogger });
}

async function allOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

const LARGE = Array.from({ length: 500 }, (_, index) => Buffer.from(`${index} `.repeat(1_000)));

test("a compressed response has a Content-Encoding, no length, and the same content, on both protocols", async () => {
  await using server = await start((_, reply) => reply.send({ code: 200, headers: {} }, LARGE, { gzip: true }));
  const request = get({ host: "127.0.0.1", port: server.port, ca: tls.authority, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  deepEqual([response.headers["content-encoding"], response.headers["content-length"]], ["gzip", undefined]);
  deepEqual(gunzipSync(await allOf(response)), Buffer.concat(LARGE));

  const session = connect(`https://127.0.0.1:${server.port}`, { ca: tls.authority });
  const stream = session.request({ ":path": "/" });
  const [headers] = (await once(stream, "response")) as [Record<string, string>];
  equal(headers["content-encoding"], "gzip");
  deepEqual(gunzipSync(await allOf(stream)), Buffer.concat(LARGE));
  session.close();
});

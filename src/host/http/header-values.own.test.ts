import { deepEqual } from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectTls } from "node:tls";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { testServing } from "../../testing/fixtures/certificates.ts";
import type { HttpHandler } from "./contract.ts";
import { startHttpsServer } from "./server.ts";

const tls = testServing();

const NAMES = ["x-remote-group", "authorization", "user-agent", "none", "__proto__", "constructor"];

/** Answers with the values of the headers of these names. */
const answerWithValues: HttpHandler = (request, reply) => {
  const values = NAMES.map((name) => request.headerValues(name));
  reply.send({ code: 200, headers: {} }, [Buffer.from(JSON.stringify(values))]);
};

function start() {
  return startHttpsServer({
    host: "127.0.0.1",
    port: 0,
    tls,
    handler: answerWithValues,
    bodyTooLarge: () => new Error(),
    log: silentLogger,
  });
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("repeated headers are separate values, with their commas, over HTTP/1.1", async () => {
  await using server = await start();
  const socket = connectTls({ host: "127.0.0.1", port: server.port, ca: tls.authority });
  await once(socket, "secureConnect");
  const headers = [
    "Host: x",
    "X-Remote-Group: a, b",
    "x-REMOTE-group:c",
    "X-Remote-Group:",
    "Authorization: one",
    "Authorization: two",
    "__proto__: p",
    "Connection: close",
  ];
  socket.end(`GET / HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);

  const [, body = ""] = (await textOf(socket)).split("\r\n\r\n");

  deepEqual(JSON.parse(body), [["a, b", "c", ""], ["one", "two"], [], [], [], []]);
});

test("repeated headers are separate values, with their commas, over HTTP/2", async () => {
  await using server = await start();
  const session = connect(`https://127.0.0.1:${server.port}`, { ca: tls.authority });
  const stream = session.request({ ":path": "/", "x-remote-group": ["a, b", "c", ""], authorization: "one" });

  const body = await textOf(stream);
  session.close();

  deepEqual(JSON.parse(body), [["a, b", "c", ""], ["one"], [], [], [], []]);
});

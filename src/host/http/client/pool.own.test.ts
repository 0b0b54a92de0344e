import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { testServing } from "../../../testing/fixtures/certificates.ts";
import { realClock } from "../../real-clock.ts";
import type { HttpClient } from "./contract.ts";
import { openHttpClient } from "./pool.ts";

const serving = testServing();

/** An HTTP/2 server with `answer` for each request, and a client of it. */
async function given(answer: (stream: ServerHttp2Stream) => void, maxConcurrentStreams = 100) {
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ cert: serving.certificate, key: serving.key, settings: { maxConcurrentStreams } });
  server.on("session", (session) => void sessions.push(session));
  server.on("stream", answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = openHttpClient({
    server: `https://127.0.0.1:${port}`,
    tls: async () => ({ authorities: serving.authority }),
    clock: realClock,
  });
  return {
    client,
    sessions,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

async function get(client: HttpClient): Promise<string> {
  const answer = await client.send({ method: "GET", path: "/", headers: {} });
  return new TextDecoder().decode(await answer.body());
}

function respond(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200 });
  stream.end("answer");
}

test("an HTTP/2 client closes although the server sent GOAWAY and keeps the connection open", async () => {
  await using world = await given((stream) => {
    stream.session?.goaway(0);
    respond(stream);
  });

  equal(await get(world.client), "answer");
  await world.client[Symbol.asyncDispose]();

  equal(world.sessions.length, 1);
});

test("an HTTP/2 client sends no more requests on further connections than the server allows on the first", async () => {
  // Answers late enough that further connections are needed, and streams over the limit are refused.
  await using world = await given((stream) => void setImmediate(() => setImmediate(respond, stream)), 2);
  await get(world.client); // Now the client knows the limit.

  const answers = await Promise.all(Array.from({ length: 40 }, () => get(world.client)));

  deepEqual(new Set(answers), new Set(["answer"]));
});

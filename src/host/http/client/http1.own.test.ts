import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { DEFAULT_CLIENT_LIMITS } from "./contract.ts";
import { Http1Connections } from "./http1.ts";

/** A server whose responses wait for the test, and connections to it. */
async function given() {
  const asked: ServerResponse[] = [];
  const server = createServer((_request, response) => void asked.push(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const connections = new Http1Connections({
    authority: `127.0.0.1:${port}`,
    limits: DEFAULT_CLIENT_LIMITS,
    dial: async () => {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      await once(socket, "connect");
      return socket;
    },
  });
  return {
    sockets,
    connections,
    send: (signal?: AbortSignal) =>
      connections.send({ method: "GET", path: "/", headers: {}, ...(signal === undefined ? {} : { signal }) }, () => undefined),
    /** The next request that the server received. */
    async next(): Promise<ServerResponse> {
      if (asked.length === 0) await once(server, "request");
      return asked.shift() ?? assert.fail();
    },
    async [Symbol.asyncDispose]() {
      connections.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("retired HTTP/1.1 connections report once when no request is running on them", async () => {
  await using world = await given();
  const bodies = [world.send(), world.send()].map(async (answer) => (await answer).body());
  const [first, second] = [await world.next(), await world.next()];
  let emptied = 0;
  const empty = new Promise<void>((resolve) => {
    world.connections.retire(() => {
      emptied++;
      resolve();
    });
  });

  first.end("one");
  await Promise.race(bodies);
  assert.equal(emptied, 0);
  second.end("two");
  await Promise.all(bodies);
  await empty;

  assert.equal(emptied, 1);
  for (const socket of world.sockets) if (!socket.closed) await once(socket, "close");
});

test("idle HTTP/1.1 connections are empty, and are closed", async () => {
  await using world = await given();
  const answer = world.send();
  (await world.next()).end();
  await (await answer).body();

  await new Promise<void>((resolve) => world.connections.retire(resolve));

  for (const socket of world.sockets) if (!socket.closed) await once(socket, "close");
});

test("a cancelled request is not awaited", async () => {
  await using world = await given();
  const abort = new AbortController();
  const answer = world.send(abort.signal);
  await world.next();
  const empty = new Promise<void>((resolve) => world.connections.retire(resolve));

  abort.abort(new Error("enough"));

  await assert.rejects(answer, /enough/);
  await empty;
});

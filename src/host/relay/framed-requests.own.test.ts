import { onAbort } from "../../base/abort.ts";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../files/private-files.ts";
import type { HttpHandler, HttpPeer, HttpReply, HttpRequest } from "../http/contract.ts";
import { connectForFrames, listenForFrames, type FrameSocket } from "./frame-socket.ts";
import { relayFrames, RELAYED_FRAME_BYTES_MAX, serveFrames, type FramedRelay, type FramedRequest } from "./framed-requests.ts";

const PEER: HttpPeer = { address: "192.0.2.7", isLoopback: false, certificate: { pem: "PEM", authorities: ["ca"] } };

async function withRelay(handler: HttpHandler, run: (relay: FramedRelay, socket: FrameSocket) => Promise<void>): Promise<void> {
  await using directory = await makeTemporaryDirectory("k8ts-frames-");
  const path = join(directory.path, "socket");
  const limits = { frameBytesMax: RELAYED_FRAME_BYTES_MAX };
  await using _listening = await listenForFrames(path, limits, (socket) => serveFrames(socket, handler));
  const socket = await connectForFrames(path, limits);
  await run(relayFrames(socket), socket);
  socket.close();
}

function requestOf(more: Partial<FramedRequest> = {}): FramedRequest {
  const { signal } = new AbortController();
  return { method: "POST", path: "/p", query: "", headers: {}, peer: PEER, signal, body: new Uint8Array(), ...more };
}

test("framed requests arrive with their client, headers and body, and get their own responses in any order", async () => {
  const waiting: (() => void)[] = [];
  const seen: unknown[] = [];
  const handler = (request: HttpRequest, reply: HttpReply) => {
    const { method, path, query, peer } = request;
    const headers = request.headerNames().map((name) => [name, request.header(name), request.headerValues(name)]);
    seen.push([method, path, query, peer, headers, request.header("constructor")]);
    const body = request.body() as Uint8Array;
    waiting.push(() => reply.send({ code: 200, headers: { "x-path": path } }, [body, new Uint8Array([1])]));
    // The last one first.
    if (waiting.length === 3) for (const answer of waiting.reverse()) answer();
  };
  await withRelay(handler, async (relay) => {
    const headers = { a: "1", "impersonate-group": ["x", "y"] };
    const responses = await Promise.all(
      ["/1", "/2", "/3"].map((path, index) =>
        relay.send(requestOf({ path, query: "q=1", headers, body: new Uint8Array(index * 100_000) })),
      ),
    );
    deepEqual(
      responses.map(({ code, headers: answered, body }) => [code, answered["x-path"], body.length]),
      [
        [200, "/1", 1],
        [200, "/2", 100_001],
        [200, "/3", 200_001],
      ],
    );
    const received = [
      ["a", "1", ["1"]],
      ["impersonate-group", "x, y", ["x", "y"]],
    ];
    deepEqual(seen[0], ["POST", "/1", "q=1", PEER, received, undefined]);
  });
});

test("framed requests that arrive together are handed over in one event-loop tick", async () => {
  const batches: number[] = [];
  let handled = 0;
  const handler = (_request: HttpRequest, reply: HttpReply) => {
    if (++handled === 1)
      setImmediate(() => {
        batches.push(handled);
        handled = 0;
      });
    reply.send({ code: 200, headers: {} }, []);
  };
  await withRelay(handler, async (relay) => {
    await Promise.all(Array.from({ length: 20 }, () => relay.send(requestOf())));
    equal(batches[0], 20);
  });
});

test("framed requests: a client that disconnects cancels its request", async () => {
  let cancelled: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => (cancelled = resolve));
  let arrived: () => void = () => undefined;
  const here = new Promise<void>((resolve) => (arrived = resolve));
  const handler = (request: HttpRequest, reply: HttpReply) => {
    // Without a response, as the API server does not respond to clients that have disconnected.
    onAbort(request.signal, () => cancelled());
    if (request.path === "/next") reply.send({ code: 200, headers: {} }, []);
    arrived();
  };
  await withRelay(handler, async (relay) => {
    const client = new AbortController();
    const rejected = rejects(relay.send(requestOf({ signal: client.signal })), /client disconnected/);
    await here;
    client.abort();
    await Promise.all([aborted, rejected]);
    equal((await relay.send(requestOf({ path: "/next" }))).code, 200);
  });
});

test("framed requests: the end of the socket rejects what is open and what follows", async () => {
  let arrived: () => void = () => undefined;
  const here = new Promise<void>((resolve) => (arrived = resolve));
  await withRelay(
    () => arrived(),
    async (relay, socket) => {
      const answer = relay.send(requestOf());
      await here;
      socket.close();
      await rejects(answer, /closed the socket/);
      await rejects(relay.send(requestOf()), /closed the socket/);
    },
  );
});

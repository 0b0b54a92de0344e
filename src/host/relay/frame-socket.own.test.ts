import { deepEqual, equal } from "node:assert/strict";
import { stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../files/private-files.ts";
import { connectForFrames, listenForFrames, type FrameSocket } from "./frame-socket.ts";

const LIMITS = { frameBytesMax: 3_000_000 };

async function withPair(
  run: (pair: { readonly path: string; readonly client: FrameSocket; readonly server: FrameSocket }) => Promise<void>,
) {
  await using directory = await makeTemporaryDirectory("k8ts-frames-");
  const path = join(directory.path, "socket");
  let accepted: (channel: FrameSocket) => void = () => undefined;
  const server = new Promise<FrameSocket>((resolve) => (accepted = resolve));
  await using _listening = await listenForFrames(path, LIMITS, accepted);
  const client = await connectForFrames(path, LIMITS);
  await run({ path, client, server: await server });
  client.close();
}

test("frame sockets: messages of all sizes arrive whole and in order, in both directions", () =>
  withPair(async ({ client, server }) => {
    const sizes = [0, 1, 3, 70_000, 2_500_000, 5, 0, 65_536];
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      const received: string[] = [];
      const all = new Promise<void>((resolve) => {
        to.onFrame((frame) => {
          received.push(`${frame.length} of ${frame[0] ?? "nothing"}`);
          if (received.length === sizes.length) resolve();
        });
      });
      sizes.forEach((size, index) => from.send([new Uint8Array(size >> 1).fill(index), new Uint8Array(size - (size >> 1)).fill(index)]));
      await all;
      deepEqual(
        received,
        sizes.map((size, index) => `${size} of ${size === 0 ? "nothing" : index}`),
      );
    }
  }));

test("frame sockets: one that is not drained reports what it buffers, and when it is empty", () =>
  withPair(async ({ client, server }) => {
    const drained = new Promise<void>((resolve) => client.onDrained(resolve));
    let buffered = 0;
    for (let index = 0; index < 20; index++) buffered = client.send([new Uint8Array(1_000_000)]);
    equal(buffered > 10_000_000, true);
    let bytes = 0;
    server.onFrame((frame) => (bytes += frame.length));
    await drained;
    equal(client.send([new Uint8Array(1)]) < 100, true);
  }));

test("frame sockets: a message over the limit, and the end of the peer, close the connection", () =>
  withPair(async ({ path, client, server }) => {
    const closed = [client, server].map((channel) => new Promise<void>((resolve) => channel.onClosed(resolve)));
    client.onFrame(() => undefined);
    server.onFrame(() => undefined);
    client.send([new Uint8Array(LIMITS.frameBytesMax + 1)]);
    await Promise.all(closed);
    equal(client.send([new Uint8Array(1)]), 0);
    equal((await stat(path)).mode & 0o777, 0o600);
    const stranger = connect({ path });
    await once(stranger, "connect");
    stranger.destroy();
  }));

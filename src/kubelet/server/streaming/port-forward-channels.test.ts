import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { BASE64, BINARY } from "../../exec/web-socket-channels.ts";
import { ChannelClient } from "../../testing/channel-client.ts";
import { choosePortForwardProtocol, portsOf, servePortForwardChannels } from "./port-forward-channels.ts";

for (const { query, expected } of [
  { query: "port=80", expected: [80] },
  { query: "port=80,443&port=1", expected: [80, 443, 1] },
  { query: "", expected: 'query parameter "port" is required' },
  { query: "port=", expected: 'query parameter "port" cannot be empty' },
  { query: "port=a", expected: 'unable to parse "a" as a port: strconv.ParseUint: parsing "a": invalid syntax' },
  { query: "port=70000", expected: 'unable to parse "70000" as a port: strconv.ParseUint: parsing "70000": value out of range' },
  { query: "port=0", expected: 'port "0" must be > 0' },
]) {
  test(`the ports of the query "${query}" are ${JSON.stringify(expected)}`, () => {
    const read = () => portsOf(new URLSearchParams(query));
    if (typeof expected === "string") throws(read, { code: 400, message: expected });
    else deepEqual(read(), expected);
  });
}

test("more ports than channels are rejected", () => {
  throws(() => portsOf(new URLSearchParams({ port: Array.from({ length: 128 }, () => "80").join() })), { code: 400 });
});

test("without a protocol the channels are binary; an unknown protocol is rejected", () => {
  deepEqual(
    [choosePortForwardProtocol([]), choosePortForwardProtocol(["x", "v4.base64.channel.k8s.io"])],
    ["", "v4.base64.channel.k8s.io"],
  );
  throws(() => choosePortForwardProtocol(["x"]), { code: 403 });
});

const describeFailure = (port: number, error: unknown) => `port ${port}: ${String(error)}`;

for (const { protocol, framing } of [
  { protocol: "v4.channel.k8s.io", framing: BINARY },
  { protocol: "v4.base64.channel.k8s.io", framing: BASE64 },
]) {
  test(`over ${protocol} each port has a data and an error channel, which begin with its number`, async () => {
    const client = new ChannelClient(framing);
    const over = servePortForwardChannels(client, {
      protocol,
      ports: [80, 258],
      describeFailure,
      async forward(port, stream) {
        for await (const chunk of stream.input) {
          await stream.write(chunk);
          if (port === 258) throw new Error("refused");
          return;
        }
      },
    });
    client.says(2, "second");
    client.says(1, "ignored: an error channel");
    client.says(9, "ignored: an unknown channel");
    client.says(0, "first");
    await over;

    deepEqual(client.got.slice(0, 4), [
      [0, "P\0"],
      [1, "P\0"],
      [2, "\x02\x01"],
      [3, "\x02\x01"],
    ]);
    deepEqual(
      client.got.slice(4).toSorted(([a], [b]) => a - b),
      [
        [0, "first"],
        [2, "second"],
        [3, "port 258: Error: refused"],
      ],
    );
    deepEqual(client.end, 1000);
  });
}

test("a client disconnect ends the input of its ports and all writes to the client", async () => {
  const client = new ChannelClient();
  const seen: string[] = [];
  const over = servePortForwardChannels(client, {
    ...{ protocol: "", ports: [80], describeFailure },
    async forward(_port, stream, signal) {
      for await (const _ of stream.input);
      seen.push(`gone: ${signal.aborted}`);
      await stream.write(new Uint8Array(1)).catch((error: Error) => seen.push(error.message));
    },
  });
  client.goes();
  await over;

  deepEqual(seen, ["gone: true", "The client disconnected"]);
});

test("back-pressure of one port pauses reading from the client", async () => {
  const client = new ChannelClient();
  const read: (() => void)[] = [];
  const over = servePortForwardChannels(client, {
    ...{ protocol: "", ports: [80, 81], describeFailure },
    async forward(_port, { input }) {
      await new Promise<void>((resolve) => read.push(resolve));
      for await (const _ of input) return;
    },
  });
  await Promise.resolve();
  client.says(0, "x".repeat(2 << 20));
  client.says(2, "x".repeat(2 << 20));
  const pauses = [client.isPaused];
  read[0]?.();
  await new Promise<void>((resolve) => void Promise.resolve().then(() => Promise.resolve().then(resolve)));
  pauses.push(client.isPaused);
  read[1]?.();
  await over;
  pauses.push(client.isPaused);

  deepEqual(pauses, [true, true, false]);
});

/**
 * Port-forwarding over the channels of a WebSocket, the older protocol: the query names the ports, and each has two channels, one for data
 * and one for errors. Both begin with the port number in two bytes, little-endian.
 */
import type { ByteStream } from "../../../base/byte-stream.ts";
import {
  BASE64,
  BINARY,
  ChannelInput,
  ChannelOutlet,
  NORMAL_CLOSURE,
  sharedHold,
  type ChannelSocket,
  type Framing,
} from "../../exec/web-socket-channels.ts";
import { Refusal } from "../call.ts";
import type { PortForwarding } from "./port-forward-spdy.ts";

const FRAMINGS = new Map<string, Framing>([
  ["", BINARY],
  ["v4.channel.k8s.io", BINARY],
  ["v4.base64.channel.k8s.io", BASE64],
]);

/** The client's preferred protocol; throws a Refusal if none is supported. */
export function choosePortForwardProtocol(offered: readonly string[]): string {
  const chosen = (offered.length === 0 ? [""] : offered).find((name) => FRAMINGS.has(name));
  if (chosen !== undefined) return chosen;
  const known = [...FRAMINGS.keys()].filter((name) => name !== "");
  throw new Refusal(403, `requested protocol(s) are not supported: [${offered.join(" ")}]; supports [${known.join(" ")}]`);
}

/** A channel number is one byte, of which the last is reserved in other protocols. */
const PORTS_MAX = 127;

/** Parses the query; throws a Refusal. */
export function portsOf(query: URLSearchParams): readonly number[] {
  const given = query.getAll("port");
  if (given.length === 0) throw new Refusal(400, 'query parameter "port" is required');
  const ports = given.flatMap((list) => {
    if (list === "") throw new Refusal(400, 'query parameter "port" cannot be empty');
    return list.split(",").map((port) => portOf(port, list));
  });
  if (ports.length > PORTS_MAX) throw new Refusal(400, `query parameter "port" must name at most ${PORTS_MAX} ports, has ${ports.length}`);
  return ports;
}

function portOf(text: string, list: string): number {
  const problem = !/^\d+$/.test(text) ? "invalid syntax" : Number(text) > 65_535 ? "value out of range" : undefined;
  if (problem !== undefined)
    throw new Refusal(
      400,
      `unable to parse ${JSON.stringify(list)} as a port: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`,
    );
  if (Number(text) < 1) throw new Refusal(400, `port ${JSON.stringify(list)} must be > 0`);
  return Number(text);
}

export interface PortForwardChannels extends PortForwarding {
  readonly protocol: string;
  readonly ports: readonly number[];
}

/** Resolves when all ports have ended or the client disconnects. Never rejects. */
export async function servePortForwardChannels(socket: ChannelSocket, options: PortForwardChannels): Promise<void> {
  const { protocol, ports, forward, describeFailure } = options;
  const framing = FRAMINGS.get(protocol) ?? BINARY;
  const disconnected = new AbortController();
  const outlet = new ChannelOutlet(socket, framing);
  const hold = sharedHold(socket);
  const lines = ports.map((port, index) => ({ port, input: new ChannelInput(hold), channel: index * 2 }));
  const closed = new Promise<void>((resolve) => socket.onClosed(resolve));
  socket.onClosed(() => {
    disconnected.abort(new Error("The client disconnected"));
    for (const { input } of lines) input.end();
  });
  for (const { port, channel } of lines) begin(outlet, channel, port);
  socket.onMessage((message) => {
    const { channel, payload } = framing.read(message) ?? NOTHING;
    lines.find((line) => line.channel === channel)?.input.take(payload);
  });
  await Promise.all(
    lines.map(async ({ port, input, channel }) => {
      try {
        await forward(port, portStream({ socket, outlet, input, closed, channel }), disconnected.signal);
      } catch (error) {
        void outlet.write(channel + 1, new TextEncoder().encode(describeFailure(port, error)));
      }
      input.end();
    }),
  );
  // A paused socket would never receive the client's close frame.
  socket.resume();
  socket.close(NORMAL_CLOSURE);
}

function begin(outlet: ChannelOutlet, channel: number, port: number): void {
  const number = Uint8Array.of(port & 0xff, port >> 8);
  void outlet.write(channel, number);
  void outlet.write(channel + 1, number);
}

const NOTHING = { channel: -1, payload: new Uint8Array() };

interface PortChannel {
  readonly socket: ChannelSocket;
  readonly outlet: ChannelOutlet;
  readonly input: ChannelInput;
  readonly channel: number;
  readonly closed: Promise<void>;
}

/** The protocol cannot close a single channel: the client learns of it when all have ended. */
function portStream({ socket, outlet, input, channel, closed }: PortChannel): ByteStream {
  return {
    input,
    async write(chunk) {
      if (outlet.isClosed) throw new Error("The client disconnected");
      await outlet.write(channel, chunk);
    },
    end: () => undefined,
    abort: () => socket.abort(),
    closed,
  };
}

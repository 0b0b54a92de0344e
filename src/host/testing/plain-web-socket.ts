/**
 * A minimal WebSocket client on an existing connection: for subprotocols that npm `ws` does not allow a client to name. Only whole binary
 * messages, and the end.
 */
import type { ByteStream } from "../../base/byte-stream.ts";

export function webSocketHeaders(protocol: string): Record<string, string> {
  return {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": protocol,
  };
}

const BINARY = 0x82;
const CLOSE = 0x88;
const MASKED = 0x80;
/** A zero mask. */
const NO_MASK = [0, 0, 0, 0];

/** The payloads of the messages, in order. */
export function messagesOf(connection: ByteStream): ByteStream {
  return {
    ...connection,
    input: payloadsOf(connection.input),
    write: (chunk) => connection.write(Buffer.concat([headOf(chunk.length), chunk])),
    end: () => void connection.write(Uint8Array.of(CLOSE, MASKED, ...NO_MASK)),
  };
}

function headOf(length: number): Uint8Array {
  if (length < 126) return Uint8Array.of(BINARY, MASKED | length, ...NO_MASK);
  return Uint8Array.of(BINARY, MASKED | 126, length >> 8, length & 0xff, ...NO_MASK);
}

async function* payloadsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let read = Buffer.alloc(0);
  for await (const chunk of source) {
    read = Buffer.concat([read, chunk]);
    for (let frame = frameOf(read); frame !== undefined; frame = frameOf(read)) {
      if (read[0] === CLOSE) return;
      yield read.subarray(frame.start, frame.end);
      read = read.subarray(frame.end);
    }
  }
}

function frameOf(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1] ?? 0;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return bytes.length < start + length ? undefined : { start, end: start + length };
}

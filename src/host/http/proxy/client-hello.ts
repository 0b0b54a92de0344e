/**
 * Whether a TLS client names the server in its first message (RFC 8446, 4.1.2; RFC 6066, 3). Only that is read: the handshake itself reads
 * the name, and reports a message that is malformed. Pure.
 */

const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 22;
const MESSAGE_HEADER_BYTES = 4;
const CLIENT_HELLO = 1;
/** Version and random of the client. */
const FIXED_BYTES = 34;
const SERVER_NAME_EXTENSION = 0;

/** Several times what clients send, post-quantum keys included. A larger message is left to the handshake. */
const HELLO_BYTES_MAX = 32 * 1024;

/** `head`: the first bytes of a connection. Undefined: more are needed. False also if they are not TLS. */
export function namesServer(head: Buffer): boolean | undefined {
  const message = handshakeBytes(head);
  if (message === undefined || (message.length > 0 && message[0] !== CLIENT_HELLO)) return false;
  const isWhole = message.length >= MESSAGE_HEADER_BYTES && message.length >= MESSAGE_HEADER_BYTES + message.readUIntBE(1, 3);
  if (isWhole) return hasServerName(message);
  return head.length > HELLO_BYTES_MAX ? false : undefined;
}

/** What the records contain, as far as it was received: a message may be spread over several. Undefined: not the records of a handshake. */
function handshakeBytes(head: Buffer): Buffer | undefined {
  const contents: Buffer[] = [];
  for (let offset = 0; offset < head.length;) {
    if (head[offset] !== HANDSHAKE_RECORD) return contents.length === 0 ? undefined : Buffer.concat(contents);
    if (head.length < offset + RECORD_HEADER_BYTES) break;
    const start = offset + RECORD_HEADER_BYTES;
    offset = start + head.readUInt16BE(offset + 3);
    contents.push(head.subarray(start, offset));
  }
  return Buffer.concat(contents);
}

function hasServerName(message: Buffer): boolean {
  // Session id, cipher suites, compression methods: each with its length.
  let offset = MESSAGE_HEADER_BYTES + FIXED_BYTES;
  for (const lengthBytes of [1, 2, 1]) offset += lengthBytes + lengthAt(message, offset, lengthBytes);
  // The length of all extensions, then each with its type and its length.
  for (offset += 2; offset + 4 <= message.length; offset += 4 + message.readUInt16BE(offset + 2)) {
    if (message.readUInt16BE(offset) === SERVER_NAME_EXTENSION) return true;
  }
  return false;
}

/** 0 beyond the end. */
function lengthAt(message: Buffer, offset: number, bytes: number): number {
  return offset + bytes <= message.length ? message.readUIntBE(offset, bytes) : 0;
}

/** The peer violates SPDY/3.1; the session is closed with GOAWAY. */
export class SpdyProtocolError extends Error {
  override readonly name = "SpdyProtocolError";
}

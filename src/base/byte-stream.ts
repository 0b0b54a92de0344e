/**
 * A bidirectional byte stream such as a TCP connection: the common form of tunnels, forwarded ports and multiplexed streams. Each direction
 * ends independently, and a slow reader applies backpressure to the writer.
 */
export interface ByteStream {
  /** Bytes from the peer, for one reader; ends when the peer ends its direction, throws when the connection is cut. */
  readonly input: AsyncIterable<Uint8Array>;
  /**
   * Writes in order. Resolves when more may be written: await it to keep the buffer bounded. Rejects when the peer no longer accepts data.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Ends the direction towards the peer; the other direction stays open. Idempotent. */
  end(): void;
  /** Closes both directions now and drops buffered data. */
  abort(): void;
  /** Resolves when both directions have ended, for whatever reason. */
  readonly closed: Promise<void>;
}

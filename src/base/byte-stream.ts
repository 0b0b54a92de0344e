/**
 * Bytes both ways, as of a TCP connection: what tunnels, forwarded ports and multiplexed streams have in common. Each way ends by itself,
 * and whoever writes is held up by whoever does not read.
 */
export interface ByteStream {
  /** What comes from the other side, for one reader; ends when the other side ends, throws when the connection is cut. */
  readonly input: AsyncIterable<Uint8Array>;
  /** In order. Resolves when more may be written: await it, and nothing piles up. Rejects when the other side does not take it any more. */
  write(chunk: Uint8Array): Promise<void>;
  /** Nothing more comes from here; the other way goes on. A second call does nothing. */
  end(): void;
  /** Ends both ways now, dropping what waits. */
  abort(): void;
  /** Resolves when both ways are over, however they ended. */
  readonly closed: Promise<void>;
}

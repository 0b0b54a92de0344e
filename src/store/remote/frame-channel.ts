/**
 * A bidirectional channel of whole messages between two processes, such as a Unix socket: delivered in order, or not at all once the channel
 * is closed. What the messages mean is their users' business.
 */
export interface FrameChannel {
  /** Sends one message, given in parts. Returns the bytes buffered for a slow peer, these included. Does nothing once closed. */
  send(parts: readonly Uint8Array[]): number;
  /** Calls the listener for each message from the peer, in order. Earlier messages wait for this call. Must not throw. */
  onFrame(listener: (frame: Uint8Array) => void): void;
  /** Calls the listener each time the peer has taken everything that was buffered. */
  onDrained(listener: () => void): void;
  /** Calls the listener once when the channel is closed by either side; at once if it is closed already. */
  onClosed(listener: () => void): void;
  /** Closes after what was sent. Idempotent. */
  close(): void;
}

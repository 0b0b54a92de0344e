/** Decides who serves a connection by the first bytes that the client sends. They are put back: the one that serves reads them again. */
import type { Socket } from "node:net";

export interface FirstBytesOptions<T> {
  /** Until the decision; then the connection is closed. */
  readonly timeoutMs: number;
  /** Undefined: more bytes are needed. Must decide on a bounded number of bytes. */
  decide(head: Buffer): T | undefined;
  decided(decision: T): void;
}

export function decideByFirstBytes<T>(socket: Socket, { timeoutMs, decide, decided }: FirstBytesOptions<T>): void {
  let head: Buffer = Buffer.alloc(0);
  const end = () => void socket.destroy();
  const silent = setTimeout(end, timeoutMs);
  const stop = () => {
    clearTimeout(silent);
    socket.off("readable", read).off("error", end).off("end", end).off("close", stop);
  };
  const read = () => {
    const piece = socket.read() as Buffer | null;
    if (piece === null) return;
    head = Buffer.concat([head, piece]);
    const decision = decide(head);
    if (decision === undefined) return;
    stop();
    socket.unshift(head);
    decided(decision);
  };
  socket.on("readable", read).on("error", end).on("end", end).on("close", stop);
}

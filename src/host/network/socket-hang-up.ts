/**
 * Detects the exit of a process that listens on a Unix socket: an open connection closes with the process, also after a SIGKILL, and also
 * if it is not our child, for whose exit there is no other event. The connection speaks HTTP/2, as gRPC servers expect: they close others
 * soon.
 */
import { connect as openSession } from "node:http2";
import { connect } from "node:net";
import { onAbort } from "../../base/abort.ts";

/** Resolves when the peer has hung up, cannot be reached, or the wait is cancelled. */
export function untilHungUp(socketPath: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const session = openSession("http://localhost", { createConnection: () => connect(socketPath) });
    const stopListening = onAbort(signal, () => session.destroy());
    session.on("error", () => {}); // It is followed by the end.
    session.once("close", () => {
      stopListening();
      resolve();
    });
  });
}

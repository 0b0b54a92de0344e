/**
 * The end of whoever listens at a Unix socket, as it happens: an open connection closes with the process, also after a SIGKILL, and also if
 * the process is no child of ours, of whose end there is no other event. The connection is one of HTTP/2, as gRPC servers expect it: they
 * close others soon.
 */
import { connect as openSession } from "node:http2";
import { connect } from "node:net";
import { onAbort } from "../../base/abort.ts";

/** Resolves when it has hung up, or cannot be reached in the first place, or nobody wants to know any more. */
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

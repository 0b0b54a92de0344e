/**
 * A transport that writes only while this process leads, so that of several only one acts. What this process knows itself is refused here;
 * what is still on its way when another takes over is refused by the server, which is told by which leadership it was sent.
 */
import type { Leadership } from "../../api/machinery/leadership.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export interface LeaderOnlyTransportOptions {
  isLeading(): boolean;
  /** Absent: there is no election. */
  readonly leadership?: Leadership | undefined;
}

export function leaderOnlyTransport(transport: Transport, { isLeading, leadership }: LeaderOnlyTransportOptions): Transport {
  return {
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      if (READS.has(request.verb)) return transport.request(request);
      // As the server says it: not worth trying again.
      if (!isLeading()) return Promise.reject(new StatusError("Conflict", "This process is no longer the leader"));
      return transport.request(leadership === undefined ? request : { ...request, leadership });
    },
  };
}

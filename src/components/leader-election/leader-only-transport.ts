/**
 * A transport that writes only while this process is the leader. Writes after a known loss are rejected here; writes that are in flight
 * when another process takes over are rejected by the server, which receives the leadership with each write.
 */
import type { Leadership } from "../../api/machinery/leadership.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export interface LeaderOnlyTransportOptions {
  isLeading(): boolean;
  /** Absent: no leader election. */
  readonly leadership?: Leadership | undefined;
}

export function leaderOnlyTransport(transport: Transport, { isLeading, leadership }: LeaderOnlyTransportOptions): Transport {
  return {
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      if (READS.has(request.verb)) return transport.request(request);
      // Same error as the server's: not retryable.
      if (!isLeading()) return Promise.reject(new StatusError("Conflict", "This process is no longer the leader"));
      return transport.request(leadership === undefined ? request : { ...request, leadership });
    },
  };
}

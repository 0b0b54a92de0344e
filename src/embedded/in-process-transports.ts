/** Transports to an embedded cluster for its program. */
import type { Transport } from "../api/machinery/transport.ts";
import type { Driver } from "./driver.ts";

/**
 * With virtual time, for callers outside of that time: every request proceeds at the current time. `driver` is absent with real time, which
 * needs none of this.
 */
export function drivenTransport(transport: Transport, driver: Driver | undefined): Transport {
  if (driver === undefined) return transport;
  return {
    request: (request) => driver.through(transport.request(request)),
    watch: (request, listener) => driver.through(transport.watch(request, listener)),
    document: (path, options) => driver.through(transport.document(path, options)),
  };
}

/** Rejects everything once the cluster is closed. */
export function untilClosed(transport: Transport, closed: AbortSignal): Transport {
  const refuse = (): Promise<never> => Promise.reject(closed.reason as Error);
  return {
    request: (request) => (closed.aborted ? refuse() : transport.request(request)),
    watch: (request, listener) => (closed.aborted ? refuse() : transport.watch(request, listener)),
    document: (path, options) => (closed.aborted ? refuse() : transport.document(path, options)),
  };
}

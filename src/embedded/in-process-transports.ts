/** The ways to a cluster for the program that holds it. */
import type { Transport } from "../api/machinery/transport.ts";
import type { Driver } from "./driver.ts";

/**
 * Under virtual time, for who stands outside of that time: every request is let through at the present moment. `driver` is absent under
 * real time, in which nothing has to be done.
 */
export function drivenTransport(transport: Transport, driver: Driver | undefined): Transport {
  if (driver === undefined) return transport;
  return {
    request: (request) => driver.through(transport.request(request)),
    watch: (request, listener) => driver.through(transport.watch(request, listener)),
    document: (path, options) => driver.through(transport.document(path, options)),
  };
}

/** Refuses everything from the signal on: what is left of a closed cluster would answer with anything. */
export function untilClosed(transport: Transport, closed: AbortSignal): Transport {
  const refuse = (): Promise<never> => Promise.reject(closed.reason as Error);
  return {
    request: (request) => (closed.aborted ? refuse() : transport.request(request)),
    watch: (request, listener) => (closed.aborted ? refuse() : transport.watch(request, listener)),
    document: (path, options) => (closed.aborted ? refuse() : transport.document(path, options)),
  };
}

/** The way to a cluster under virtual time for who stands outside of that time: every request is let through at the present moment. */
import type { Transport } from "../../api/machinery/transport.ts";
import type { Driver } from "./driver.ts";

export function drivenTransport(transport: Transport, driver: Driver): Transport {
  return {
    request: (request) => driver.through(transport.request(request)),
    watch: (request, listener) => driver.through(transport.watch(request, listener)),
    document: (path, options) => driver.through(transport.document(path, options)),
  };
}

/** A transport that stops writing the moment it is not known any more that this process leads: so of several only one acts. */
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport } from "../api/machinery/transport.ts";

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);

export function leadingOnly(transport: Transport, isLeading: () => boolean): Transport {
  return {
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request(request) {
      if (!READS.has(request.verb) && !isLeading())
        return Promise.reject(new StatusError("ServiceUnavailable", "This process does not lead any more: another one acts"));
      return transport.request(request);
    },
  };
}

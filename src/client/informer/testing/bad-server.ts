/** Servers with realistic faults between an informer and the wire: too old for some options, stale, repeating. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { compareResourceVersions } from "../../../api/machinery/resource-version.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { Transport, TransportEvent, TransportRequest } from "../../../api/machinery/transport.ts";
import { pick, type Random } from "../../../base/random.ts";

/** Rejects `sendInitialEvents`. */
export function withoutInitialEvents(transport: Transport): Transport {
  return {
    ...transport,
    watch(request, listener) {
      if (request.options?.sendInitialEvents === undefined) return transport.watch(request, listener);
      return Promise.reject(new StatusError("Invalid", "sendInitialEvents: Forbidden: is forbidden for watch"));
    },
  };
}

/** Repeats events that it delivered before on any watch. */
export function repeating(random: Random): (transport: Transport) => Transport {
  const delivered: TransportEvent[] = [];
  return (transport) => ({
    ...transport,
    watch(request, listener) {
      if (request.options?.sendInitialEvents === true) return transport.watch(request, listener);
      return transport.watch(request, {
        ended: () => listener.ended(),
        event(event) {
          if (event.type !== "ERROR") delivered.push(event);
          listener.event(event);
          while (random.below(2) === 0 && delivered.length > 0) listener.event(pick(random, delivered));
        },
      });
    },
  });
}

export interface LaggingServer {
  over(transport: Transport): Transport;
  /** From now on its state is frozen, until `catchUp`. */
  fallBehind(objects: readonly KubeObject[], revision: string): void;
  catchUp(): void;
}

/**
 * A server with a stale state. A client that knows more is rejected if it requests changes; if it requests everything, it is rejected or
 * answered from the stale state.
 */
export function laggingServer(random: Random): LaggingServer {
  let past: { readonly objects: readonly KubeObject[]; readonly revision: string } | undefined;
  const isAhead = ({ options }: Omit<TransportRequest, "verb">, revision: string) =>
    compareResourceVersions(options?.resourceVersion ?? "", revision) > 0;
  return {
    fallBehind: (objects, revision) => void (past = { objects, revision }),
    catchUp: () => void (past = undefined),
    over: (transport) => ({
      ...transport,
      async request(request) {
        if (past === undefined || request.verb !== "list") return transport.request(request);
        if (isAhead(request, past.revision) && random.below(2) === 0) throw tooLarge(request.options?.resourceVersion ?? "", past.revision);
        return { is: "list", items: past.objects, metadata: { resourceVersion: past.revision }, warnings: [] };
      },
      async watch(request, listener) {
        if (past === undefined) return transport.watch(request, listener);
        const { objects, revision } = past;
        const isInitial = request.options?.sendInitialEvents === true;
        const refuses = isAhead(request, revision) && (!isInitial || random.below(2) === 0);
        if (refuses) throw tooLarge(request.options?.resourceVersion ?? "", revision);
        // As on the wire, nothing is delivered before the caller has the watch. It has no changes.
        void Promise.resolve().then(() => {
          if (isInitial) for (const object of objects) listener.event({ type: "ADDED", object });
          if (isInitial) listener.event({ type: "BOOKMARK", resourceVersion: revision, initialEventsEnd: true });
          listener.ended();
        });
        return { stop() {} };
      },
    }),
  };
}

export function tooLarge(wanted: string, current: string): StatusError {
  return new StatusError("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  });
}

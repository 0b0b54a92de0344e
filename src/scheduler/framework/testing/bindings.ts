/** Interception of bindings, or other requests, on their way to the server. */
import type { Transport, TransportRequest } from "../../../api/machinery/transport.ts";

export function isBinding({ plural, subresource }: TransportRequest): boolean {
  return plural === "pods" && subresource === "binding";
}

/** Called with the request, and how to send it. Default: it is sent. */
export type OnBinding = (request: TransportRequest, send: () => ReturnType<Transport["request"]>) => ReturnType<Transport["request"]>;

/** A transport on which every binding goes through `on`. */
export function bindingsThrough(on: OnBinding): (transport: Transport) => Transport {
  return requestsThrough(isBinding, on);
}

/** A transport on which every request of a kind goes through `on`. */
export function requestsThrough(isOne: (request: TransportRequest) => boolean, on: OnBinding): (transport: Transport) => Transport {
  return (transport) => ({
    watch: (request, listener) => transport.watch(request, listener),
    document: (path, options) => transport.document(path, options),
    request: (request) => (isOne(request) ? on(request, () => transport.request(request)) : transport.request(request)),
  });
}

/** A gate at which bindings, or other requests, wait until it is opened. */
export class BindingGate {
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];

  readonly through: OnBinding = async (_request, send) => {
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return send();
  };

  get waiting(): number {
    return this.#waiting.length;
  }

  /** For waiting and for future ones. */
  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }
}

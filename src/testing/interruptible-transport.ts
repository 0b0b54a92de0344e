/** The connection to an API server that a test can take away: watches end, and requests fail, or get no answer, until it is back. */
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportWatch, TransportWatchListener } from "../api/machinery/transport.ts";

export class InterruptibleTransport implements Transport {
  readonly #transport: Transport;
  readonly #watches = new Set<TransportWatch>();
  #isAway = false;
  #isSilent = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  goAway(): void {
    this.#isAway = true;
    for (const watch of this.#watches) watch.stop();
    this.#watches.clear();
  }

  /** Requests get no answer until they are cancelled; watches continue. */
  fallSilent(): void {
    this.#isSilent = true;
  }

  comeBack(): void {
    this.#isAway = false;
    this.#isSilent = false;
  }

  async request(...[request]: Parameters<Transport["request"]>): ReturnType<Transport["request"]> {
    this.#check();
    if (this.#isSilent)
      await new Promise((_resolve, reject) => request.signal?.addEventListener("abort", () => reject(request.signal?.reason)));
    return this.#transport.request(request);
  }

  async document(...request: Parameters<Transport["document"]>): ReturnType<Transport["document"]> {
    this.#check();
    return this.#transport.document(...request);
  }

  async watch(request: Parameters<Transport["watch"]>[0], listener: TransportWatchListener): Promise<TransportWatch> {
    this.#check();
    const watch = await this.#transport.watch(request, listener);
    if (this.#isAway) watch.stop();
    else this.#watches.add(watch);
    return watch;
  }

  #check(): void {
    if (this.#isAway) throw new StatusError("ServiceUnavailable", "connect ECONNREFUSED");
  }
}

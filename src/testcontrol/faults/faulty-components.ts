/**
 * Injects faults into requests of the cluster's own components, which reach the API server without HTTPS. Only faults whose match names a
 * user apply: a fault for clients in general must not stop the controllers that the suite relies on.
 */
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport, TransportEvent, TransportRequest, TransportWatch, TransportWatchListener } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { matches, type Fault, type FaultMatch, type FaultSpec } from "./fault.ts";
import type { Faults } from "./faults.ts";
import { statusError } from "./inject.ts";
import type { RequestFacts } from "./request-facts.ts";

type Sender = Pick<RequestFacts, "user" | "userAgent">;
type WatchRequest = Omit<TransportRequest, "verb">;

/** The components of one generation. */
export class FaultyComponents {
  readonly #clock: Clock;
  readonly #watches = new Set<DroppableWatch>();
  /** Absent while the generation is not the current one. */
  #faults: Faults | undefined;
  readonly #replaced = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The generation serves requests from now on. */
  use(faults: Faults): void {
    this.#faults = faults;
  }

  /** The generation is replaced: delayed requests proceed, and components stop without faults. */
  end(): void {
    this.#faults = undefined;
    this.#replaced.abort();
  }

  around(transport: Transport, sender: Sender): Transport {
    return {
      request: (request) => {
        const fault = this.#chosenFor(() => factsOf(request, sender));
        return fault === undefined
          ? transport.request(request)
          : this.#before(fault, request.signal).then(() => transport.request(request));
      },
      document: (path, options) => {
        const fault = this.#chosenFor(() => ({ ...sender, path }));
        if (fault === undefined) return transport.document(path, options);
        return this.#before(fault, options?.signal).then(() => transport.document(path, options));
      },
      watch: (request, listener) => this.#watch(transport, request, { sender, listener }),
    };
  }

  /** Drops the running watches that match; returns their number. */
  dropWatches(match: FaultMatch): number {
    if (match.user === undefined) return 0;
    const dropped = [...this.#watches].filter(({ facts }) => matches(match, facts));
    for (const watch of dropped) watch.stop();
    return dropped.length;
  }

  /** Hot path: without faults nothing is computed. */
  #chosenFor(facts: () => RequestFacts): Fault | undefined {
    return this.#faults === undefined || this.#faults.isEmpty ? undefined : this.#faults.chosenFor(facts(), NAMES_USER);
  }

  /** Rejects with the error that the fault injects. */
  async #before({ id, spec }: Fault, signal: AbortSignal | undefined): Promise<void> {
    const { delay, status, resetConnection } = spec;
    if (delay !== undefined) {
      const ended = signal === undefined ? this.#replaced.signal : AbortSignal.any([signal, this.#replaced.signal]);
      await this.#clock.sleep(delay, ended).catch(() => undefined);
    }
    if (resetConnection === true) throw new StatusError("ServiceUnavailable", `The connection was reset: injected by ${id}`);
    if (status !== undefined) throw statusError(id, status);
  }

  #watch(
    transport: Transport,
    request: WatchRequest,
    { sender, listener }: { readonly sender: Sender; readonly listener: TransportWatchListener },
  ): Promise<TransportWatch> {
    const facts = factsOf({ ...request, verb: "watch" }, sender);
    const fault = this.#chosenFor(() => facts);
    const drop = fault?.spec.dropWatch;
    const watch = new DroppableWatch({
      facts,
      listener,
      ended: () => this.#watches.delete(watch),
      ...(drop === undefined ? {} : { drop }),
    });
    const begin = (): Promise<TransportWatch> => {
      const starting = transport.watch(request, watch);
      // Before the caller continues: the listener may get events from then on. A rejection is the caller's.
      starting.then(
        (started) => this.#accepted(watch, started),
        () => undefined,
      );
      return starting;
    };
    return fault === undefined ? begin() : this.#before(fault, request.signal).then(begin);
  }

  #accepted(watch: DroppableWatch, started: TransportWatch): void {
    if (watch.isOver) return;
    this.#watches.add(watch);
    watch.accepted(started, { clock: this.#clock, replaced: this.#replaced.signal });
  }
}

const NAMES_USER = ({ spec }: Fault): boolean => spec.match?.user !== undefined;

interface DroppableWatchOptions {
  readonly facts: RequestFacts;
  readonly listener: TransportWatchListener;
  readonly drop?: NonNullable<FaultSpec["dropWatch"]>;
  ended(): void;
}

/** Passes events until the watch is dropped. */
class DroppableWatch implements TransportWatchListener {
  readonly facts: RequestFacts;
  readonly #options: DroppableWatchOptions;
  readonly #closed = new AbortController();
  #watch: TransportWatch | undefined;
  /** Events that are still passed. */
  #left: number;
  isOver = false;

  constructor(options: DroppableWatchOptions) {
    const { facts, drop } = options;
    this.facts = facts;
    this.#options = options;
    this.#left = drop === undefined ? Infinity : (drop.afterEvents ?? (drop.after === undefined ? 0 : Infinity));
  }

  event(event: TransportEvent): void {
    if (this.#left <= 0) return;
    this.#left--;
    this.#options.listener.event(event);
    if (this.#left <= 0) this.stop();
  }

  ended(): void {
    this.isOver = true;
    this.#closed.abort();
    this.#options.ended();
    this.#options.listener.ended();
  }

  stop(): void {
    this.#watch?.stop();
  }

  accepted(watch: TransportWatch, { clock, replaced }: { readonly clock: Clock; readonly replaced: AbortSignal }): void {
    this.#watch = watch;
    const { after } = this.#options.drop ?? {};
    if (this.#left <= 0) this.stop();
    if (after === undefined || this.isOver) return;
    clock.sleep(after, AbortSignal.any([this.#closed.signal, replaced])).then(
      () => this.stop(),
      () => undefined,
    );
  }
}

/** Without a path: only documents have one here. */
function factsOf(request: TransportRequest, sender: Sender): RequestFacts {
  const { verb, group, plural: resource, subresource = "", namespace = "", name = "" } = request;
  return { ...sender, path: "", resource: { verb, group, resource, subresource, namespace, name } };
}

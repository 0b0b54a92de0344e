/**
 * The connections of one process that may die at any call, and whose network is bad: events come late (in order, as over one stream) and
 * more than once, streams are cut, requests fail before the server saw them or after it did what they ask for. From a seed.
 */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportEvent, TransportRequest, TransportWatch, TransportWatchListener } from "../api/machinery/transport.ts";

export interface Disturbance {
  readonly seed?: number;
  /** Each event comes up to so much later than it could. */
  readonly delayMsMax?: number;
  /** The share of events that come twice. */
  readonly repeats?: number;
  /** The share of events after which the stream is cut. */
  readonly cuts?: number;
  /** The share of requests that fail; half of them after the server did what they ask for. */
  readonly failures?: number;
}

export interface MortalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly disturbance: Disturbance;
  /** The number of the counted call after which the process is dead. */
  readonly dieAfter?: number | undefined;
}

export class MortalTransport {
  readonly #options: MortalOptions;
  readonly #watches = new Set<TransportWatch>();
  #isDead = false;
  /** Those that count, so far. */
  calls = 0;

  constructor(options: MortalOptions) {
    this.#options = options;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Nothing is heard or asked any more. */
  die(): void {
    this.#isDead = true;
    for (const watch of this.#watches) watch.stop();
  }

  around(transport: Transport, { counts }: { readonly counts: boolean }): Transport {
    return {
      request: (request) => this.#request(transport, request, counts),
      watch: (request, listener) => this.#watch(transport, request, listener),
      document: (path, options) => (this.#isDead ? Promise.reject(connectionLost()) : transport.document(path, options)),
    };
  }

  async #request(transport: Transport, request: TransportRequest, counts: boolean): ReturnType<Transport["request"]> {
    if (this.#isDead) throw connectionLost();
    const { dieAfter, disturbance, random } = this.#options;
    const isLast = counts && ++this.calls === dieAfter;
    // Of a process that dies no second call of the same moment may come through.
    if (isLast) this.#isDead = true;
    const fails = counts && random.fraction() < (disturbance.failures ?? 0);
    if (fails && random.fraction() < 0.5) throw connectionLost();
    const response = await transport.request(request);
    if (isLast) this.die();
    if (this.#isDead || fails) throw connectionLost();
    return response;
  }

  async #watch(transport: Transport, request: Omit<TransportRequest, "verb">, listener: TransportWatchListener): Promise<TransportWatch> {
    if (this.#isDead) throw connectionLost();
    const stream = new BadStream(this.#options, {
      event: (event) => void (this.#isDead || listener.event(event)),
      ended: () => listener.ended(),
    });
    const watch = await transport.watch(request, stream);
    stream.cut = () => watch.stop();
    this.#watches.add(watch);
    if (this.#isDead) watch.stop();
    return watch;
  }
}

class BadStream implements TransportWatchListener {
  readonly #options: MortalOptions;
  readonly #listener: TransportWatchListener;
  /** What comes later comes after what came before. */
  #last: Promise<void> = Promise.resolve();
  #isLate = false;
  cut: () => void = () => {};

  constructor(options: MortalOptions, listener: TransportWatchListener) {
    this.#options = options;
    this.#listener = listener;
  }

  event(event: TransportEvent): void {
    const { random, disturbance } = this.#options;
    const { delayMsMax = 0, repeats = 0, cuts = 0 } = disturbance;
    const times = random.fraction() < repeats && event.type !== "BOOKMARK" ? 2 : 1;
    for (let time = 0; time < times; time++) this.#later(random.fraction() * delayMsMax, () => this.#listener.event(event));
    if (random.fraction() < cuts) this.cut();
  }

  ended(): void {
    this.#later(0, () => this.#listener.ended());
  }

  #later(delayMs: number, tell: () => void): void {
    // Undisturbed it is told at once, as in one process.
    if (delayMs === 0 && !this.#isLate) return tell();
    this.#isLate = true;
    this.#last = this.#last.then(() => this.#options.clock.sleep(delayMs)).then(tell);
  }
}

function connectionLost(): StatusError {
  return new StatusError("ServiceUnavailable", "The connection was lost", { cause: new Error("disturbed by the test") });
}

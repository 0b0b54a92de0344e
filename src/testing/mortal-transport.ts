/**
 * The connections of one process that may die at any call, over a bad network: events arrive late (in order, as over one stream) and more
 * than once, a stale state of an object is repeated after a newer one, the first list of a kind is stale (as from the cache of a server
 * that lags behind), streams are cut, requests fail before the server received them or after it executed them. Deterministic by seed.
 */
import type { Clock } from "../base/clock.ts";
import { pick, type Random } from "../base/random.ts";
import { StatusError } from "../api/machinery/status-error.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type {
  RequestOptions,
  Transport,
  TransportEvent,
  TransportRequest,
  TransportWatch,
  TransportWatchListener,
} from "../api/machinery/transport.ts";

export interface Disturbance {
  readonly seed?: number;
  /** Maximum delay of each event. */
  readonly delayMsMax?: number;
  /** Fraction of events that are duplicated. */
  readonly repeats?: number;
  /** Fraction of events after which a stale state of the same object is repeated, as by a server that lags behind. */
  readonly replays?: number;
  /** Fraction of initial lists that are stale; the events since then follow. */
  readonly staleStarts?: number;
  /** Fraction of events after which the stream is cut. */
  readonly cuts?: number;
  /** Fraction of requests that fail; half of them after the server executed them. */
  readonly failures?: number;
}

export interface MortalOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Current disturbance of the network. */
  disturbance(): Disturbance;
  /** Number of the counted call after which the process is dead. */
  readonly dieAfter?: number | undefined;
}

export class MortalTransport {
  readonly #options: MortalOptions;
  readonly #watches = new Set<TransportWatch>();
  #isDead = false;
  /** Counted calls so far. */
  calls = 0;

  constructor(options: MortalOptions) {
    this.#options = options;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** From now on nothing is received or sent. */
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
    const { dieAfter, random } = this.#options;
    const isLast = counts && ++this.calls === dieAfter;
    // A dying process must not send a second call in the same tick.
    if (isLast) this.#isDead = true;
    const fails = counts && random.fraction() < (this.#options.disturbance().failures ?? 0);
    if (fails && random.fraction() < 0.5) throw connectionLost();
    const response = await transport.request(request);
    if (isLast) this.die();
    if (this.#isDead || fails) throw connectionLost();
    return response;
  }

  async #watch(transport: Transport, request: WatchRequest, listener: TransportWatchListener): Promise<TransportWatch> {
    if (this.#isDead) throw connectionLost();
    const { random } = this.#options;
    const { staleStarts = 0 } = this.#options.disturbance();
    const stream = new DisturbedStream(this.#options, request, {
      event: (event) => void (this.#isDead || listener.event(event)),
      ended: () => listener.ended(),
    });
    const isStale = request.options?.sendInitialEvents === true && random.fraction() < staleStarts;
    const watch = await transport.watch(isStale ? await this.#beginInThePast(transport, request, stream) : request, stream);
    stream.cut = () => watch.stop();
    this.#watches.add(watch);
    if (this.#isDead) watch.stop();
    return watch;
  }

  /** Delivers the state at some earlier resource version, not older than the requested one; returns the watch that continues from there. */
  async #beginInThePast(transport: Transport, request: WatchRequest, stream: DisturbedStream): Promise<WatchRequest> {
    const { sendInitialEvents: _initial, resourceVersionMatch: _match, resourceVersion: known = "1", ...options } = request.options ?? {};
    const listAt = async (at: object) => {
      const answer = await transport.request({ ...request, verb: "list", options: { ...selectors(options), ...at } });
      if (answer.is !== "list") throw new Error(`Cannot start from a stale list: the response for ${request.plural} is not a list`);
      return answer;
    };
    const now = BigInt((await listAt({ limit: 1 })).metadata.resourceVersion ?? "");
    const lag = BigInt(this.#options.random.below(LAG_MAX));
    const resourceVersion = String(now - lag > BigInt(known) ? now - lag : BigInt(known));
    const { items } = await listAt({ resourceVersion, resourceVersionMatch: "Exact" });
    stream.begin(items, resourceVersion);
    return { ...request, options: { ...options, resourceVersion } };
  }
}

type ObjectEvent = Extract<TransportEvent, { readonly object: KubeObject }>;
type WatchRequest = Omit<TransportRequest, "verb">;

/** Maximum lag of a server, in revisions of its store. */
const LAG_MAX = 30;

/** Number of states per object that are kept for repetition. */
const RECORDED_MAX = 5;

class DisturbedStream implements TransportWatchListener {
  readonly #options: MortalOptions;
  readonly #listener: TransportWatchListener;
  /** Later events stay behind earlier ones, and delays do not add up. */
  #last: Promise<void> = Promise.resolve();
  #lastDueMs = 0;
  #isLate = false;
  /** Before the initial list is complete, no state is stale. */
  #isComplete: boolean;
  /** The last delivered states by uid. */
  readonly #delivered = new Map<string, ObjectEvent[]>();
  cut: () => void = () => {};

  constructor(options: MortalOptions, { options: asked }: WatchRequest, listener: TransportWatchListener) {
    this.#options = options;
    this.#listener = listener;
    this.#isComplete = asked?.sendInitialEvents !== true;
  }

  /** Nothing is delivered before the watch is accepted. */
  begin(objects: readonly KubeObject[], resourceVersion: string): void {
    this.#isLate = true;
    for (const object of objects) this.event({ type: "ADDED", object });
    this.event({ type: "BOOKMARK", resourceVersion, initialEventsEnd: true });
  }

  event(event: TransportEvent): void {
    const { random } = this.#options;
    const { delayMsMax = 0, repeats = 0, cuts = 0, replays = 0 } = this.#options.disturbance();
    const times = random.fraction() < repeats && event.type !== "BOOKMARK" ? 2 : 1;
    for (let time = 0; time < times; time++) this.#later(random.fraction() * delayMsMax, () => this.#listener.event(event));
    if (event.type === "BOOKMARK" && event.initialEventsEnd) this.#isComplete = true;
    const older = this.#isComplete && "object" in event ? this.#recordLatest(event) : undefined;
    if (older !== undefined && random.fraction() < replays) this.#later(0, () => this.#listener.event(older));
    if (random.fraction() < cuts) this.cut();
  }

  /** Returns an earlier delivered state of the same object, if there is one. */
  #recordLatest(event: ObjectEvent): ObjectEvent | undefined {
    const { uid = "" } = event.object.metadata;
    const before = this.#delivered.get(uid) ?? [];
    this.#delivered.set(uid, [...before, event].slice(-RECORDED_MAX));
    return before.length === 0 ? undefined : pick(this.#options.random, before);
  }

  ended(): void {
    this.#later(0, () => this.#listener.ended());
  }

  #later(delayMs: number, deliver: () => void): void {
    // Without disturbance events are delivered synchronously, as within one process.
    if (delayMs === 0 && !this.#isLate) return deliver();
    this.#isLate = true;
    const { clock } = this.#options;
    const dueMs = Math.max(this.#lastDueMs, clock.monotonic() + delayMs);
    this.#lastDueMs = dueMs;
    this.#last = this.#last.then(() => clock.sleep(dueMs - clock.monotonic())).then(deliver);
  }
}

function selectors({ labelSelector, fieldSelector }: RequestOptions): RequestOptions {
  return { ...(labelSelector === undefined ? {} : { labelSelector }), ...(fieldSelector === undefined ? {} : { fieldSelector }) };
}

function connectionLost(): StatusError {
  return new StatusError("ServiceUnavailable", "The connection was lost", { cause: new Error("disturbed by the test") });
}

/**
 * The connections of one process that may die at any call, and whose network is bad: events come late (in order, as over one stream) and
 * more than once, an older state of an object is told once more after a newer one, the first answer about a kind is what there was a
 * while ago (as from the cache of a server that lags behind), streams are cut, requests fail before the server saw them or after it did
 * what they ask for. From a seed.
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
  /** Each event comes up to so much later than it could. */
  readonly delayMsMax?: number;
  /** The share of events that come twice. */
  readonly repeats?: number;
  /** The share of events after which an older state of the same object is told again, as a server that lags behind would. */
  readonly replays?: number;
  /** The share of the first answers about a kind that are old; what happened since is told after them. */
  readonly staleStarts?: number;
  /** The share of events after which the stream is cut. */
  readonly cuts?: number;
  /** The share of requests that fail; half of them after the server did what they ask for. */
  readonly failures?: number;
}

export interface MortalOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How bad the network is now. */
  disturbance(): Disturbance;
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
    const { dieAfter, random } = this.#options;
    const isLast = counts && ++this.calls === dieAfter;
    // Of a process that dies no second call of the same moment may come through.
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
    const stream = new BadStream(this.#options, request, {
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

  /** Tells what there was at some earlier version, which is not older than what was asked for; returns the watch that goes on from there. */
  async #beginInThePast(transport: Transport, request: WatchRequest, stream: BadStream): Promise<WatchRequest> {
    const { sendInitialEvents: _initial, resourceVersionMatch: _match, resourceVersion: known = "1", ...options } = request.options ?? {};
    const listAt = async (at: object) => {
      const answer = await transport.request({ ...request, verb: "list", options: { ...selectors(options), ...at } });
      if (answer.is !== "list") throw new Error(`Cannot begin in the past: the answer to a list of ${request.plural} is none`);
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

/** How far a server lags behind at most, in versions of its store. */
const LAG_MAX = 30;

/** How many states of an object are remembered, to be told again. */
const REMEMBERED_MAX = 5;

class BadStream implements TransportWatchListener {
  readonly #options: MortalOptions;
  readonly #listener: TransportWatchListener;
  /** What comes later comes after what came before, and delays do not add up. */
  #last: Promise<void> = Promise.resolve();
  #lastDueMs = 0;
  #isLate = false;
  /** Until all there is has been told, nothing is older. */
  #isComplete: boolean;
  /** By uid, the last ones that were told. */
  readonly #told = new Map<string, ObjectEvent[]>();
  cut: () => void = () => {};

  constructor(options: MortalOptions, { options: asked }: WatchRequest, listener: TransportWatchListener) {
    this.#options = options;
    this.#listener = listener;
    this.#isComplete = asked?.sendInitialEvents !== true;
  }

  /** Nothing is told before the watch is accepted. */
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
    const older = this.#isComplete && "object" in event ? this.#remember(event) : undefined;
    if (older !== undefined && random.fraction() < replays) this.#later(0, () => this.#listener.event(older));
    if (random.fraction() < cuts) this.cut();
  }

  /** One that was told of the same object before, if there is one. */
  #remember(event: ObjectEvent): ObjectEvent | undefined {
    const { uid = "" } = event.object.metadata;
    const before = this.#told.get(uid) ?? [];
    this.#told.set(uid, [...before, event].slice(-REMEMBERED_MAX));
    return before.length === 0 ? undefined : pick(this.#options.random, before);
  }

  ended(): void {
    this.#later(0, () => this.#listener.ended());
  }

  #later(delayMs: number, tell: () => void): void {
    // Undisturbed it is told at once, as in one process.
    if (delayMs === 0 && !this.#isLate) return tell();
    this.#isLate = true;
    const { clock } = this.#options;
    const dueMs = Math.max(this.#lastDueMs, clock.monotonic() + delayMs);
    this.#lastDueMs = dueMs;
    this.#last = this.#last.then(() => clock.sleep(dueMs - clock.monotonic())).then(tell);
  }
}

function selectors({ labelSelector, fieldSelector }: RequestOptions): RequestOptions {
  return { ...(labelSelector === undefined ? {} : { labelSelector }), ...(fieldSelector === undefined ? {} : { fieldSelector }) };
}

function connectionLost(): StatusError {
  return new StatusError("ServiceUnavailable", "The connection was lost", { cause: new Error("disturbed by the test") });
}

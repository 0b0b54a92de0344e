/**
 * A running controller: changes queue keys, workers reconcile them, failures are retried with backoff. A key is reconciled by one worker at
 * a time, and once more if queued meanwhile. No key is reconciled before all watches are synced, except that kinds of an all-kinds watch
 * that cannot be listed are waited for only until a timeout.
 */
import type { Cause } from "../../api/machinery/cause.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { anySignal, onAbort } from "../../base/abort.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { MetricSet } from "../../base/metrics/metric-set.ts";
import type { Random } from "../../base/random.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Informers, Reader } from "../../client/informer/informer.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Change, Controller, Outcome, Reconcile, Watch, WatchOfEveryKind, WorkKey } from "./controller.ts";
import type { EveryKind } from "./all-kinds.ts";
import { keyOf, keyText, kindName, parseKey } from "./keys.ts";
import { ControllerStatistics, type ControllerMetrics, type QueueNow } from "./metrics.ts";

/** Upstream's first delay; its longest is over 16 minutes, too long to wait after fixing a problem. */
const RETRY_DELAY = { minMs: 5, maxMs: 60_000 };
const CONCURRENCY_DEFAULT = 5;
/**
 * After this many reconciliations a worker yields to the event loop. In one process a reconciliation that triggers its own key by its
 * writes, or two controllers that undo each other's, would otherwise run without a tick, and no timer would ever fire.
 */
const PASSES_PER_TURN = 20;

export interface RunningControllerOptions {
  readonly controller: Controller;
  readonly informers: Informers;
  readonly read: Reader;
  /** Under the controller's identity. */
  readonly client: Client;
  readonly events: EventRecorder;
  readonly everyKind: EveryKind;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Why a key is in the queue. */
interface Woken {
  /** Absent: it waits for a retry or a timer, not for a worker. */
  readonly atMs?: number | undefined;
  readonly trigger: Trigger | undefined;
}

/** The trigger part of a cause. */
type Trigger = Pick<Cause, "reason" | "object" | "revision">;

/** Reason of a cause: one CamelCase word, as those of Events. */
const CHANGED = { added: "Added", updated: "Updated", deleted: "Deleted" } as const;
/** A reconciliation requested to be repeated after a delay; object and revision are its trigger. */
const TIMER = "Timer";

/** A watched kind. */
interface Listening extends Disposable {
  deliver(change: Change): void;
}

export class RunningController implements ControllerMetrics {
  readonly #options: RunningControllerOptions;
  readonly #queue: WorkQueue<string>;
  readonly #woken = new Map<string, Woken>();
  /** Keys being reconciled, with the start. */
  readonly #underWay = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #listening = new Set<Listening>();
  readonly statistics = new ControllerStatistics();
  readonly metrics = new MetricSet();
  #workers: readonly Promise<void>[] = [];

  constructor(options: RunningControllerOptions) {
    this.#options = { ...options, log: options.log.with({ controller: options.controller.name }) };
    this.#queue = new WorkQueue({ clock: options.clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  }

  get name(): string {
    return this.#options.controller.name;
  }

  now(): QueueNow {
    const nowMs = this.#options.clock.monotonic();
    const unfinishedSeconds = [...this.#underWay.values()].map((startedMs) => (nowMs - startedMs) / 1_000);
    return { depth: this.#queue.length, inProgress: this.#queue.inProgress, unfinishedSeconds };
  }

  /** Keys being reconciled: "deployment-controller default/web". */
  get underWay(): readonly string[] {
    return [...this.#underWay.keys()].map((text) => `${this.name} ${text}`);
  }

  /** Resolves when it is synced and running. Rejects if it is stopped before, or `given` aborts. */
  async start(given?: AbortSignal): Promise<void> {
    const { controller, clock, random, log, read, everyKind } = this.#options;
    const signal = anySignal(this.#stopping.signal, given) as AbortSignal;
    await Promise.all(controller.watches.map((watch) => this.#follow(watch, signal)));
    signal.throwIfAborted();
    const wake = (key: WorkKey): void => this.#wake(keyText(key), undefined);
    const reconcile = controller.start({ clock, random, log, read, kinds: () => everyKind.deletable, wake });
    const { concurrency = CONCURRENCY_DEFAULT } = controller;
    this.#workers = Array.from({ length: concurrency }, () => this.#work(reconcile));
  }

  /** Starts no more reconciliations and cancels requests in flight; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.name} is stopping`));
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#queue.shutDown();
    await Promise.all(this.#workers);
  }

  /** Resolves when everything required is synced. */
  #follow(watch: Watch | WatchOfEveryKind, signal: AbortSignal): Promise<void> {
    const { informers, everyKind, log } = this.#options;
    if (!("everyKind" in watch)) {
      const keys = (change: Change, read: Reader): Iterable<WorkKey> => {
        watch.count?.(change, this.metrics);
        return watch.keys(change, read);
      };
      this.#listen(watch.kind, keys, (key, read) => watch.delayMs?.(key, read) ?? 0);
      return informers.of(watch.kind).synced(signal);
    }
    const listening = new Map<ResourceKind, Listening>();
    everyKind.listen({
      followed: (kind) => {
        if (this.#stopping.signal.aborted) return;
        listening.set(
          kind,
          this.#listen(kind, (change, read) => watch.keys(change, read, kind)),
        );
      },
      left: (kind, { isServed }) => {
        const left = listening.get(kind);
        if (left === undefined) return;
        listening.delete(kind);
        left[Symbol.dispose]();
        // With the kind its objects are removed, although there was no event for each.
        if (!isServed) for (const object of informers.of(kind).list()) left.deliver({ is: "deleted", object });
      },
    });
    return everyKind.known(signal, log);
  }

  #listen(
    kind: ResourceKind,
    keys: (change: Change, read: Reader) => Iterable<WorkKey>,
    delayMs: (key: WorkKey, read: Reader) => number = () => 0,
  ): Listening {
    const { informers, read, log } = this.#options;
    const deliver = (change: Change): void => {
      const { object } = change;
      try {
        let trigger: Trigger | undefined;
        for (const key of keys(change, read)) this.#wake(keyText(key), (trigger ??= triggerOf(change, kind)), delayMs(key, read));
      } catch (error) {
        log.error("Mapping a change to work-queue keys failed", { changed: keyText({ kind: kindName(kind), ...keyOf(object) }), error });
      }
    };
    const reported = informers.of(kind).listen({
      added: (object: KubeObject) => deliver({ is: "added", object }),
      updated: (object: KubeObject, previous: KubeObject) => deliver({ is: "updated", object, previous }),
      deleted: (object: KubeObject) => deliver({ is: "deleted", object }),
    });
    const listening = {
      deliver,
      [Symbol.dispose]: () => {
        reported[Symbol.dispose]();
        this.#listening.delete(listening);
      },
    };
    this.#listening.add(listening);
    return listening;
  }

  #wake(text: string, trigger: Trigger | undefined, delayMs = 0): void {
    if (delayMs > 0) {
      this.#keepTrigger(text, trigger);
      return this.#queue.addAfter(text, delayMs);
    }
    this.statistics.adds++;
    const before = this.#woken.get(text);
    this.#woken.set(text, { atMs: before?.atMs ?? this.#options.clock.monotonic(), trigger: trigger ?? before?.trigger });
    this.#queue.add(text);
  }

  async #work(reconcile: Reconcile): Promise<void> {
    for (let passes = 0; ; passes++) {
      if (passes % PASSES_PER_TURN === PASSES_PER_TURN - 1) await this.#turn();
      const text = await this.#queue.take();
      if (text === undefined || this.#stopping.signal.aborted) return;
      this.#underWay.set(text, this.#options.clock.monotonic());
      await this.#pass(text, reconcile);
      this.#underWay.delete(text);
      this.#queue.done(text);
    }
  }

  /** Stopping does not wait for it. */
  #turn(): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const stopListening = onAbort(signal, resolve);
      this.#options.clock.soon(() => {
        stopListening();
        resolve();
      });
    });
  }

  /** Never rejects. */
  async #pass(text: string, reconcile: Reconcile): Promise<void> {
    const { controller, read, client, events, clock, random, log } = this.#options;
    const { metrics } = this;
    const { signal } = this.#stopping;
    const startedMs = clock.monotonic();
    const { atMs, trigger } = this.#woken.get(text) ?? {};
    this.#woken.delete(text);
    if (atMs !== undefined) this.statistics.waited.observe((startedMs - atMs) / 1_000);
    const cause: Cause = { controller: controller.name, key: text, ...trigger };
    const wake = (key: WorkKey): void => this.#wake(keyText(key), trigger);
    const passLog = log.with({ key: text });
    try {
      const write = client.with({ cause, signal });
      const outcome = await reconcile(parseKey(text), { read, write, events, clock, random, log: passLog, metrics, signal, wake });
      assertOutcome(outcome, controller.name);
      this.#queue.forget(text);
      if (outcome.again === "after") this.#addAfter(text, outcome.delayMs, trigger);
      if (this.#queue.isDelayed(text)) this.#keepTrigger(text, trigger && { ...trigger, reason: TIMER });
    } catch (error) {
      this.#failed(text, error, { trigger, log: passLog });
    } finally {
      this.statistics.passes++;
      this.statistics.worked.observe((clock.monotonic() - startedMs) / 1_000);
    }
  }

  /** An immediate requeue yields to the event loop first: otherwise no timer would ever fire. */
  #addAfter(text: string, delayMs: number, trigger: Trigger | undefined): void {
    if (delayMs > 0) return this.#queue.addAfter(text, delayMs);
    this.#keepTrigger(text, trigger);
    this.#options.clock.soon(() => this.#queue.add(text));
  }

  /** For a reconciliation without a change of its own. A change that came meanwhile is the newer trigger. */
  #keepTrigger(text: string, trigger: Trigger | undefined): void {
    if (!this.#woken.has(text)) this.#woken.set(text, { trigger });
  }

  #failed(text: string, error: unknown, { trigger, log }: { readonly trigger: Trigger | undefined; readonly log: Logger }): void {
    if (this.#stopping.signal.aborted) return; // It was dropped, and starts from the beginning when queued.
    this.statistics.failures++;
    this.statistics.retries++;
    const retries = this.#queue.retries(text);
    // Conflicts are normal; and repeated failures are logged ever less often.
    if (isReason(error, "Conflict") || isReason(error, "NotFound"))
      log.debug("Reconciling an object conflicted with another write; retrying", { error });
    else if (isPowerOfTwo(retries + 1)) log.warn("Reconciling an object failed; retrying with backoff", { error, retries });
    else log.debug("Reconciling an object failed again", { error, retries });
    this.#keepTrigger(text, trigger);
    this.#queue.addRateLimited(text);
  }
}

function triggerOf({ is, object }: Change, kind: ResourceKind): Trigger {
  const { resourceVersion } = object.metadata;
  const changed = keyText({ kind: kindName(kind), ...keyOf(object) });
  return { reason: CHANGED[is], object: changed, ...(resourceVersion === undefined ? {} : { revision: resourceVersion }) };
}

/** The compiler enforces it only for TypeScript users. */
function assertOutcome(outcome: Outcome | undefined, controller: string): asserts outcome is Outcome {
  const isOutcome =
    outcome?.again === "on-change" || (outcome?.again === "after" && typeof outcome.delayMs === "number" && !Number.isNaN(outcome.delayMs));
  assert(isOutcome, `a pass of ${controller} ends with onChange or with after(a number of milliseconds)`);
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}

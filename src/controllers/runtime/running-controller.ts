/**
 * One controller at work: changes wake keys, workers look at them, what fails is looked at again, later each time. A key is with one
 * worker at a time, and when it is woken meanwhile it is looked at once more. Nothing is looked at before everything is known.
 */
import type { Cause } from "../../api/machinery/cause.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { eitherOf } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Informers, Reader } from "../../client/informer/informer.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Change, Controller, Reconcile, Watch, WatchOfEveryKind, WorkKey } from "./controller.ts";
import type { EveryKind } from "./every-kind.ts";
import { keyText, parseKey } from "./keys.ts";
import { ControllerFigures, type ControllerMetrics } from "./metrics.ts";

/** Upstream's first delay; its longest is over 16 minutes, which nobody wants to wait after mending what was wrong. */
const RETRY_DELAY = { minMs: 5, maxMs: 60_000 };
const CONCURRENCY_DEFAULT = 5;

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

/** What woke a key that waits. */
interface Woken {
  /** Absent: it failed and is to be looked at again, which is no waiting for a worker. */
  readonly atMs?: number | undefined;
  readonly revision: string | undefined;
}

export class RunningController implements ControllerMetrics {
  readonly #options: RunningControllerOptions;
  readonly #queue: WorkQueue<string>;
  readonly #woken = new Map<string, Woken>();
  readonly #stopping = new AbortController();
  readonly #listening: Disposable[] = [];
  readonly figures = new ControllerFigures();
  #workers: readonly Promise<void>[] = [];

  constructor(options: RunningControllerOptions) {
    this.#options = { ...options, log: options.log.with({ controller: options.controller.name }) };
    this.#queue = new WorkQueue({ clock: options.clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  }

  get name(): string {
    return this.#options.controller.name;
  }

  now(): { readonly depth: number; readonly inProgress: number } {
    return { depth: this.#queue.length, inProgress: this.#queue.inProgress };
  }

  /** Resolves when it knows what is there and works. Rejects if it is stopped before, or `given` comes. */
  async start(given?: AbortSignal): Promise<void> {
    const { controller, informers, clock, random, log, read, everyKind } = this.#options;
    const signal = eitherOf(this.#stopping.signal, given) as AbortSignal;
    const followed = controller.watches.map((watch) => this.#follow(watch));
    await Promise.all(followed.flat().map((kind) => informers.of(kind).synced(signal)));
    signal.throwIfAborted();
    const wake = (key: WorkKey): void => this.#wake(key, undefined);
    const reconcile = controller.start({ clock, random, log, read, kinds: () => everyKind.deletable, wake });
    const { concurrency = CONCURRENCY_DEFAULT } = controller;
    this.#workers = Array.from({ length: concurrency }, () => this.#work(reconcile));
  }

  /** Nothing begins any more, requests that are under way are given up; resolves when the passes that run have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.name} is stopping`));
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#queue.shutDown();
    await Promise.all(this.#workers);
  }

  /** The kinds that it must know before it begins. */
  #follow(watch: Watch | WatchOfEveryKind): readonly ResourceKind[] {
    if (!("everyKind" in watch)) {
      this.#listen(watch.kind, (change, read) => watch.keys(change, read));
      return [watch.kind];
    }
    const { everyKind } = this.#options;
    everyKind.listen((kind) => {
      if (!this.#stopping.signal.aborted) this.#listen(kind, (change, read) => watch.keys(change, read, kind));
    });
    return everyKind.followed;
  }

  #listen(kind: ResourceKind, keys: (change: Change, read: Reader) => Iterable<WorkKey>): void {
    const { informers, read } = this.#options;
    const tell = (change: Change): void => {
      const revision = change.object.metadata.resourceVersion;
      for (const key of keys(change, read)) this.#wake(key, revision);
    };
    this.#listening.push(
      informers.of(kind).listen({
        added: (object: KubeObject) => tell({ is: "added", object }),
        updated: (object: KubeObject, previous: KubeObject) => tell({ is: "updated", object, previous }),
        deleted: (object: KubeObject) => tell({ is: "deleted", object }),
      }),
    );
  }

  #wake(key: WorkKey, revision: string | undefined): void {
    const text = keyText(key);
    this.figures.adds++;
    const before = this.#woken.get(text);
    this.#woken.set(text, { atMs: before?.atMs ?? this.#options.clock.monotonic(), revision: revision ?? before?.revision });
    this.#queue.add(text);
  }

  async #work(reconcile: Reconcile): Promise<void> {
    for (;;) {
      const text = await this.#queue.take();
      if (text === undefined || this.#stopping.signal.aborted) return;
      await this.#pass(text, reconcile);
      this.#queue.done(text);
    }
  }

  /** Never rejects. */
  async #pass(text: string, reconcile: Reconcile): Promise<void> {
    const { controller, read, client, events, clock, random, log } = this.#options;
    const { signal } = this.#stopping;
    const startedMs = clock.monotonic();
    const { atMs, revision } = this.#woken.get(text) ?? {};
    this.#woken.delete(text);
    if (atMs !== undefined) this.figures.waited.observe((startedMs - atMs) / 1_000);
    const cause: Cause = { controller: controller.name, key: text, ...(revision === undefined ? {} : { revision }) };
    const passLog = log.with({ key: text });
    try {
      const write = client.with({ cause, signal });
      const outcome = await reconcile(parseKey(text), { read, write, events, clock, random, log: passLog, signal });
      this.#queue.forget(text);
      if (outcome.again === "after") this.#queue.addAfter(text, outcome.delayMs);
    } catch (error) {
      this.#failed(text, error, { revision, log: passLog });
    } finally {
      this.figures.passes++;
      this.figures.worked.observe((clock.monotonic() - startedMs) / 1_000);
    }
  }

  #failed(text: string, error: unknown, { revision, log }: { readonly revision: string | undefined; readonly log: Logger }): void {
    if (this.#stopping.signal.aborted) return; // It was given up, and whoever comes next begins anew.
    this.figures.failures++;
    this.figures.retries++;
    // That somebody else was quicker is the ordinary course of things.
    if (isReason(error, "Conflict") || isReason(error, "NotFound")) log.debug("A pass was overtaken", { error });
    else log.warn("A pass failed; it is tried again", { error, retries: this.#queue.retries(text) });
    // What woke it is still why.
    if (!this.#woken.has(text)) this.#woken.set(text, { revision });
    this.#queue.addRateLimited(text);
  }
}

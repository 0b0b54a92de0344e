/**
 * The kinds there are, for controllers that look after all of them, and their informers. Kinds come and go with definitions of custom
 * resources and with aggregated API servers, so a change of one of those makes it ask again; nothing is asked while nothing changes.
 */
import { customResourceDefinitions } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { eitherOf } from "../../base/abort.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discover, type DiscoveredKind } from "../../client/discovery.ts";
import type { Informers } from "../../client/informer/informer.ts";
import { kindName } from "./keys.ts";

/** After a group did not answer. */
const RETRY_DELAY = { minMs: 1_000, maxMs: 60_000 };

/** Events own nothing and wait for nothing, and there are many: nobody is told of each, as upstream's collector is not. */
const NOT_FOLLOWED: ReadonlySet<string> = new Set(["events", "events.events.k8s.io"]);

/** Whether there is an informer of it, so that changes of its objects are told and `read` shows them. */
export function isFollowed(kind: DiscoveredKind): boolean {
  return kind.verbs.includes("watch") && !NOT_FOLLOWED.has(kindName(kind));
}

export interface EveryKindOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Called for each kind that is to be followed, once; those there are first. */
export type KindListener = (kind: ResourceKind) => void;

export class EveryKind {
  readonly #options: EveryKindOptions;
  readonly #followed = new Map<string, DiscoveredKind>();
  readonly #listeners = new Set<KindListener>();
  readonly #listening: Disposable[] = [];
  readonly #stopped = new AbortController();
  readonly #backoff: Backoff;
  #deletable: readonly DiscoveredKind[] = [];
  #isAsking = false;
  #isStale = false;

  constructor(options: EveryKindOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ ...RETRY_DELAY, random: options.random });
  }

  /** Resolves when the kinds there are at first are known. Rejects if it is closed before, or `signal` comes. */
  async start(signal?: AbortSignal): Promise<void> {
    const given = eitherOf(this.#stopped.signal, signal) as AbortSignal;
    try {
      await this.#ask(given);
    } catch (error) {
      // One group that does not answer keeps nobody from the others; it is asked for again.
      if (this.#deletable.length === 0 || given.aborted) throw error;
      this.#askSoon();
    }
    const changed = (): void => this.#askSoon();
    for (const kind of [customResourceDefinitions, apiServices]) {
      const informer = this.#options.informers.of<never>(kind as ResourceKind as ResourceKind<never>);
      await informer.synced(given);
      this.#listening.push(informer.listen({ added: changed, updated: changed, deleted: changed }));
    }
  }

  /** What can be listed and deleted. */
  get deletable(): readonly DiscoveredKind[] {
    return this.#deletable;
  }

  /** What can be followed, too. */
  get followed(): readonly ResourceKind[] {
    return [...this.#followed.values()];
  }

  listen(listener: KindListener): void {
    this.#listeners.add(listener);
    for (const kind of this.#followed.values()) listener(kind);
  }

  close(): void {
    this.#stopped.abort();
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  #askSoon(): void {
    this.#isStale = true;
    if (!this.#isAsking) void this.#askWhileStale();
  }

  async #askWhileStale(): Promise<void> {
    this.#isAsking = true;
    const { clock, log } = this.#options;
    while (this.#isStale && !this.#stopped.signal.aborted) {
      this.#isStale = false;
      try {
        await this.#ask(this.#stopped.signal);
      } catch (error) {
        if (this.#stopped.signal.aborted) break;
        log.warn("What the API server serves could not be found out; it is tried again", { error });
        this.#isStale = true;
        await clock.sleep(this.#backoff.next(), this.#stopped.signal).catch(() => undefined);
      }
    }
    this.#isAsking = false;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { preferred, failures } = await discover(this.#options.client, { signal });
    this.#deletable = preferred.filter(({ verbs }) => verbs.includes("list") && verbs.includes("delete"));
    for (const kind of this.#deletable) {
      if (!isFollowed(kind) || this.#followed.has(kindName(kind))) continue;
      this.#followed.set(kindName(kind), kind);
      for (const listener of this.#listeners) listener(kind);
    }
    const [failure] = failures;
    if (failure !== undefined)
      throw new Error(`${failures.map(({ groupVersion }) => groupVersion).join(", ")} did not answer`, { cause: failure.error });
    this.#backoff.reset();
  }
}

/**
 * The served kinds and their informers, for controllers that handle all of them. Kinds change with CustomResourceDefinitions and
 * APIServices, so that a change of one of those triggers discovery; nothing is requested while nothing changes.
 *
 * A kind is watched in the version that its group prefers. When that changes it is watched in the other one, and when the kind is removed
 * its informer is stopped. Only a complete response of a group can show that something was removed.
 */
import { customResourceDefinitions } from "../../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { apiVersionOf, parseApiVersion } from "../../api/machinery/object.ts";
import { anySignal } from "../../base/abort.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discover, type DiscoveredKind } from "../../client/discovery.ts";
import type { Informers } from "../../client/informer/informer.ts";
import { kindName } from "./keys.ts";

/** Retry delay after a group did not respond. */
const RETRY_DELAY = { minMs: 1_000, maxMs: 60_000 };

/** A server may start or stop serving a kind shortly after its definition changed: so it is queried once more then. */
const SERVED_WITHIN_MS = 10_000;

/** Maximum time that one kind that cannot be listed (its conversion is broken, its server is down) delays the others. As upstream's. */
const KNOWN_WITHIN_MS = 30_000;

/** Events own nothing and wait for nothing, and there are many: they are not watched, as in upstream's garbage collector. */
const NOT_FOLLOWED: ReadonlySet<string> = new Set(["events", "events.events.k8s.io"]);

/** Kinds that trigger discovery. */
const DEFINITIONS: readonly ResourceKind[] = [customResourceDefinitions, apiServices] as readonly ResourceKind[];

/** Whether there is an informer of it, so that changes of its objects are delivered and `read` shows them. */
export function isFollowed(kind: DiscoveredKind): boolean {
  return kind.verbs.includes("watch") && !NOT_FOLLOWED.has(kindName(kind));
}

export interface EveryKindOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Kinds that controllers watch by name: those informers are not stopped here. */
  readonly named?: readonly ResourceKind[];
}

export interface KindListener {
  /** Called once for each watched kind; existing ones first. */
  followed(kind: ResourceKind): void;
  /** It is no longer watched, but `read` shows it until this returns. `isServed`: it still exists, and is watched in another version. */
  left(kind: ResourceKind, state: { readonly isServed: boolean }): void;
}

export class EveryKind {
  readonly #options: EveryKindOptions;
  /** By what is watched (identityOf). */
  readonly #followed = new Map<string, DiscoveredKind>();
  readonly #named: ReadonlySet<string>;
  readonly #listeners = new Set<KindListener>();
  readonly #listening: Disposable[] = [];
  readonly #stopped = new AbortController();
  readonly #backoff: Backoff;
  #deletable: readonly DiscoveredKind[] = [];
  #isAsking = false;
  #isStale = false;
  #asksLater = false;

  constructor(options: EveryKindOptions) {
    this.#options = options;
    this.#named = new Set([...DEFINITIONS, ...(options.named ?? [])].map(resourceOf));
    this.#backoff = new Backoff({ ...RETRY_DELAY, random: options.random });
  }

  /** Resolves when the initial kinds are known. Rejects if it is closed before, or `signal` aborts. */
  async start(signal?: AbortSignal): Promise<void> {
    const given = anySignal(this.#stopped.signal, signal) as AbortSignal;
    try {
      await this.#discover(given);
    } catch (error) {
      // A group that does not respond does not affect the others; it is retried.
      if (this.#deletable.length === 0 || given.aborted) throw error;
      this.#askSoon();
    }
    const changed = (): void => {
      this.#askSoon();
      void this.#askLater();
    };
    // Existing ones come first, so that one created after the request triggers discovery.
    for (const kind of DEFINITIONS) {
      this.#listening.push(this.#options.informers.of(kind).listen({ added: changed, updated: changed, deleted: changed }));
    }
  }

  /**
   * Resolves when everything watched is synced; or after a timeout, with a warning that names what is not: that is delivered when it is.
   */
  async known(signal: AbortSignal, log: Logger): Promise<void> {
    const { clock, informers } = this.#options;
    const enough = new AbortController();
    const given = anySignal(signal, enough.signal) as AbortSignal;
    const all = Promise.allSettled(this.followed.map((kind) => informers.of(kind).synced(given)));
    await Promise.race([all, clock.sleep(KNOWN_WITHIN_MS, given).catch(() => undefined)]);
    enough.abort();
    signal.throwIfAborted();
    const unknown = this.followed.filter((kind) => informers.running(kind)?.isSynced !== true);
    if (unknown.length > 0) log.warn("Some kinds cannot be listed; continuing without them", { kinds: unknown.map(kindName).join(", ") });
  }

  /** What can be listed and deleted. */
  get deletable(): readonly DiscoveredKind[] {
    return this.#deletable;
  }

  /** What can be watched, too. */
  get followed(): readonly ResourceKind[] {
    return [...this.#followed.values()];
  }

  listen(listener: KindListener): void {
    this.#listeners.add(listener);
    for (const kind of this.#followed.values()) listener.followed(kind);
  }

  close(): void {
    this.#stopped.abort();
    for (const listening of this.#listening) listening[Symbol.dispose]();
  }

  #askSoon(): void {
    this.#isStale = true;
    if (!this.#isAsking) void this.#askWhileStale();
  }

  /** Never rejects. */
  async #askLater(): Promise<void> {
    if (this.#asksLater) return;
    this.#asksLater = true;
    await this.#options.clock.sleep(SERVED_WITHIN_MS, this.#stopped.signal).catch(() => undefined);
    this.#asksLater = false;
    if (!this.#stopped.signal.aborted) this.#askSoon();
  }

  async #askWhileStale(): Promise<void> {
    this.#isAsking = true;
    const { clock, log } = this.#options;
    while (this.#isStale && !this.#stopped.signal.aborted) {
      this.#isStale = false;
      try {
        await this.#discover(this.#stopped.signal);
      } catch (error) {
        if (this.#stopped.signal.aborted) break;
        log.warn("Discovery failed; retrying", { error });
        this.#isStale = true;
        await clock.sleep(this.#backoff.next(), this.#stopped.signal).catch(() => undefined);
      }
    }
    this.#isAsking = false;
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const { preferred, failures } = await discover(this.#options.client, { signal });
    const unanswered = new Set(failures.map(({ groupVersion }) => parseApiVersion(groupVersion)?.group));
    // The last complete response of a group stays valid until the next complete one.
    const kept = this.#deletable.filter(({ storage }) => unanswered.has(storage.group));
    const keptNames = new Set(kept.map(kindName));
    const found = preferred.filter(
      (kind) => kind.verbs.includes("list") && kind.verbs.includes("delete") && !keptNames.has(kindName(kind)),
    );
    this.#deletable = [...kept, ...found];
    this.#followOnly(this.#deletable.filter(isFollowed));
    const [failure] = failures;
    if (failure !== undefined)
      throw new Error(`${failures.map(({ groupVersion }) => groupVersion).join(", ")} did not respond`, { cause: failure.error });
    this.#backoff.reset();
  }

  /** All at once: there is no read in between. */
  #followOnly(kinds: readonly DiscoveredKind[]): void {
    const wanted = new Map(kinds.map((kind) => [identityOf(kind), kind]));
    const served = new Set(kinds.map(kindName));
    for (const [identity, kind] of this.#followed) {
      if (!wanted.has(identity)) this.#leave(identity, kind, { isServed: served.has(kindName(kind)) });
    }
    for (const [identity, kind] of wanted) {
      if (!this.#followed.has(identity)) this.#follow(identity, kind);
    }
  }

  #follow(identity: string, kind: DiscoveredKind): void {
    this.#followed.set(identity, kind);
    this.#options.informers.of(kind);
    for (const listener of this.#listeners) listener.followed(kind);
  }

  #leave(identity: string, kind: DiscoveredKind, state: { readonly isServed: boolean }): void {
    this.#followed.delete(identity);
    for (const listener of this.#listeners) listener.left(kind, state);
    if (!this.#named.has(resourceOf(kind))) void this.#options.informers.end(kind);
  }
}

/** As informers distinguish kinds. */
function resourceOf({ storage, plural }: ResourceKind): string {
  return `${apiVersionOf(storage)}/${plural}`;
}

/** Including its name and scope: a definition may be recreated under the same name. */
function identityOf(kind: ResourceKind): string {
  return `${resourceOf(kind)} ${kind.kind} ${kind.scope}`;
}

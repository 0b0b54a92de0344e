/**
 * One ConfigMap or Secret, as it is now: got once, then followed until nobody needs it. Whoever asks waits until it is known. If it cannot
 * be got, who asked is told why, and the next one who asks makes it be tried anew. Not here: which Pods need which (object-references.ts).
 */
import type { ConfigMap, Secret } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { Informer, Informers, InformerScope } from "../../client/informer/informer.ts";

export type Referable = ConfigMap | Secret;

/** How soon what was forbidden is tried again: in the same process the server learns of a Pod within milliseconds. */
const FORBIDDEN_DELAY = { minMs: 20, maxMs: 1_000 };

/** With the delays in between 3 to 6 s; what is forbidden for longer is meant so, until whoever asked asks again. */
const FORBIDDEN_TRIES_MAX = 11;

export interface FetchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: ResourceKind<Referable>;
  readonly namespace: string;
  readonly name: string;
}

export interface FollowOptions extends FetchOptions {
  readonly informers: Informers;
  /** Told after it has changed, appeared or gone. */
  changed(podUids: Iterable<string>): void;
}

/** Undefined if there is none. Rejects if the API cannot say. */
export async function fetchAllowed(options: FetchOptions, signal: AbortSignal): Promise<Referable | undefined> {
  const { client, clock, random, kind, namespace, name } = options;
  const backoff = new Backoff({ ...FORBIDDEN_DELAY, random });
  for (;;) {
    try {
      return await client.get(kind, { namespace, name }, { signal });
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      if (!isReason(error, "Forbidden") || backoff.attempts + 1 >= FORBIDDEN_TRIES_MAX) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}

export class FollowedObject implements AsyncDisposable {
  /** Who needs it. */
  readonly podUids = new Set<string>();
  readonly #options: FollowOptions;
  readonly #stop = new AbortController();
  /** The first answer; undefined after one that could not be had. */
  #fetching: Promise<Referable | undefined> | undefined;
  #fetched: Referable | undefined;
  #informer: Informer<Referable> | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    // Whoever asks is told why it failed; if nobody asks, nobody minds.
    this.#begin().catch(() => undefined);
  }

  async current(): Promise<Referable | undefined> {
    await (this.#fetching ?? this.#begin());
    return this.#known();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error(`Cannot wait for ${this.#options.kind.plural} "${this.#options.name}": no Pod needs it any more`));
    await this.#endInformer();
  }

  #begin(): Promise<Referable | undefined> {
    this.#fetching = fetchAllowed(this.#options, this.#stop.signal).then(
      (object) => {
        this.#fetched = object;
        if (object?.immutable !== true && !this.#stop.signal.aborted) this.#follow();
        return object;
      },
      (error: unknown) => {
        this.#fetching = undefined;
        throw error;
      },
    );
    return this.#fetching;
  }

  get #scope(): InformerScope {
    const { namespace, name } = this.#options;
    return { namespace, fieldSelector: `metadata.name=${name}` };
  }

  #follow(): void {
    const { informers, kind } = this.#options;
    const informer = informers.of(kind, this.#scope);
    this.#informer = informer;
    informer.listen({
      added: (object) => this.#see(object),
      updated: (object) => this.#see(object),
      deleted: () => this.#see(undefined),
    });
    // What is gone between the first answer and the first list is told by nothing but its absence.
    informer.synced(this.#stop.signal).then(
      () => this.#see(this.#known()),
      () => undefined, // Nobody needs it any more.
    );
  }

  #known(): Referable | undefined {
    const { namespace, name } = this.#options;
    return this.#informer?.isSynced === true ? this.#informer.get({ namespace, name }) : this.#fetched;
  }

  #see(object: Referable | undefined): void {
    const isSame = object?.metadata.uid === this.#fetched?.metadata.uid && versionOf(object) === versionOf(this.#fetched);
    if (isSame || this.#stop.signal.aborted) return;
    this.#fetched = object;
    if (object?.immutable === true) void this.#endInformer();
    this.#options.changed(this.podUids);
  }

  async #endInformer(): Promise<void> {
    if (this.#informer === undefined) return;
    this.#informer = undefined;
    await this.#options.informers.end(this.#options.kind, this.#scope);
  }
}

function versionOf(object: Referable | undefined): string | undefined {
  return object?.metadata.resourceVersion;
}

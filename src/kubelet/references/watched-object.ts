/**
 * The current version of one ConfigMap or Secret: read once, then watched while it is referenced. Callers wait for the first answer. If it
 * fails, the waiting callers get the error and the next caller retries. Not here: which Pods need which object (object-references.ts).
 */
import type { ConfigMap, Secret } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { Informer, Informers, InformerScope } from "../../client/informer/informer.ts";

export type Referable = ConfigMap | Secret;

/** Retry delay after Forbidden: in the same process the authorizer learns of a Pod within milliseconds. */
const FORBIDDEN_DELAY = { minMs: 20, maxMs: 1_000 };

/** With the delays between them 3 to 6 s; a longer Forbidden is final for this caller. */
const FORBIDDEN_TRIES_MAX = 11;

export interface FetchOptions<T extends KubeObject> {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: ResourceKind<T>;
  /** Absent for objects without a namespace. */
  readonly namespace?: string;
  readonly name: string;
}

export interface FollowOptions extends FetchOptions<Referable> {
  readonly namespace: string;
  readonly informers: Informers;
  /** Called after it was created, changed or deleted. */
  changed(podUids: Iterable<string>): void;
}

/** Undefined if it does not exist. Rejects if the API server does not respond. */
export async function fetchAllowed<T extends KubeObject>(options: FetchOptions<T>, signal: AbortSignal): Promise<T | undefined> {
  const { client, clock, random, kind, namespace, name } = options;
  const key = namespace === undefined ? { name } : { namespace, name };
  const backoff = new Backoff({ ...FORBIDDEN_DELAY, random });
  for (;;) {
    try {
      return await client.get(kind, key, { signal });
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      if (!isReason(error, "Forbidden") || backoff.attempts + 1 >= FORBIDDEN_TRIES_MAX) throw error;
      await clock.sleep(backoff.next(), signal);
    }
  }
}

export class FollowedObject implements AsyncDisposable {
  /** Uids of the Pods that refer to it. */
  readonly podUids = new Set<string>();
  readonly #options: FollowOptions;
  readonly #stop = new AbortController();
  /** The first answer; undefined after a failure. */
  #fetching: Promise<Referable | undefined> | undefined;
  #fetched: Referable | undefined;
  #informer: Informer<Referable> | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    // Callers receive the error; without a caller it is not reported.
    this.#begin().catch(() => undefined);
  }

  async current(): Promise<Referable | undefined> {
    await (this.#fetching ?? this.#begin());
    return this.#known();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error(`Cannot wait for ${this.#options.kind.plural} "${this.#options.name}": no Pod refers to it any more`));
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
    // A deletion between the first answer and the first list shows only as absence.
    informer.synced(this.#stop.signal).then(
      () => this.#see(this.#known()),
      () => undefined, // No longer referenced.
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

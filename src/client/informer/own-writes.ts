/**
 * A client whose writes are answered when the informers show them: whoever writes and then reads sees what it wrote, so a second pass
 * never does again what the first has done. In one process the informers know before the answer comes, and nothing is waited for.
 *
 * Waits only for informers of whole kinds that somebody began. One that is not synced yet is not waited for, since nobody reads from it;
 * it counts as synced when it shows this write, too. A dry run writes nothing, so there is nothing to wait for.
 *
 * An informer that cannot follow any more (its rights were taken, its kind cannot be listed) is not waited for without end. Who has given
 * up decides from what is old, so it may not write this kind again before the informer shows what was written: it would do it twice.
 */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason, StatusError } from "../../api/machinery/status-error.ts";
import { anySignal } from "../../base/abort.ts";
import type { CallOptions, Client, ObjectKey, ResourceKind } from "../client.ts";
import type { Informer, Informers } from "./informer.ts";

/** How long a write may take to be seen. An informer whose stream broke is back sooner, if it comes back: its delays end at 30 s. */
const SEEN_WITHIN_MS = 60_000;

/** What the calls of a write have in common. */
interface Options extends CallOptions {
  readonly dryRun?: readonly string[];
}

/**
 * Rejects with Timeout if what was written is not shown after a minute, and at once as long as what was written before is not: nothing is
 * written then.
 */
export function ownWrites(client: Client, informers: Informers): Client {
  return seeing(client, new Sight({ client, informers, unseen: new Map() }));
}

function seeing(client: Client, sight: Sight): Client {
  return {
    get: (kind, key, options) => client.get(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    pages: (kind, options) => client.pages(kind, options),
    watch: (kind, options, listener) => client.watch(kind, options, listener),
    document: (path, options) => client.document(path, options),

    create: (kind, object, options) => sight.ofWrite(kind, () => client.create(kind, object, options), options),
    update: (kind, object, options) => sight.ofWrite(kind, () => client.update(kind, object, options), options),
    updateStatus: (kind, object, options) => sight.ofWrite(kind, () => client.updateStatus(kind, object, options), options),
    patch: (kind, key, patch, options) => sight.ofWrite(kind, () => client.patch(kind, key, patch, options), options),
    apply: (kind, object, options) => sight.ofWrite(kind, () => client.apply(kind, object, options), options),
    async delete(kind, key, options) {
      sight.mustBeClear(kind, options);
      const known = sight.uidOf(kind, key);
      const answer = await client.delete(kind, key, options);
      await sight.ofDeletion(kind, key, { answer, uid: options?.preconditions?.uid ?? known }, options);
      return answer;
    },
    async deleteCollection(kind, options) {
      sight.mustBeClear(kind, options);
      await client.deleteCollection(kind, options);
      await sight.ofCollection(kind, options?.namespace, options);
    },
    async post(kind, key, subresource, value, options) {
      sight.mustBeClear(kind, options);
      const answer = await client.post(kind, key, subresource, value, options);
      await sight.ofPost(kind, key, { subresource, value }, options);
      return answer;
    },

    with: (defaults) => {
      const changed = client.with(defaults);
      return seeing(changed, sight.with(changed, defaults.signal));
    },
  };
}

interface SightOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly signal?: AbortSignal | undefined;
  /** How many writes are not seen yet that nobody waits for any more. */
  readonly unseen: Map<unknown, number>;
}

/** Waits until the informers show something. */
class Sight {
  readonly #options: SightOptions;
  readonly #client: Client;
  readonly #informers: Informers;

  constructor(options: SightOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#informers = options.informers;
  }

  with(client: Client, signal: AbortSignal | undefined): Sight {
    return new Sight({ ...this.#options, client, signal: anySignal(this.#options.signal, signal) });
  }

  /** Throws if what was written before is not seen yet. */
  mustBeClear<T extends KubeObject>(kind: ResourceKind<T>, options: Options | undefined): void {
    const { unseen } = this.#options;
    if (unseen.size === 0 || isDryRun(options) || !unseen.has(this.#informers.running(kind))) return;
    throw new StatusError("Timeout", `Cannot write ${kind.plural}: what was written before is not seen yet`);
  }

  async ofWrite<T extends KubeObject>(kind: ResourceKind<T>, write: () => Promise<T>, options: Options | undefined): Promise<T> {
    this.mustBeClear(kind, options);
    const answer = await write();
    if (isDryRun(options)) return answer;
    // Not awaited if it is known: that would cost a turn.
    const waiting = this.#reached(this.#informers.running(kind), answer, options);
    if (waiting !== undefined) await waiting;
    return answer;
  }

  uidOf<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey): string | undefined {
    return this.#informers.running(kind)?.get(key)?.metadata.uid;
  }

  /** What stays for now is shown as going; what is gone is not shown. */
  async ofDeletion<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: ObjectKey,
    { answer, uid = answer?.metadata.uid }: { readonly answer: T | undefined; readonly uid: string | undefined },
    options: Options | undefined,
  ): Promise<void> {
    const informer = this.#informers.running(kind);
    if (informer?.isSynced !== true || uid === undefined || isDryRun(options)) return;
    await this.#lost(informer, key, { uid, orGoing: answer !== undefined }, options);
    if (answer !== undefined) await this.#reached(informer, answer, options);
  }

  /** The answer does not say which they were, so if any is shown still, the server is asked which are left. */
  async ofCollection<T extends KubeObject>(
    kind: ResourceKind<T>,
    namespace: string | undefined,
    options: Options | undefined,
  ): Promise<void> {
    const informer = this.#informers.running(kind);
    if (informer?.isSynced !== true || isDryRun(options)) return;
    const shown = informer.list(namespace).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (shown.length === 0) return;
    const { items } = await this.#client.list(kind, { namespace, ...this.#signalOf(options) });
    const left = new Map(items.map((object) => [object.metadata.uid, object]));
    // One after the other is no slower: they wait for the same stream.
    for (const { metadata } of shown) {
      const now = left.get(metadata.uid);
      if (now !== undefined) await this.#reached(informer, now, options);
      else await this.#lost(informer, metadata, { uid: metadata.uid ?? "", orGoing: false }, options);
    }
  }

  /** Of what is sent to a subresource only these two change the object itself; their answers do not say how far. */
  async ofPost<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: ObjectKey,
    { subresource, value }: { readonly subresource: string; readonly value: JsonObject },
    options: Options | undefined,
  ): Promise<void> {
    const informer = this.#informers.running(kind);
    if (informer?.isSynced !== true || isDryRun(options) || isDryRun(value["deleteOptions"] as Options | undefined)) return;
    const shown = informer.get(key);
    if (subresource === "eviction") {
      if (shown === undefined || shown.metadata.deletionTimestamp !== undefined) return;
    } else if (subresource !== "binding" || isBound(shown)) return;
    await this.#ofNow(informer, key, options);
  }

  async #ofNow<T extends KubeObject>(informer: Informer<T>, key: ObjectKey, options: Options | undefined): Promise<void> {
    const uid = informer.get(key)?.metadata.uid;
    try {
      await this.#reached(informer, await this.#client.get(informer.kind, key, this.#signalOf(options)), options);
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
      if (uid !== undefined) await this.#lost(informer, key, { uid, orGoing: false }, options);
    }
  }

  #reached<T extends KubeObject>(
    informer: Informer<T> | undefined,
    { metadata }: KubeObject,
    options: Options | undefined,
  ): Promise<void> | undefined {
    const { resourceVersion, name } = metadata;
    if (informer === undefined || resourceVersion === undefined) return undefined;
    // Asked first without making a signal of two.
    if (informer.isSynced && compareResourceVersions(resourceVersion, informer.revision) <= 0) return undefined;
    const waiting = informer.reached(resourceVersion, this.#signalOf(options).signal);
    return informer.isSynced && waiting !== undefined ? this.#within(waiting, informer, name) : undefined;
  }

  #lost<T extends KubeObject>(
    informer: Informer<T>,
    key: ObjectKey,
    { uid, orGoing }: { readonly uid: string; readonly orGoing: boolean },
    options: Options | undefined,
  ): Promise<void> | undefined {
    const waiting = informer.lost(key, uid, { orGoing, ...this.#signalOf(options) });
    return waiting === undefined ? undefined : this.#within(waiting, informer, key.name);
  }

  async #within<T extends KubeObject>(waiting: Promise<void>, informer: Informer<T>, name: string): Promise<void> {
    const over = new AbortController();
    const late = this.#informers.clock.sleep(SEEN_WITHIN_MS, over.signal).then(
      () => true,
      () => false,
    );
    try {
      if (!(await Promise.race([waiting.then(() => false), late]))) return;
    } finally {
      over.abort();
    }
    this.#giveUp(waiting, informer);
    const { plural } = informer.kind;
    const seconds = SEEN_WITHIN_MS / 1_000;
    throw new StatusError("Timeout", `Wrote ${plural} ${JSON.stringify(name)}, but what is followed does not show it after ${seconds} s`);
  }

  /** Nothing more may be written until it is seen after all, or cannot be any more, as the informer was ended. */
  #giveUp<T extends KubeObject>(waiting: Promise<void>, informer: Informer<T>): void {
    const { unseen } = this.#options;
    unseen.set(informer, (unseen.get(informer) ?? 0) + 1);
    const seen = (): void => {
      const left = (unseen.get(informer) ?? 1) - 1;
      if (left > 0) unseen.set(informer, left);
      else unseen.delete(informer);
    };
    waiting.then(seen, seen);
  }

  #signalOf(options: Options | undefined): { readonly signal?: AbortSignal } {
    const signal = anySignal(this.#options.signal, options?.signal);
    return signal === undefined ? {} : { signal };
  }
}

function isDryRun(options: Options | undefined): boolean {
  return options?.dryRun !== undefined && options.dryRun.length > 0;
}

function isBound(object: KubeObject | undefined): boolean {
  const { spec } = (object ?? {}) as { readonly spec?: { readonly nodeName?: string } };
  return spec?.nodeName !== undefined && spec.nodeName !== "";
}

/**
 * A client whose writes resolve when the informers show them: a component that writes and then reads sees its own write, so that a second
 * reconciliation never repeats the first. In one process the informers are updated before the response, and nothing is waited for.
 *
 * Waits only for informers of whole kinds that were started. One that is not synced yet is not waited for, since it is not read from; it
 * counts as synced when it shows this write, too. A dry run writes nothing, so there is nothing to wait for.
 *
 * An informer that can no longer follow (permission revoked, kind cannot be listed) is not waited for forever. After the timeout the
 * component would decide from stale state, so it may not write this kind again before the informer shows the earlier write: it would repeat
 * it.
 */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason, StatusError } from "../../api/machinery/status-error.ts";
import { anySignal } from "../../base/abort.ts";
import type { CallOptions, Client, ObjectKey, ResourceKind } from "../client.ts";
import type { Informer, Informers } from "./informer.ts";

/** Timeout for a write to become visible. An informer whose stream broke is back sooner, if it comes back: its delays are at most 30 s. */
const SEEN_WITHIN_MS = 60_000;

/** What the calls of a write have in common. */
interface Options extends CallOptions {
  readonly dryRun?: readonly string[];
}

/**
 * Rejects with Timeout if the write is not visible after a minute, and immediately as long as an earlier write is not visible: nothing is
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
  /** Number of writes that are not visible yet and no longer waited for. */
  readonly unseen: Map<unknown, number>;
}

/** Waits until the informers show a state. */
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

  /** Throws if an earlier write is not visible yet. */
  mustBeClear<T extends KubeObject>(kind: ResourceKind<T>, options: Options | undefined): void {
    const { unseen } = this.#options;
    if (unseen.size === 0 || isDryRun(options) || !unseen.has(this.#informers.running(kind))) return;
    throw new StatusError("Timeout", `Cannot write ${kind.plural}: what was written before is not seen yet`);
  }

  async ofWrite<T extends KubeObject>(kind: ResourceKind<T>, write: () => Promise<T>, options: Options | undefined): Promise<T> {
    this.mustBeClear(kind, options);
    const answer = await write();
    if (isDryRun(options)) return answer;
    // Not awaited if already known: that would cost a tick.
    const waiting = this.#reached(this.#informers.running(kind), answer, options);
    if (waiting !== undefined) await waiting;
    return answer;
  }

  uidOf<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey): string | undefined {
    return this.#informers.running(kind)?.get(key)?.metadata.uid;
  }

  /** A remaining object is shown as terminating; a removed one is not shown. */
  async ofDeletion<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: ObjectKey,
    { answer, uid = answer?.metadata.uid }: { readonly answer: T | undefined; readonly uid: string | undefined },
    options: Options | undefined,
  ): Promise<void> {
    const informer = this.#informers.running(kind);
    if (informer?.isSynced !== true || uid === undefined || isDryRun(options)) return;
    await this.#lost(informer, key, { uid, orTerminating: answer !== undefined }, options);
    if (answer !== undefined) await this.#reached(informer, answer, options);
  }

  /** The response does not list the objects, so if any is still shown, the server is queried for those left. */
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
    // Sequential is not slower: they wait for the same stream.
    for (const { metadata } of shown) {
      const now = left.get(metadata.uid);
      if (now !== undefined) await this.#reached(informer, now, options);
      else await this.#lost(informer, metadata, { uid: metadata.uid ?? "", orTerminating: false }, options);
    }
  }

  /** Of the subresource posts only these two change the object itself; their responses do not say how far. */
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
      if (uid !== undefined) await this.#lost(informer, key, { uid, orTerminating: false }, options);
    }
  }

  #reached<T extends KubeObject>(
    informer: Informer<T> | undefined,
    { metadata }: KubeObject,
    options: Options | undefined,
  ): Promise<void> | undefined {
    const { resourceVersion, name } = metadata;
    if (informer === undefined || resourceVersion === undefined) return undefined;
    // Checked first without combining two signals.
    if (informer.isSynced && compareResourceVersions(resourceVersion, informer.revision) <= 0) return undefined;
    const waiting = informer.reached(resourceVersion, this.#signalOf(options).signal);
    return informer.isSynced && waiting !== undefined ? this.#within(waiting, informer, name) : undefined;
  }

  #lost<T extends KubeObject>(
    informer: Informer<T>,
    key: ObjectKey,
    { uid, orTerminating }: { readonly uid: string; readonly orTerminating: boolean },
    options: Options | undefined,
  ): Promise<void> | undefined {
    const waiting = informer.lost(key, uid, { orTerminating, ...this.#signalOf(options) });
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

  /** Blocks further writes until it becomes visible after all, or never can, since the informer was stopped. */
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

/**
 * A client whose writes are answered when the informers show them: whoever writes and then reads sees what it wrote, so a second pass
 * never does again what the first has done. In one process the informers know before the answer comes, and nothing is waited for.
 *
 * Waits only for informers of whole kinds that somebody began. One that is not synced yet is not waited for, since nobody reads from it;
 * it counts as synced when it shows this write, too. A dry run writes nothing, so there is nothing to wait for.
 */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { eitherOf } from "../../base/abort.ts";
import type { CallOptions, Client, ObjectKey, ResourceKind } from "../client.ts";
import type { Informer, Informers, SeeingClient } from "./informer.ts";

/** What the calls of a write have in common. */
interface Options extends CallOptions {
  readonly dryRun?: readonly string[];
}

export function ownWrites(client: Client, informers: Informers): SeeingClient {
  return seeing(client, new Sight(client, informers, undefined));
}

function seeing(client: Client, sight: Sight): SeeingClient {
  return {
    get: (kind, key, options) => client.get(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    pages: (kind, options) => client.pages(kind, options),
    watch: (kind, options, listener) => client.watch(kind, options, listener),
    document: (path, options) => client.document(path, options),

    create: (kind, object, options) => sight.ofWrite(kind, client.create(kind, object, options), options),
    update: (kind, object, options) => sight.ofWrite(kind, client.update(kind, object, options), options),
    updateStatus: (kind, object, options) => sight.ofWrite(kind, client.updateStatus(kind, object, options), options),
    patch: (kind, key, patch, options) => sight.ofWrite(kind, client.patch(kind, key, patch, options), options),
    apply: (kind, object, options) => sight.ofWrite(kind, client.apply(kind, object, options), options),
    async delete(kind, key, options) {
      const known = sight.uidOf(kind, key);
      const answer = await client.delete(kind, key, options);
      await sight.ofDeletion(kind, key, { answer, uid: options?.preconditions?.uid ?? known }, options);
      return answer;
    },
    async deleteCollection(kind, options) {
      await client.deleteCollection(kind, options);
      await sight.ofCollection(kind, options?.namespace, options);
    },
    async post(kind, key, subresource, value, options) {
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

/** Waits until the informers show something. */
class Sight {
  readonly #client: Client;
  readonly #informers: Informers;
  readonly #signal: AbortSignal | undefined;

  constructor(client: Client, informers: Informers, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#informers = informers;
    this.#signal = signal;
  }

  with(client: Client, signal: AbortSignal | undefined): Sight {
    return new Sight(client, this.#informers, eitherOf(this.#signal, signal));
  }

  async ofWrite<T extends KubeObject>(kind: ResourceKind<T>, write: Promise<T>, options: Options | undefined): Promise<T> {
    const answer = await write;
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
    await informer.lost(key, uid, { orGoing: answer !== undefined, ...this.#signalOf(options) });
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
      else await informer.lost(metadata, metadata.uid ?? "", { orGoing: false, ...this.#signalOf(options) });
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
      if (uid !== undefined) await informer.lost(key, uid, { orGoing: false, ...this.#signalOf(options) });
    }
  }

  #reached<T extends KubeObject>(
    informer: Informer<T> | undefined,
    { metadata }: KubeObject,
    options: Options | undefined,
  ): Promise<void> | undefined {
    const { resourceVersion } = metadata;
    if (informer === undefined || resourceVersion === undefined) return undefined;
    // Asked first without making a signal of two.
    if (informer.isSynced && compareResourceVersions(resourceVersion, informer.revision) <= 0) return undefined;
    const waiting = informer.reached(resourceVersion, this.#signalOf(options).signal);
    return informer.isSynced ? waiting : undefined;
  }

  #signalOf(options: Options | undefined): { readonly signal?: AbortSignal } {
    const signal = eitherOf(this.#signal, options?.signal);
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

/**
 * ConfigMaps and Secrets of the Pods of this node, each known for as long as a Pod refers to it, and all Services. An object is first read,
 * which shows at once whether access is allowed, then watched by an informer of its own: a node may watch an object by its name and no
 * others. Immutable objects are not watched.
 *
 * Access to an object is granted by the Pod that refers to it, and the API server's authorizer may learn of the Pod later than this node: a
 * Forbidden answer is retried for a few seconds. Not here: the contract (references.ts).
 */
import type { ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service } from "../../api/generated/core/v1.ts";
import type { ClusterTrustBundle } from "../../api/generated/certificates.k8s.io/v1beta1.ts";
import { clusterTrustBundles } from "../../api/certificates.k8s.io/v1beta1/cluster-trust-bundle.ts";
import type { CSIDriver, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { configMapNames, secretNames } from "../../api/core/v1/pod/references.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { services } from "../../api/core/v1/service.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { anySignal, onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { Informer, Informers } from "../../client/informer/informer.ts";
import { fetchAllowed, FollowedObject, type Referable } from "./watched-object.ts";
import type { References } from "./references.ts";

export interface ReferencesOptions {
  readonly client: Client;
  /** Owned by the caller; informers of single objects are opened and closed here. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function startReferences(options: ReferencesOptions): References {
  return new ObjectReferences(options);
}

/** The Service of the API server, which every Pod gets environment variables for. */
const MASTER = { namespace: "default", name: "kubernetes" };

class ObjectReferences implements References {
  readonly #options: ReferencesOptions;
  readonly #services: Informer<Service>;
  readonly #objects = new Map<string, FollowedObject>();
  /** Keys of the objects that each Pod refers to, by its uid. */
  readonly #objectsOf = new Map<string, ReadonlySet<string>>();
  /** Uids of the Pods that project trust bundles. */
  readonly #trusting = new Set<string>();
  /** Undefined: no Pod has needed them yet, so that nothing is watched. */
  #trustBundles: Informer<ClusterTrustBundle> | undefined;
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #closing = new AbortController();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: ReferencesOptions) {
    this.#options = options;
    this.#services = options.informers.of(services);
  }

  register(pod: Pod): void {
    const { uid = "", namespace = "" } = pod.metadata;
    const { spec } = pod;
    if (this.#closing.signal.aborted || spec === undefined) return;
    const wanted = new Map<string, readonly [kind: ResourceKind<Referable>, name: string]>();
    for (const name of configMapNames(spec)) wanted.set(keyOf(configMaps, namespace, name), [configMaps, name]);
    for (const name of secretNames(spec)) wanted.set(keyOf(secrets, namespace, name), [secrets, name]);
    const before = this.#objectsOf.get(uid);
    this.#objectsOf.set(uid, new Set(wanted.keys()));
    // New ones first, so that objects that stay referenced are not closed in between.
    for (const [key, [kind, name]] of wanted) this.#need(key, uid, { kind, namespace, name });
    for (const key of before ?? []) if (!wanted.has(key)) this.#release(key, uid);
  }

  unregister(podUid: string): void {
    const keys = this.#objectsOf.get(podUid) ?? [];
    this.#objectsOf.delete(podUid);
    this.#trusting.delete(podUid);
    for (const key of keys) this.#release(key, podUid);
  }

  configMap(namespace: string, name: string, signal?: AbortSignal): Promise<ConfigMap | undefined> {
    return this.#get(configMaps, { namespace, name }, signal);
  }

  secret(namespace: string, name: string, signal?: AbortSignal): Promise<Secret | undefined> {
    return this.#get(secrets, { namespace, name }, signal);
  }

  persistentVolumeClaim(namespace: string, name: string, signal?: AbortSignal): Promise<PersistentVolumeClaim | undefined> {
    return this.#fetch(persistentVolumeClaims, { namespace, name }, signal);
  }

  persistentVolume(name: string, signal?: AbortSignal): Promise<PersistentVolume | undefined> {
    return this.#fetch(persistentVolumes, { name }, signal);
  }

  csiDriver(name: string, signal?: AbortSignal): Promise<CSIDriver | undefined> {
    return this.#fetch(csiDrivers, { name }, signal);
  }

  volumeAttachment(name: string, signal?: AbortSignal): Promise<VolumeAttachment | undefined> {
    return this.#fetch(volumeAttachments, { name }, signal);
  }

  node(name: string, signal?: AbortSignal): Promise<Node | undefined> {
    return this.#fetch(nodes, { name }, signal);
  }

  async trustBundles(podUid: string, signal?: AbortSignal): Promise<readonly ClusterTrustBundle[]> {
    this.#closing.signal.throwIfAborted();
    this.#trusting.add(podUid);
    const informer = (this.#trustBundles ??= this.#watchTrustBundles());
    await informer.synced(signal);
    return informer.list();
  }

  async services(namespace: string, signal?: AbortSignal): Promise<readonly Service[]> {
    await this.#services.synced(signal);
    const own = this.#services.list(namespace);
    const master = namespace === MASTER.namespace ? undefined : this.#services.get(MASTER);
    return master === undefined ? own : [master, ...own];
  }

  listen(listener: (podUid: string) => void): Disposable {
    // A function of its own, so that a listener registered twice is notified twice.
    const own = (podUid: string) => listener(podUid);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("The references are closed"));
    this.#listeners.clear();
    this.#objectsOf.clear();
    for (const [key, object] of this.#objects) this.#end(key, object);
    await Promise.all(this.#ending);
  }

  #watchTrustBundles(): Informer<ClusterTrustBundle> {
    const informer = this.#options.informers.of(clusterTrustBundles);
    const changed = (): void => this.#notify(this.#trusting);
    // Ends with the informers.
    informer.listen({ added: changed, updated: changed, deleted: changed });
    return informer;
  }

  #need(key: string, podUid: string, object: { kind: ResourceKind<Referable>; namespace: string; name: string }): void {
    let followed = this.#objects.get(key);
    if (followed === undefined) {
      followed = new FollowedObject({ ...this.#options, ...object, changed: (podUids) => this.#notify(podUids) });
      this.#objects.set(key, followed);
    }
    followed.podUids.add(podUid);
  }

  #release(key: string, podUid: string): void {
    const followed = this.#objects.get(key);
    followed?.podUids.delete(podUid);
    if (followed?.podUids.size === 0) this.#end(key, followed);
  }

  #end(key: string, followed: FollowedObject): void {
    this.#objects.delete(key);
    const ending = followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #get<T extends Referable>(
    kind: ResourceKind<T>,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    this.#closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    const followed = this.#objects.get(keyOf(kind, namespace, name));
    // Not referenced by a registered Pod: read once.
    const known = followed?.current() ?? fetchAllowed({ ...this.#options, kind, namespace, name }, signal ?? this.#closing.signal);
    return (await untilAborted(known, signal)) as T | undefined;
  }

  /** Reads the object now. */
  #fetch<T extends KubeObject>(
    kind: ResourceKind<T>,
    key: { readonly namespace?: string; readonly name: string },
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    this.#closing.signal.throwIfAborted();
    return fetchAllowed({ ...this.#options, kind, ...key }, anySignal(signal, this.#closing.signal) ?? this.#closing.signal);
  }

  #notify(podUids: Iterable<string>): void {
    for (const podUid of podUids) for (const listener of this.#listeners) listener(podUid);
  }
}

function keyOf(kind: ResourceKind<Referable>, namespace: string, name: string): string {
  return `${kind.plural}/${namespace}/${name}`;
}

/** The operation continues for its other callers. */
function untilAborted<T>(waited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return waited;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    waited.then(resolve, reject).finally(stopListening);
  });
}

/**
 * Volumes and claims as they will be once the scheduler's decisions are written: a volume refers to its claim, a claim has its selected
 * node. An assumption holds for one version of its object: a newer one that was observed takes precedence, so that nothing assumed can
 * outlive a foreign change, and a write based on it is refused with a conflict.
 *
 * Pods that share a claim share its assumption, and its write. It ends with its last Pod, unless it was written.
 */
import { claimClass, volumeClass } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { StorageView } from "../../framework/storage-view.ts";

/** An object as it will be. */
export interface Assumption<T extends KubeObject> {
  readonly object: T;
  /** False if the object already is so. */
  readonly needsWrite: boolean;
  /** Uids of the Pods that rely on it. */
  readonly pods: Set<string>;
  /** The request that makes it true, once it was sent; resolves with the object as written. */
  writing?: Promise<T>;
}

/** Assumptions of one kind, by key. */
class Assumed<T extends KubeObject> {
  readonly #byKey = new Map<string, Assumption<T>>();
  /** Keys by claim ("namespace/name"). */
  readonly #byClaim = new Map<string, Set<string>>();
  readonly #claimOf: (object: T) => string;

  constructor(claimOf: (object: T) => string) {
    this.#claimOf = claimOf;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Undefined if none exists, or the observed object is another version. */
  get(key: string, observed: T | undefined): Assumption<T> | undefined {
    const assumption = this.#byKey.get(key);
    if (assumption === undefined) return undefined;
    if (observed !== undefined && versionOf(observed) === versionOf(assumption.object)) return assumption;
    this.drop(key, assumption);
    return undefined;
  }

  /** `object` has the version of the current one, or is that. */
  add(key: string, current: T, object: T, podUid: string): Assumption<T> {
    const replaced = this.#byKey.get(key);
    if (replaced !== undefined) this.drop(key, replaced);
    const assumption = { object, needsWrite: object !== current, pods: new Set([podUid]) };
    const claim = this.#claimOf(object);
    this.#byKey.set(key, assumption);
    this.#byClaim.set(claim, (this.#byClaim.get(claim) ?? new Set()).add(key));
    return assumption;
  }

  /** The Pod no longer relies on it. What was written is true, and shown until it is observed. */
  release(key: string, assumption: Assumption<T>, podUid: string): void {
    assumption.pods.delete(podUid);
    if (assumption.pods.size === 0 && assumption.writing === undefined) this.drop(key, assumption);
  }

  /** Writing it failed, or it was observed. */
  drop(key: string, assumption: Assumption<T>): void {
    if (this.#byKey.get(key) !== assumption) return;
    this.#byKey.delete(key);
    const claim = this.#claimOf(assumption.object);
    const keys = this.#byClaim.get(claim);
    keys?.delete(key);
    if (keys?.size === 0) this.#byClaim.delete(claim);
  }

  /** Keys of those that concern the claim. */
  concerning(claimKey: string): readonly string[] {
    return [...(this.#byClaim.get(claimKey) ?? [])];
  }
}

export class Assumptions {
  readonly volumes = new Assumed<PersistentVolume>(({ spec }) => `${spec?.claimRef?.namespace ?? ""}/${spec?.claimRef?.name ?? ""}`);
  readonly claims = new Assumed<PersistentVolumeClaim>(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
  readonly #storage: StorageView;

  constructor(storage: StorageView) {
    this.#storage = storage;
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    const observed = this.#storage.claim(namespace, name);
    if (this.claims.size === 0) return observed;
    return this.claims.get(`${namespace}/${name}`, observed)?.object ?? observed;
  }

  volume(name: string): PersistentVolume | undefined {
    const observed = this.#storage.volume(name);
    if (this.volumes.size === 0) return observed;
    return this.volumes.get(name, observed)?.object ?? observed;
  }

  /** The claim ("namespace/name"), or a volume that refers to it, has changed: what is no longer assumed is forgotten. */
  changed(claimKey: string): void {
    const [namespace = "", name = ""] = claimKey.split("/");
    this.claim(namespace, name);
    for (const volumeName of this.volumes.concerning(claimKey)) this.volume(volumeName);
  }

  /** Volumes of the class that are available, and not assumed for any claim. Ordered by name. */
  freeVolumes(className: string): readonly PersistentVolume[] {
    const free = this.#storage.freeVolumes(className);
    if (this.volumes.size === 0) return free;
    return free.filter((volume) => this.volumes.get(volume.metadata.name, volume) === undefined);
  }

  /** Volumes of the claim's class that refer, or are assumed to refer, to the claim by name. */
  volumesFor(claim: PersistentVolumeClaim): readonly PersistentVolume[] {
    const { namespace = "", name } = claim.metadata;
    const className = claimClass(claim);
    const found = this.#storage.volumesReferringTo(namespace, name).filter((volume) => volumeClass(volume) === className);
    for (const volumeName of this.volumes.concerning(`${namespace}/${name}`)) {
      const assumed = this.volumes.get(volumeName, this.#storage.volume(volumeName))?.object;
      if (assumed !== undefined) found.push(assumed);
    }
    return found;
  }
}

function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? "";
}

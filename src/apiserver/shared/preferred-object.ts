/**
 * The default object of a cluster-scoped kind: the default StorageClass, the default PriorityClass. Several objects may claim to be the
 * default; the kind's rule decides. Fed by changes, so a lookup compares only the claimants, which are few.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Follower } from "../framework/objects.ts";

export class PreferredObject<T extends KubeObject> implements Follower {
  readonly #claims: (object: T) => boolean;
  readonly #compare: (a: T, b: T) => number;
  readonly #claimants = new Map<string, T>();

  /** `compare` sorts the better one first. */
  constructor(claims: (object: T) => boolean, compare: (a: T, b: T) => number) {
    this.#claims = claims;
    this.#compare = compare;
  }

  get(): T | undefined {
    let best: T | undefined;
    for (const claimant of this.#claimants.values()) if (best === undefined || this.#compare(claimant, best) < 0) best = claimant;
    return best;
  }

  put(object: KubeObject): void {
    const { name } = object.metadata;
    if (this.#claims(object as T)) this.#claimants.set(name, object as T);
    else this.#claimants.delete(name);
  }

  remove({ metadata }: KubeObject): void {
    this.#claimants.delete(metadata.name);
  }

  reset(): void {
    this.#claimants.clear();
  }
}

/** The newest first; equally new ones by name. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const difference = compareTexts(b.creationTimestamp ?? "", a.creationTimestamp ?? "");
  return difference === 0 ? compareTexts(a.name, b.name) : difference;
}

/** Timestamps of the API compare as strings: they are all in UTC and to the second. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Volumes that may be bound to a claim, sorted by capacity, so that the smallest that fits is found without looking at the others: ten
 * thousand claims for ten thousand volumes must not take a hundred million comparisons. Grouped by what must match exactly (class, mode,
 * VolumeAttributesClass), and within by access modes, since upstream prefers volumes with fewer of them.
 *
 * A cache that follows the informer. It may be out of date: the caller checks the current volume.
 */
import { claimBytes, claimClass, volumeBytes, volumeClass, volumeModeOf } from "../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";

/** Volumes with the same access modes, ascending by capacity, then by name. */
interface ModeSet {
  readonly modes: readonly string[];
  readonly volumes: Entry[];
}

interface Entry {
  readonly name: string;
  readonly bytes: bigint;
}

interface Place {
  readonly group: string;
  readonly modes: string;
  readonly entry: Entry;
}

export class AvailableVolumes {
  /** By group, then by access modes. None is empty. */
  readonly #groups = new Map<string, Map<string, ModeSet>>();
  readonly #places = new Map<string, Place>();

  get size(): number {
    return this.#places.size;
  }

  put(volume: PersistentVolume): void {
    const { name } = volume.metadata;
    const entry = { name, bytes: volumeBytes(volume) };
    const modes = [...new Set(volume.spec?.accessModes ?? [])].sort();
    const place = { group: groupOfVolume(volume), modes: modes.join(","), entry };
    const known = this.#places.get(name);
    if (known !== undefined && isSamePlace(known, place)) return;
    this.delete(name);
    this.#places.set(name, place);
    const { volumes } = this.#setOf(place, modes);
    volumes.splice(positionOf(volumes, entry), 0, entry);
  }

  delete(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    const sets = this.#groups.get(place.group);
    const volumes = sets?.get(place.modes)?.volumes;
    if (sets === undefined || volumes === undefined) return;
    volumes.splice(positionOf(volumes, place.entry), 1);
    if (volumes.length === 0) sets.delete(place.modes);
    if (sets.size === 0) this.#groups.delete(place.group);
  }

  /** Names of volumes large enough for the claim, in the order of preference: fewest access modes, then smallest, then by name. */
  *candidates(claim: PersistentVolumeClaim): Iterable<string> {
    const requested = claim.spec?.accessModes ?? [];
    const sets = [...(this.#groups.get(groupOfClaim(claim))?.values() ?? [])]
      .filter(({ modes }) => requested.every((mode) => modes.includes(mode)))
      .sort((a, b) => a.modes.length - b.modes.length);
    const least = { name: "", bytes: claimBytes(claim) };
    for (const { volumes } of sets) {
      for (let index = positionOf(volumes, least); index < volumes.length; index++) yield (volumes[index] as Entry).name;
    }
  }

  #setOf({ group, modes: key }: Place, modes: readonly string[]): ModeSet {
    let sets = this.#groups.get(group);
    if (sets === undefined) this.#groups.set(group, (sets = new Map()));
    let set = sets.get(key);
    if (set === undefined) sets.set(key, (set = { modes, volumes: [] }));
    return set;
  }
}

/** What a volume and its claim must agree on. A newline is in none of the names. */
export function groupOfVolume(volume: PersistentVolume): string {
  return [volumeClass(volume), volumeModeOf(volume), volume.spec?.volumeAttributesClassName ?? ""].join("\n");
}

export function groupOfClaim(claim: PersistentVolumeClaim): string {
  return [claimClass(claim), volumeModeOf(claim), claim.spec?.volumeAttributesClassName ?? ""].join("\n");
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.group === b.group && a.modes === b.modes && a.entry.bytes === b.entry.bytes;
}

/** Index of the entry, or where it belongs. */
function positionOf(volumes: readonly Entry[], entry: Entry): number {
  let [low, high] = [0, volumes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(volumes[middle] as Entry, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.bytes === b.bytes ? a.name < b.name : a.bytes < b.bytes;
}

/**
 * Volumes that fit an unbound claim on some node, prepared once per Pod: what does not depend on the node is checked here, and volumes
 * that are accessible only from nodes with a certain label are found by it. So a class of thousands of local volumes costs a lookup per
 * node, not a search.
 */
import { claimBytes, hasAccessModes, isBoundToClaim, volumeBytes, volumeModeOf } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { decisiveLabel } from "../../framework/volumes/volume-affinity.ts";
import { migratedVolume } from "../../framework/volumes/migration.ts";

/** Whether a volume is accessible from a node. */
export type IsAccessible = (volume: PersistentVolume, node: NodeInfo) => boolean;

export interface ClaimCandidates {
  /** The volumes that are reserved for the claim, if any: then no other is considered. */
  readonly reserved: readonly PersistentVolume[];
  readonly free: SmallestFirst;
}

export function candidatesFor(
  claim: PersistentVolumeClaim,
  referring: readonly PersistentVolume[],
  free: readonly PersistentVolume[],
): ClaimCandidates {
  const bytes = claimBytes(claim);
  const fits = (volume: PersistentVolume): boolean =>
    traitsOf(volume).bytes >= bytes &&
    volumeModeOf(volume) === volumeModeOf(claim) &&
    attributesClass(volume) === attributesClass(claim) &&
    volume.metadata.deletionTimestamp === undefined;
  const selector = claim.spec?.selector === undefined ? undefined : labelSelectorFromObject(claim.spec.selector);
  const reserved = referring.filter((volume) => isBoundToClaim(volume, claim) && fits(volume));
  const others = free.filter(
    (volume) => fits(volume) && hasAccessModes(volume, claim) && (selector === undefined || selector.matches(volume.metadata.labels)),
  );
  return { reserved, free: new SmallestFirst(others) };
}

/** The volume for the claim on this node; undefined if none fits. `chosen`: taken by other claims of the Pod. */
export function volumeOn(
  { reserved, free }: ClaimCandidates,
  node: NodeInfo,
  chosen: ReadonlySet<PersistentVolume>,
  isAccessible: IsAccessible,
): PersistentVolume | undefined {
  const [first] = reserved.filter((volume) => !chosen.has(volume));
  if (first !== undefined) return isAccessible(first, node) ? first : undefined;
  return free.firstOn(node, chosen, isAccessible);
}

/** What every Pod reads of a volume, computed once per version of it. */
interface Traits {
  readonly bytes: bigint;
  /** Of decisiveLabel, each value once. Undefined for volumes of migrated plugins, whose affinity depends on the node. */
  readonly label: { readonly key: string; readonly values: readonly string[] } | undefined;
}

const known = new WeakMap<PersistentVolume, Traits>();

function traitsOf(volume: PersistentVolume): Traits {
  let traits = known.get(volume);
  if (traits === undefined) {
    const label = migratedVolume(volume) === undefined ? decisiveLabel(volume) : undefined;
    traits = { bytes: volumeBytes(volume), label: label && { key: label.key, values: [...new Set(label.values)] } };
    known.set(volume, traits);
  }
  return traits;
}

interface Ranked {
  readonly volume: PersistentVolume;
  /** Position in the order of size, then name. */
  readonly rank: number;
}

/** Free volumes, smallest first. */
export class SmallestFirst {
  readonly #anywhere: Ranked[] = [];
  readonly #byLabel = new Map<string, Map<string, Ranked[]>>();

  constructor(volumes: readonly PersistentVolume[]) {
    const sized = volumes.map((volume) => ({ volume, bytes: traitsOf(volume).bytes }));
    // A stable sort: of equal sizes, the first by name.
    sized.sort((a, b) => (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0));
    for (const [rank, { volume }] of sized.entries()) this.#add({ volume, rank });
  }

  #add(ranked: Ranked): void {
    const { label } = traitsOf(ranked.volume);
    if (label === undefined) return void this.#anywhere.push(ranked);
    const byValue = this.#byLabel.get(label.key) ?? new Map<string, Ranked[]>();
    this.#byLabel.set(label.key, byValue);
    for (const value of label.values) {
      const list = byValue.get(value);
      if (list === undefined) byValue.set(value, [ranked]);
      else list.push(ranked);
    }
  }

  firstOn(node: NodeInfo, chosen: ReadonlySet<PersistentVolume>, isAccessible: IsAccessible): PersistentVolume | undefined {
    const isUsable = ({ volume }: Ranked): boolean => !chosen.has(volume) && isAccessible(volume, node);
    let best = this.#anywhere.find(isUsable);
    for (const [key, byValue] of this.#byLabel) {
      const value = node.labels[key];
      const found = value === undefined ? undefined : byValue.get(value)?.find(isUsable);
      if (found !== undefined && (best === undefined || found.rank < best.rank)) best = found;
    }
    return best?.volume;
  }
}

function attributesClass({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec?.volumeAttributesClassName ?? "";
}

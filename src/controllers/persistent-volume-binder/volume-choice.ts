/**
 * Chooses a volume for a claim and, the other way round, claims that a volume may be for. Concurrent reconciliations choose different
 * volumes, since a volume is reserved from the choice until its binding is written.
 */
import { claimClass, isBoundToClaim } from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import { defaultClassOf, storageClasses } from "../../api/storage.k8s.io/v1/storage-class.ts";
import type { ObjectKey } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";
import { AvailableVolumes, groupOfVolume } from "./available-volumes.ts";
import type { ClaimView } from "./claim-plan.ts";
import { fitsAvailable, fitsReserved, isAvailable } from "./match.ts";
import { claimKey, claimsByVolume, claimsWithoutVolume, isWithoutVolume, volumesByClaim } from "./watches.ts";

export class VolumeChoice {
  readonly #available = new AvailableVolumes();
  /** Claims by the volume that is being bound to them. */
  readonly #reserved = new Map<string, string>();
  /** Claims that were woken for an available volume and have not been reconciled since. */
  readonly #woken = new Set<string>();

  follow({ is, object }: Change<PersistentVolume>): void {
    if (is !== "deleted" && isAvailable(object)) this.#available.put(object);
    else this.#available.delete(object.metadata.name);
  }

  /** The claim is being reconciled: another volume may wake it again. */
  arrived(claim: ObjectKey): void {
    this.#woken.delete(objectText(claim));
  }

  reserve({ metadata }: PersistentVolume, claim: PersistentVolumeClaim): Disposable {
    const { name } = metadata;
    this.#reserved.set(name, objectText(claim.metadata));
    return { [Symbol.dispose]: () => void this.#reserved.delete(name) };
  }

  viewOf(claim: PersistentVolumeClaim, read: Reader): ClaimView {
    return {
      volume: (name) => read.get(persistentVolumes, { name }),
      match: (_claim, options) => this.#match(claim, options, read),
      storageClass: (name) => (name === "" ? undefined : read.get(storageClasses, { name })),
      defaultClass: () => defaultClassOf(read.list(storageClasses)),
      waitingPods: () =>
        read
          .indexed(podsByClaim, objectText(claim.metadata))
          .filter((pod) => (pod.spec?.nodeName ?? "") === "" && !isTerminal(pod))
          .map(({ metadata }) => metadata.name),
    };
  }

  /** Of a reserved and an available one, that with fewer access modes is closer to the request; then the reserved one, as upstream. */
  #match(claim: PersistentVolumeClaim, { onlyReserved }: { readonly onlyReserved: boolean }, read: Reader): PersistentVolume | undefined {
    const mine = read.indexed(volumesByClaim, objectText(claim.metadata)).filter((volume) => fitsReserved(volume, claim));
    const reserved = mine.reduce<PersistentVolume | undefined>(
      (best, volume) => (best !== undefined && modes(best) <= modes(volume) ? best : volume),
      undefined,
    );
    if (onlyReserved) return reserved;
    const available = this.#smallest(claim, read);
    if (reserved === undefined || available === undefined) return reserved ?? available;
    return modes(reserved) <= modes(available) ? reserved : available;
  }

  #smallest(claim: PersistentVolumeClaim, read: Reader): PersistentVolume | undefined {
    const self = objectText(claim.metadata);
    for (const name of this.#available.candidates(claim)) {
      const by = this.#reserved.get(name);
      const volume = by === undefined || by === self ? read.get(persistentVolumes, { name }) : undefined;
      if (volume !== undefined && fitsAvailable(volume, claim)) return volume;
    }
    return undefined;
  }

  /**
   * Claims to reconcile for an available volume: those that name it or that it is reserved for, or else one that it fits and that is not
   * about to be reconciled. One is enough: if it takes another volume instead, that one was better, and this one stays available.
   */
  *claimsFor(volume: PersistentVolume, read: Reader): Iterable<WorkKey> {
    const claimRef = volume.spec?.claimRef;
    if (claimRef !== undefined) {
      const claim = read.get(persistentVolumeClaims, { namespace: claimRef.namespace, name: claimRef.name ?? "" });
      if (claim !== undefined && isWithoutVolume(claim) && isBoundToClaim(volume, claim)) yield claimKey(claim.metadata);
      return;
    }
    const naming = read.indexed(claimsByVolume, volume.metadata.name);
    for (const { metadata } of naming) yield claimKey(metadata);
    if (naming.length > 0 || this.#reserved.has(volume.metadata.name)) return;
    const waiting = read.indexed(claimsWithoutVolume, groupOfVolume(volume)).find((claim) => this.#isFor(volume, claim, read));
    if (waiting === undefined) return;
    this.#woken.add(objectText(waiting.metadata));
    yield claimKey(waiting.metadata);
  }

  #isFor(volume: PersistentVolume, claim: PersistentVolumeClaim, read: Reader): boolean {
    if (this.#woken.has(objectText(claim.metadata))) return false;
    const { volumeBindingMode } = read.get(storageClasses, { name: claimClass(claim) }) ?? {};
    return volumeBindingMode !== "WaitForFirstConsumer" && fitsAvailable({ ...volume, status: { phase: "Available" } }, claim);
  }
}

function modes({ spec }: PersistentVolume): number {
  return spec?.accessModes?.length ?? 0;
}

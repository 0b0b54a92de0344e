/**
 * Volumes of decided Pods, from reserve until the Pod is bound or its attempt fails. Reserving assumes that the plan is carried out, so
 * that the next Pod neither chooses the same volume nor another node for a shared claim.
 */
import { boundToClaim, SELECTED_NODE, withAnnotations } from "../../../api/core/v1/persistent-volume/binding.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { Assumption, Assumptions } from "./assumptions.ts";
import type { VolumePlan } from "./pod-volumes.ts";

export interface VolumeReservation {
  /** Volumes that get a reference to a claim. */
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: Assumption<PersistentVolume> }[];
  /** Claims that get a selected node. */
  readonly provisions: readonly Assumption<PersistentVolumeClaim>[];
}

export class Reservations {
  readonly #assumptions: Assumptions;
  /** By uid of the Pod. */
  readonly #byPod = new Map<string, VolumeReservation>();

  constructor(assumptions: Assumptions) {
    this.#assumptions = assumptions;
  }

  get(podUid: string): VolumeReservation | undefined {
    return this.#byPod.get(podUid);
  }

  add(podUid: string, nodeName: string, plan: VolumePlan): void {
    const bindings = plan.bindings.map(({ claim, volume }) => ({ claim, volume: this.#assumeBinding(volume, claim, podUid) }));
    const provisions = plan.provisions.map((claim) => this.#assumeNode(claim, nodeName, podUid));
    this.#byPod.set(podUid, { bindings, provisions });
  }

  /** The Pod is bound, or its attempt has failed. */
  release(podUid: string): void {
    const reservation = this.#byPod.get(podUid);
    if (reservation === undefined) return;
    this.#byPod.delete(podUid);
    const { volumes, claims } = this.#assumptions;
    for (const { volume } of reservation.bindings) volumes.release(volume.object.metadata.name, volume, podUid);
    for (const claim of reservation.provisions) claims.release(keyOf(claim.object), claim, podUid);
  }

  /** `volume` may already be assumed to refer to the claim, which another Pod uses, too. */
  #assumeBinding(volume: PersistentVolume, claim: PersistentVolumeClaim, podUid: string): Assumption<PersistentVolume> {
    const { name } = volume.metadata;
    const existing = this.#assumptions.volumes.get(name, volume);
    if (existing !== undefined) return joined(existing, podUid);
    return this.#assumptions.volumes.add(name, volume, boundToClaim(volume, claim), podUid);
  }

  #assumeNode(claim: PersistentVolumeClaim, nodeName: string, podUid: string): Assumption<PersistentVolumeClaim> {
    const existing = this.#assumptions.claims.get(keyOf(claim), claim);
    if (existing !== undefined) return joined(existing, podUid);
    return this.#assumptions.claims.add(keyOf(claim), claim, withAnnotations(claim, { [SELECTED_NODE]: nodeName }), podUid);
  }
}

export function keyOf({ metadata }: PersistentVolumeClaim): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function joined<T extends Assumption<PersistentVolume> | Assumption<PersistentVolumeClaim>>(assumption: T, podUid: string): T {
  assumption.pods.add(podUid);
  return assumption;
}

/**
 * Owners of claims by `persistentVolumeClaimRetentionPolicy`: the garbage collector deletes a claim with its owner, the set (whenDeleted)
 * or the scaled-down Pod (whenScaled). Claims that something else controls, or that belong to a deleted set or Pod of the same name, are
 * left alone. Pure.
 */
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import { controlledBy } from "../runtime/keys.ts";
import { isDesired, parsePodName } from "./ordinals.ts";

/** What a claim's owners depend on of a Pod, which may not exist yet. */
export interface ClaimUser {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: { readonly name: string; readonly uid?: string };
}

type Owner = Pick<KubeObject, "apiVersion" | "kind"> & { readonly metadata: { readonly name: string; readonly uid?: string } };

interface Policy {
  readonly withSet: boolean;
  readonly withPod: boolean;
}

function policyOf({ spec }: StatefulSet): Policy {
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { withSet: whenDeleted === "Delete", withPod: whenScaled === "Delete" };
}

/** True if a claim waits for its deletion together with a former Pod of this name: a new Pod must not use it. */
export function isStaleClaim(set: StatefulSet, user: ClaimUser, claim: PersistentVolumeClaim): boolean {
  return policyOf(set).withPod && hasStaleReference(claim, user);
}

/** The claim with the owners that it should have; itself if it has them. */
export function withClaimOwners(set: StatefulSet, user: ClaimUser, claim: PersistentVolumeClaim): PersistentVolumeClaim {
  if (isUpToDate(set, user, claim)) return claim;
  const others = (claim.metadata.ownerReferences ?? []).filter((reference) => !refersTo(reference, set) && !refersTo(reference, user));
  const ownerReferences = hasConflictingController(set, user, claim) ? others : [...others, ...claimOwners(set, user)];
  return { ...claim, metadata: { ...claim.metadata, ownerReferences } };
}

/** The owner references that the policy asks for. */
export function claimOwners(set: StatefulSet, user: ClaimUser): readonly OwnerReference[] {
  const { withSet, withPod } = policyOf(set);
  if (withPod && isScaledDown(set, user)) return [controlledBy({ ...user, metadata: { ...user.metadata } })];
  return withSet ? [controlledBy(set)] : [];
}

function isUpToDate(set: StatefulSet, user: ClaimUser, claim: PersistentVolumeClaim): boolean {
  if (hasStaleReference(claim, set) || hasStaleReference(claim, user)) return true;
  const [ownedBySet, ownedByPod] = [isOwnedBy(claim, set), isOwnedBy(claim, user)];
  if (hasConflictingController(set, user, claim)) return !ownedBySet && !ownedByPod;
  if (hasPlainOwner(set, user, claim)) return false;
  const wanted = claimOwners(set, user);
  return ownedBySet === wanted.some(({ uid }) => uid === set.metadata.uid) && ownedByPod === wanted.some(({ kind }) => kind === user.kind);
}

function isScaledDown(set: StatefulSet, user: ClaimUser): boolean {
  const name = parsePodName(user.metadata.name);
  return name === undefined || !isDesired(set, name.ordinal);
}

/** True if something else manages the claim, so that the policy is not applied to it. Retained claims are not concerned. */
export function hasConflictingController(set: StatefulSet, user: ClaimUser, { metadata }: PersistentVolumeClaim): boolean {
  const { withSet, withPod } = policyOf(set);
  if (!withSet && !withPod) return false;
  return (metadata.ownerReferences ?? []).some((reference) => {
    const owner = [set, user].find((candidate) => refersTo(reference, candidate));
    return owner === undefined ? reference.controller === true : reference.uid !== owner.metadata.uid;
  });
}

/** True if the set or the Pod is an owner, but not the controller. */
function hasPlainOwner(set: StatefulSet, user: ClaimUser, { metadata }: PersistentVolumeClaim): boolean {
  const uids: readonly unknown[] = [set.metadata.uid, user.metadata.uid];
  return (metadata.ownerReferences ?? []).some(({ uid, controller }) => uids.includes(uid) && controller !== true);
}

function isOwnedBy({ metadata }: PersistentVolumeClaim, owner: Owner): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
}

/** Refers to an object of this name that no longer exists. */
function hasStaleReference({ metadata }: PersistentVolumeClaim, owner: Owner): boolean {
  const reference = (metadata.ownerReferences ?? []).find((candidate) => refersTo(candidate, owner));
  return reference !== undefined && reference.uid !== owner.metadata.uid;
}

function refersTo({ apiVersion, kind, name }: OwnerReference, owner: Owner): boolean {
  return apiVersion === owner.apiVersion && kind === owner.kind && name === owner.metadata.name;
}

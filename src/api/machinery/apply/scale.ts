/**
 * Ownership of the number of replicas, in the Scale of an object and in the object. A Scale is no object of its own: the owners of its one
 * field are those of the object's `replicas`, under another version. A write to the Scale is tracked there (trackUpdate or
 * applyConfiguration with the Scale's schema), and the result is translated back here.
 */
import { fieldElement } from "./field-path.ts";
import { FieldSet } from "./field-set.ts";
import { ManagedFields } from "./managed-fields.ts";
import { Owner, type OwnerParts } from "./owner.ts";

export interface ScaledObject {
  /** Path of the object's replicas: ["spec", "replicas"]. */
  readonly replicasPath: readonly string[];
  /** The version of the request, which new owners get. */
  readonly apiVersion: string;
  /** True if the object's kind is served in a version; owners in others are dropped. */
  isServed(apiVersion: string): boolean;
}

export const SCALE_API_VERSION = "autoscaling/v1";

const SCALE_REPLICAS = FieldSet.fromPaths([["spec", "replicas"].map(fieldElement)]);

/** The owners of the Scale of an object. */
export function ownersOfScale(managed: ManagedFields, { replicasPath, isServed }: ScaledObject): ManagedFields {
  const path = replicasPath.map(fieldElement);
  const owners = managed.owners().filter(({ fields, apiVersion }) => isServed(apiVersion) && fields.has(path));
  return ManagedFields.of(owners.map((owner) => new Owner(inVersion(owner, SCALE_API_VERSION), SCALE_REPLICAS)));
}

function inVersion({ manager, operation, subresource, time }: OwnerParts, apiVersion: string): OwnerParts {
  return { manager, operation, subresource, time, apiVersion };
}

/** The owners of an object after a write to its Scale: a manager that lost the replicas there loses them here. */
export function withOwnersOfScale(
  managed: ManagedFields,
  scale: ManagedFields,
  { replicasPath, apiVersion, isServed }: ScaledObject,
): ManagedFields {
  const path = replicasPath.map(fieldElement);
  const replicas = FieldSet.fromPaths([path]);
  const scaleOwners = scale.owners().filter(({ fields }) => fields.has(["f:spec", "f:replicas"]));
  const scaleWriters = new Set(scaleOwners.map(writerId));
  const kept = managed.owners().flatMap((owner) => {
    if (!isServed(owner.apiVersion)) return [];
    if (!owner.fields.has(path) || scaleWriters.has(writerId(owner))) return [owner];
    const left = owner.fields.difference(replicas);
    return left.isEmpty ? [] : [owner.withFields(left)];
  });
  const keptWriters = new Set(kept.filter(({ fields }) => fields.has(path)).map(writerId));
  const added = scaleOwners.filter((owner) => !keptWriters.has(writerId(owner)));
  // As upstream, which sets no time for owners that were not on the object.
  return ManagedFields.of([...kept, ...added.map((owner) => new Owner({ ...inVersion(owner, apiVersion), time: undefined }, replicas))]);
}

/** Identity of an owner in any version. */
function writerId({ manager, operation, subresource }: OwnerParts): string {
  return JSON.stringify([manager, operation, subresource]);
}

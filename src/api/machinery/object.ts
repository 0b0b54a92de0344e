/**
 * Base types of all API objects. Objects are never modified in place, so everything is readonly. The types of the kinds are generated from
 * the schemas (api/generated/<group>/<version>.ts) and are assignable to these.
 * Objects are type aliases, not interfaces: TypeScript assigns only aliases to JsonObject, so an object is encoded, merged or compared as
 * JSON without a cast. The way back, from JSON to a kind, is one downcast behind the check that justifies it.
 */

/** JSON as the parser returns it. Integers outside of ±2^53 are bigints, so that no digit is lost. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

/** Neither null nor a list. Members of a value that is not known to be JSON are unknown. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is Readonly<Record<string, unknown>>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** One entry of managedFields (server-side apply). Absent in shared objects: see apply/managed-fields.ts. */
export type ManagedFieldsEntry = {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: "FieldsV1";
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
};

export type ObjectMeta = {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
};

export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

export type ListMeta = {
  readonly selfLink?: string;
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
};

export type GroupVersion = {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
};

export type GroupVersionKind = GroupVersion & { readonly kind: string };

/** "v1", "apps/v1": the value of `apiVersion`. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Parses an apiVersion; undefined if it has more than one slash or an empty part. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split("/");
  const [first = "", second] = parts;
  if (parts.length > 2 || first === "" || second === "") return undefined;
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
}

/** "pods", "deployments.apps": the resource as upstream's messages name it. */
export function groupResourceOf(group: string, plural: string): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/**
 * A definition as upstream validates it: members that all versions have equal (schema, subresources, columns, selectable fields) are moved
 * beside the versions, and errors name them there: a definition with one version has its schema at `spec.validation`.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion } from "../../../generated/apiextensions.k8s.io/v1.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** The members of versions that can be shared by all. */
export type SharedMembers = Pick<
  CustomResourceDefinitionVersion,
  "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields"
>;

export interface SharedForm {
  readonly shared: SharedMembers;
  /** Without shared members. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

const MEMBERS = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const satisfies (keyof SharedMembers)[];

export function toSharedForm(spec: CustomResourceDefinitionSpec): SharedForm {
  // Decoded objects may lack any member, whatever the type says.
  const versions = spec.versions ?? [];
  const [first, ...others] = versions;
  if (first === undefined) return { shared: {}, versions };
  const names = MEMBERS.filter((name) => others.every((version) => deepEqual(version[name], first[name])));
  return {
    shared: Object.fromEntries(names.map((name) => [name, first[name]])),
    versions: versions.map((version) => without(version, names)),
  };
}

function without(version: CustomResourceDefinitionVersion, names: readonly (keyof SharedMembers)[]): CustomResourceDefinitionVersion {
  const rest: Partial<CustomResourceDefinitionVersion> = { ...version };
  for (const name of names) delete (rest as Partial<Record<string, unknown>>)[name];
  return rest as CustomResourceDefinitionVersion;
}

/** Every distinct schema of a definition. */
export function schemasOf(spec: CustomResourceDefinitionSpec): readonly JsonSchema[] {
  const { shared, versions } = toSharedForm(spec);
  return [shared, ...versions].flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);
}

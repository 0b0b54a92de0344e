/** Validation of a definition, new or updated, with upstream's messages and order. The API server validates metadata. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
} from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, element, immutable, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDnsSubdomain } from "../../../machinery/names.ts";
import { Budget } from "../schema/budget.ts";
import { Patterns } from "../schema/expression/match.ts";
import { type JsonSchema, someSchema } from "../schema/json-schema.ts";
import { unstructurable } from "../schema/structural.ts";
import { validateApproval } from "./approval.ts";
import { FOR_NEW, type Ratchets, ratchetsFor } from "./ratchets.ts";
import { schemasOf, type SharedMembers, toSharedForm } from "./shared-form.ts";
import { invalidShown, shownVersion } from "./shown-form.ts";
import { validateConversion } from "./validate-conversion.ts";
import { validateName, validateNames, validateNamesAreThere } from "./validate-names.ts";
import {
  validateColumn,
  validateDeprecation,
  validateSchemaMember,
  validateSelectableFields,
  validateSubresources,
} from "./validate-version.ts";

const SCOPES = ["Cluster", "Namespaced"];

export function* validateDefinition(next: CustomResourceDefinition, previous?: CustomResourceDefinition): Iterable<FieldError> {
  if (previous === undefined) yield* validateOwnName(next);
  const ratchets = previous === undefined ? FOR_NEW : ratchetsFor(next, previous);
  yield* validateSpec(next.spec, ratchets);
  if (previous !== undefined) yield* validateSameNames(next.spec, previous.spec, ratchets);
  yield* validateStatus(next.status);
  yield* validateStoredVersions(next.status?.storedVersions ?? [], next.spec.versions ?? [], "status.storedVersions");
  yield* validateApproval(next, previous);
  yield* validatePreserveUnknownFields(next.spec, previous?.spec);
}

function* validateOwnName({ metadata, spec }: CustomResourceDefinition): Iterable<FieldError> {
  const message = 'must be spec.names.plural+"."+spec.group';
  const { name, generateName = "" } = metadata;
  const expected = `${spec.names.plural}.${spec.group}`;
  if (generateName !== "" && generateName !== expected) yield invalid("metadata.generateName", generateName, message);
  // A missing name is reported for every kind.
  if (name !== "" && name !== expected) yield invalid("metadata.name", name, message);
}

function* validateSpec(spec: CustomResourceDefinitionSpec, given: Ratchets): Iterable<FieldError> {
  const { group, scope, names, conversion } = spec;
  const { shared, versions } = toSharedForm(spec);
  const ratchets = withRequiredStructure(spec, given);
  const patterns = new Patterns(new Budget());
  const hasOwnSubresources = versions.some(({ subresources }) => subresources !== undefined);
  yield* validateGroup(group, "spec.group");
  if (scope === "") yield required("spec.scope");
  else if (!SCOPES.includes(scope)) yield notSupported("spec.scope", scope, SCOPES);
  if (shared.schema?.openAPIV3Schema === undefined) yield* validateSchemasAreThere(spec, versions, ratchets);
  if (spec.preserveUnknownFields === true && hasDefaults(spec)) {
    yield invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema");
  }
  for (const [index, version] of versions.entries()) {
    const at = element("spec.versions", index);
    yield* validateName(version.name, child(at, "name"));
    const { subresources } = hasOwnSubresources ? version : shared;
    yield* validateVersion(version, at, { hasStatus: subresources?.status !== undefined, ratchets, patterns });
  }
  yield* validateVersionList(spec, versions);
  yield* validateNamesAreThere(names, "spec.names");
  yield* validateNames(names, "spec.names");
  yield* validateShared(shared, versions, { ratchets, patterns });
  if (conversion === undefined) return;
  if (conversion.strategy !== "None" && spec.preserveUnknownFields === true) {
    yield invalid("spec.conversion.strategy", conversion.strategy, "must be None if spec.preserveUnknownFields is true");
  }
  yield* validateConversion(conversion, "spec.conversion", ratchets);
}

function* validateGroup(group: string, at: string): Iterable<FieldError> {
  const wrong = validateDnsSubdomain(group);
  if (group === "") yield required(at);
  else if (wrong.length > 0) yield invalid(at, group, wrong.join(","));
  else if (!group.includes(".")) yield invalid(at, group, "should be a domain with at least one dot");
}

/** Pruning, defaults and extensions require a structural schema. */
function withRequiredStructure(spec: CustomResourceDefinitionSpec, ratchets: Ratchets): Ratchets {
  const needsStructure = spec.preserveUnknownFields !== true || hasDefaults(spec) || schemasOf(spec).some(hasExtensions);
  return needsStructure ? { ...ratchets, requireStructural: true } : ratchets;
}

function hasDefaults(spec: CustomResourceDefinitionSpec): boolean {
  return schemasOf(spec).some((schema) => someSchema(schema, (inner) => inner.default !== undefined));
}

const EXTENSIONS = [
  "x-kubernetes-embedded-resource",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-validations",
] as const satisfies (keyof JsonSchema)[];

function hasExtensions(schema: JsonSchema): boolean {
  return someSchema(schema, (inner) => EXTENSIONS.some((extension) => inner[extension] !== undefined));
}

function* validateSchemasAreThere(
  spec: CustomResourceDefinitionSpec,
  versions: readonly CustomResourceDefinitionVersion[],
  { requireSchema }: Ratchets,
): Iterable<FieldError> {
  if (!requireSchema && spec.preserveUnknownFields === true) return;
  for (const [index, { served, schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema !== undefined || (!requireSchema && !served)) continue;
    yield required(
      child(element("spec.versions", index), "schema", "openAPIV3Schema"),
      requireSchema ? "" : "because otherwise all fields are pruned",
    );
  }
}

interface VersionRules {
  readonly hasStatus: boolean;
  readonly ratchets: Ratchets;
  readonly patterns: Patterns;
}

function* validateVersion(
  version: CustomResourceDefinitionVersion,
  at: string,
  { hasStatus, ratchets, patterns }: VersionRules,
): Iterable<FieldError> {
  const { schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = version;
  yield* validateDeprecation(version, child(at, "deprecationWarning"));
  if (schema !== undefined) {
    const isUnchanged = ratchets.hasSameSchema(version.name);
    yield* validateSchemaMember(schema, { at: child(at, "schema"), hasStatus, ratchets, patterns, isUnchanged });
  }
  if (subresources !== undefined) yield* validateSubresources(subresources, child(at, "subresources"));
  for (const [index, column] of additionalPrinterColumns.entries()) {
    yield* validateColumn(column, element(child(at, "additionalPrinterColumns"), index));
  }
  if (selectableFields.length === 0) return;
  const fieldsAt = child(at, "selectableFields");
  const root = schema?.openAPIV3Schema;
  const problem = unstructurable(root);
  if (root === undefined) yield invalid(fieldsAt, "", "may only be set when `version.schema.openAPIV3Schema` is not included");
  else if (problem !== undefined) yield invalid(child(at, "schema.openAPIV3Schema"), "", problem);
  else {
    yield* validateSelectableFields(selectableFields, root, {
      at: fieldsAt,
      allowsMany: ratchets.allowsManySelectableFields(version.name),
    });
  }
}

/** The list as a whole; upstream validates the name of the first version once more, as that of the definition. */
function* validateVersionList(
  given: CustomResourceDefinitionSpec,
  versions: readonly CustomResourceDefinitionVersion[],
): Iterable<FieldError> {
  const shown = () => ((given.versions ?? null) === null ? null : versions.map(shownVersion));
  const names = new Set(versions.map(({ name }) => name));
  if (names.size < versions.length) yield invalidShown("spec.versions", shown(), "must contain unique version names");
  if (versions.filter(({ storage }) => storage).length !== 1) {
    yield invalidShown("spec.versions", shown(), "must have exactly one version marked as storage version");
  }
  const { name = "" } = versions[0] ?? {};
  if (name !== "") yield* validateName(name, "spec.version");
}

/** Members that all versions share. */
function* validateShared(
  shared: SharedMembers,
  versions: readonly CustomResourceDefinitionVersion[],
  { ratchets, patterns }: Omit<VersionRules, "hasStatus">,
): Iterable<FieldError> {
  const { schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = shared;
  const hasStatus = [shared, ...versions].some((member) => member.subresources?.status !== undefined);
  if (schema !== undefined) {
    const isUnchanged = ratchets.hasSameSchema("");
    yield* validateSchemaMember(schema, { at: "spec.validation", hasStatus, ratchets, patterns, isUnchanged });
  }
  if (subresources !== undefined) yield* validateSubresources(subresources, "spec.subresources");
  for (const [index, column] of additionalPrinterColumns.entries()) {
    yield* validateColumn(column, element("spec.additionalPrinterColumns", index));
  }
  if (selectableFields.length === 0) return;
  const root = schema?.openAPIV3Schema;
  const problem = unstructurable(root);
  if (schema === undefined) yield invalid("spec.selectableFields", "", "may only be set when validations.schema is included");
  else if (problem !== undefined) yield invalid("spec.schema.openAPIV3Schema", "", problem);
  else if (root !== undefined) {
    yield* validateSelectableFields(selectableFields, root, {
      at: "spec.selectableFields",
      allowsMany: ratchets.allowsManySelectableFields(""),
    });
  }
}

/** Objects are stored under these. */
function* validateSameNames(
  next: CustomResourceDefinitionSpec,
  previous: CustomResourceDefinitionSpec,
  { requireSameNames }: Ratchets,
): Iterable<FieldError> {
  if (requireSameNames && next.scope !== previous.scope) yield immutable("spec.scope", next.scope);
  if (requireSameNames && next.names.kind !== previous.names.kind) yield immutable("spec.names.kind", next.names.kind);
  if (next.group !== previous.group) yield immutable("spec.group", next.group);
  if (next.names.plural !== previous.names.plural) yield immutable("spec.names.plural", next.names.plural);
}

export function* validateStatus(status: CustomResourceDefinitionStatus | undefined): Iterable<FieldError> {
  if (status?.acceptedNames !== undefined) yield* validateNames(status.acceptedNames, "status.acceptedNames");
}

/** A version must remain as long as objects may be stored in it. */
function* validateStoredVersions(
  stored: readonly string[],
  versions: readonly CustomResourceDefinitionVersion[],
  at: string,
): Iterable<FieldError> {
  if (stored.length === 0) {
    yield invalid(at, null, "must have at least one stored version");
    return;
  }
  const missing = new Set(stored);
  for (const { name, storage } of versions) {
    // Only the first version of a name counts as the stored one, as upstream.
    if (!missing.delete(name) && storage) yield invalid(at, stored, `must have the storage version ${name}`);
  }
  for (const version of missing) {
    yield invalid(
      element(at, stored.lastIndexOf(version)),
      version,
      `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
    );
  }
}

function* validatePreserveUnknownFields(
  next: CustomResourceDefinitionSpec,
  previous: CustomResourceDefinitionSpec | undefined,
): Iterable<FieldError> {
  if (next.preserveUnknownFields !== true || previous?.preserveUnknownFields === true) return;
  yield invalid(
    "spec.preserveUnknownFields",
    true,
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
  );
}

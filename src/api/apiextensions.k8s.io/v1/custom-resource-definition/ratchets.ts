/**
 * Ratcheting validation of a definition. A stored one that violates a newer rule may continue to, so some rules apply only where the
 * definition has satisfied them so far. A new one must satisfy them all.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  SelectableField,
} from "../../../generated/apiextensions.k8s.io/v1.ts";
import { firstCauses } from "../../../machinery/validation-errors.ts";
import { isConditionTrue } from "../../../machinery/conditions.ts";
import { type JsonSchema, someSchema } from "../schema/json-schema.ts";
import { Budget } from "../schema/budget.ts";
import { Patterns } from "../schema/expression/match.ts";
import { pruneDefaults } from "../schema/prune-defaults.ts";
import { unstructurable, validateStructural } from "../schema/structural.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import { schemasOf, toSharedForm } from "./shared-form.ts";
import { validateAtomicSetItems, validateMapListKeys } from "./validate-list-types.ts";
import { hasInvalidType, type SchemaRules } from "./validate-schema.ts";

export const SELECTABLE_FIELDS_MAX = 8;
export const REVIEW_VERSIONS = ["v1", "v1beta1"];

export interface Ratchets extends SchemaRules {
  readonly requireReviewVersion: boolean;
  readonly requireSameNames: boolean;
  readonly requireSchema: boolean;
  readonly requireStructural: boolean;
  readonly requirePrunedDefaults: boolean;
  readonly requireValidCaBundle: boolean;
  /** By version, "" for shared ones: the schema was accepted before, with whatever its rules cost. */
  readonly hasSameSchema: (version: string) => boolean;
  /** By version, "" for shared ones: exceeds the maximum number of selectable fields, as before. */
  readonly allowsManySelectableFields: (version: string) => boolean;
}

export const FOR_NEW: Ratchets = {
  requireReviewVersion: true,
  requireSameNames: false,
  requireSchema: true,
  requireStructural: true,
  requirePrunedDefaults: true,
  // It is not used before the definition is established.
  requireValidCaBundle: false,
  allowsManySelectableFields: () => false,
  hasSameSchema: () => false,
  requireValidTypes: true,
  requireAtomicSetItems: true,
  requireMapListKeys: true,
};

export function ratchetsFor(next: CustomResourceDefinition, previous: CustomResourceDefinition): Ratchets {
  const { spec } = previous;
  const schemas = schemasOf(spec);
  const isEstablished = isConditionTrue(previous.status?.conditions, "Established");
  const reviewVersions = spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const patterns = new Patterns(new Budget());
  const areStructural = schemas.map((schema) => isStructural(schema, patterns));
  const hasNone = (isSo: (schema: JsonSchema) => boolean): boolean => !schemas.some((schema) => someSchema(schema, isSo));
  return {
    requireReviewVersion: reviewVersions.length === 0 || reviewVersions.some((version) => REVIEW_VERSIONS.includes(version)),
    requireSameNames: isEstablished,
    requireSchema: (spec.versions ?? []).every(({ schema }) => schema?.openAPIV3Schema !== undefined),
    requireStructural: areStructural.every(Boolean),
    requirePrunedDefaults: schemas.every((schema, index) => areStructural[index] === false || pruneDefaults(schema) === schema),
    requireValidCaBundle: isEstablished && hasValidCaBundle(spec),
    allowsManySelectableFields: manySelectableFields(next.spec, spec),
    hasSameSchema: sameSchemas(next.spec, spec),
    requireValidTypes: hasNone(hasInvalidType),
    requireAtomicSetItems: hasNone((schema) => firstCauses(validateAtomicSetItems(schema, "")).length > 0),
    requireMapListKeys: hasNone((schema) => firstCauses(validateMapListKeys(schema, "")).length > 0),
  };
}

function isStructural(schema: JsonSchema, patterns: Patterns): boolean {
  return unstructurable(schema) === undefined && validateStructural(schema, "", patterns).length === 0;
}

function hasValidCaBundle({ conversion }: CustomResourceDefinitionSpec): boolean {
  const { caBundle = "" } = conversion?.webhook?.clientConfig ?? {};
  return caBundle === "" || caBundleProblem(caBundle) === undefined;
}

/** The forms are computed once, for any number of versions. */
function manySelectableFields(next: CustomResourceDefinitionSpec, previous: CustomResourceDefinitionSpec): (version: string) => boolean {
  const after = selectableFieldsOf(next);
  const before = selectableFieldsOf(previous);
  return (version) => {
    const fields = before.get(version) ?? [];
    return fields.length > SELECTABLE_FIELDS_MAX && deepEqual(fields, after.get(version));
  };
}

function sameSchemas(next: CustomResourceDefinitionSpec, previous: CustomResourceDefinitionSpec): (version: string) => boolean {
  const after = schemasByVersion(next);
  const before = schemasByVersion(previous);
  return (version) => before.has(version) && deepEqual(before.get(version), after.get(version));
}

/** Shared ones are those of the first version, too. */
function schemasByVersion(spec: CustomResourceDefinitionSpec): ReadonlyMap<string, JsonSchema | undefined> {
  const versions = spec.versions ?? [];
  const entries = versions.map(({ name, schema }): [string, JsonSchema | undefined] => [name, schema?.openAPIV3Schema]);
  return new Map([...entries, ["", versions[0]?.schema?.openAPIV3Schema]]);
}

/** By version; of duplicates, the first. */
function selectableFieldsOf(spec: CustomResourceDefinitionSpec): ReadonlyMap<string, readonly SelectableField[]> {
  const { shared, versions } = toSharedForm(spec);
  const entries = versions.map(({ name, selectableFields = [] }): [string, readonly SelectableField[]] => [name, selectableFields]);
  return new Map([...entries.toReversed(), ["", shared.selectableFields ?? []]]);
}

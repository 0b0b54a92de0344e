/** Validation of one version, or of the members shared by all: schema, subresources, columns, selectable fields. */
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceSubresourceScale,
  CustomResourceValidation,
  SelectableField,
} from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, duplicate, element, forbidden, invalid, required, tooMany, type FieldError } from "../../../machinery/field-error.ts";
import { Causes, PAUSE } from "../../../machinery/validation-errors.ts";
import { byteLength } from "../../../machinery/names.ts";
import type { Patterns } from "../schema/expression/match.ts";
import { FieldPathError, findField } from "../schema/field-path.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { unstructurable, validateStructural } from "../schema/structural.ts";
import { validateDefaults } from "../schema/validate-defaults.ts";
import { celRules } from "../rules/cel-rules.ts";
import { ruleChecker } from "../rules/check-rules.ts";
import { defaultEvaluation } from "../rules/evaluate-rules.ts";
import { TotalCost } from "../rules/rule-cost.ts";
import { type Ratchets, SELECTABLE_FIELDS_MAX } from "./ratchets.ts";
import { invalidShown, shownSchema } from "./shown-form.ts";
import { validateSchema } from "./validate-schema.ts";

const WARNING_LENGTH_MAX_BYTES = 256;

export function* validateDeprecation(
  { deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
  at: string,
): Iterable<FieldError> {
  if (deprecationWarning === undefined) return;
  for (const wrong of deprecated === true ? warningProblems(deprecationWarning) : ["can only be set for deprecated versions"]) {
    yield invalidShown(at, deprecationWarning, wrong);
  }
}

function* warningProblems(warning: string): Iterable<string> {
  if (byteLength(warning) > WARNING_LENGTH_MAX_BYTES) yield `must be <= ${WARNING_LENGTH_MAX_BYTES} characters long`;
  if (warning === "") yield "must not be an empty string";
  const hidden = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (hidden === null) return;
  const index = byteLength(warning.slice(0, hidden.index));
  yield `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
}

export interface SchemaPlace {
  /** Of `schema`, or of `spec.validation`. */
  readonly at: string;
  readonly hasStatus: boolean;
  readonly ratchets: Ratchets;
  /** The previous definition has the same schema here. */
  readonly isUnchanged: boolean;
  /** With the budget of the whole definition. */
  readonly patterns: Patterns;
}

export function* validateSchemaMember({ openAPIV3Schema: schema }: CustomResourceValidation, place: SchemaPlace): Iterable<FieldError> {
  if (schema === undefined) return;
  const at = child(place.at, "openAPIV3Schema");
  const { requireStructural } = place.ratchets;
  const problem = requireStructural ? unstructurable(schema) : undefined;
  const structural = requireStructural && problem === undefined ? yield* validateStructure(schema, at, place) : [];
  const compilesRules = requireStructural && problem === undefined && structural.length === 0;
  const total = new TotalCost();
  const compileRules = ruleChecker({ language: celRules, total, limitsExpressions: !place.isUnchanged });
  const rules = { ...place.ratchets, compileRules };
  const causes = new Causes();
  for (const errors of [validateRoot(schema, at, place), structural, validateSchema(schema, at, rules, compilesRules)]) {
    yield* causes.addInSteps(errors, PAUSE);
  }
  const { errors } = causes;
  yield* errors;
  yield* total.errors(at);
  // Non-structural parts are mostly reported by the other rules already, with better messages.
  if (errors.length === 0 && problem !== undefined) yield invalid(at, "", problem);
}

/** Defaults are validated only in a structural schema. Yields PAUSE where the event loop should be yielded. */
function* validateStructure(schema: JsonSchema, at: string, place: SchemaPlace): Generator<FieldError, readonly FieldError[]> {
  const { ratchets, patterns } = place;
  const errors = validateStructural(schema, at, patterns);
  if (errors.length > 0) return errors;
  const rules = { requirePruned: ratchets.requirePrunedDefaults, patterns, evaluate: defaultEvaluation(celRules) };
  const causes = new Causes();
  yield* causes.addInSteps(validateDefaults(schema, at, rules), PAUSE);
  return causes.errors;
}

function* validateRoot(schema: JsonSchema, at: string, { hasStatus }: SchemaPlace): Iterable<FieldError> {
  if (hasStatus) yield* validateRootWithStatus(schema, at);
  if (schema.nullable === true) yield forbidden(child(at, "nullable"), "nullable cannot be true at the root");
}

const BEFORE_TYPE = ["id", "$schema", "$ref"] as const satisfies (keyof JsonSchema)[];

/** In upstream's names. Only these are allowed at the root beside a status subresource. */
const ALLOWED_AT_ROOT =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";

const NOT_ALLOWED_AT_ROOT = [
  "nullable",
  "default",
  "enum",
  "maxProperties",
  "minProperties",
  "allOf",
  "oneOf",
  "anyOf",
  "not",
  "additionalProperties",
  "patternProperties",
  "dependencies",
  "additionalItems",
  "definitions",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
] as const satisfies (keyof JsonSchema)[];

/** With a status subresource, which is validated on its own. Only the first error is reported, in the order of upstream's type. */
function* validateRootWithStatus(schema: JsonSchema, at: string): Iterable<FieldError> {
  const condition = "if the status subresource is enabled";
  const { type = "" } = schema;
  const isTypeFirst = BEFORE_TYPE.every((member) => schema[member] === undefined);
  if (isTypeFirst && type !== "" && type !== "object") {
    yield invalid(child(at, "type"), type, `only "object" is allowed as the type at the root of the schema ${condition}`);
  } else if (!isTypeFirst || NOT_ALLOWED_AT_ROOT.some((member) => schema[member] !== undefined)) {
    yield invalidShown(at, shownSchema(schema), `only [${ALLOWED_AT_ROOT}] fields are allowed at the root of the schema ${condition}`);
  }
}

export function* validateSubresources({ scale }: CustomResourceSubresources, at: string): Iterable<FieldError> {
  if (scale !== undefined) yield* validateScale(scale, child(at, "scale"));
}

function* validateScale(scale: CustomResourceSubresourceScale, at: string): Iterable<FieldError> {
  for (const member of ["spec", "status"] as const) {
    const pathAt = child(at, `${member}ReplicasPath`);
    const path = scale[`${member}ReplicasPath`];
    if (path === "") yield required(pathAt);
    else if (!path.startsWith(".")) yield invalid(pathAt, path, SIMPLE_PATH);
    else if (!path.startsWith(`.${member}.`)) yield invalid(pathAt, path, `should be a json path under .${member}`);
  }
  const { labelSelectorPath: selectorPath = "" } = scale;
  const selectorAt = child(at, "labelSelectorPath");
  if (selectorPath === "") return;
  if (!selectorPath.startsWith(".")) yield invalid(selectorAt, selectorPath, SIMPLE_PATH);
  else if (!/^\.(spec|status)\./.test(selectorPath)) {
    yield invalid(selectorAt, selectorPath, "should be a json path under either .spec or .status");
  }
}

const SIMPLE_PATH = "must be a simple json path starting with .";
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

export function* validateColumn(column: CustomResourceColumnDefinition, at: string): Iterable<FieldError> {
  const { name, type, format = "", jsonPath } = column;
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (name === "") yield required(child(at, "name"));
  if (type === "") yield required(child(at, "type"), types);
  else if (!COLUMN_TYPES.includes(type)) yield invalid(child(at, "type"), type, types);
  if (format !== "" && !COLUMN_FORMATS.includes(format)) {
    yield invalid(child(at, "format"), format, `must be one of ${COLUMN_FORMATS.join(",")}`);
  }
  if (jsonPath === "") yield required(child(at, "JSONPath"));
  else if (!jsonPath.startsWith(".")) yield invalid(child(at, "JSONPath"), jsonPath, SIMPLE_PATH);
}

const SELECTABLE_TYPES = ["string", "boolean", "integer"];

export function* validateSelectableFields(
  fields: readonly SelectableField[],
  schema: JsonSchema,
  { at, allowsMany }: { readonly at: string; readonly allowsMany: boolean },
): Iterable<FieldError> {
  const paths = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const fieldAt = child(element(at, index), "jsonPath");
    if (jsonPath === "") {
      yield required(fieldAt);
      continue;
    }
    const found = readFieldPath(jsonPath, schema);
    if (typeof found === "string") {
      yield invalid(fieldAt, jsonPath, `is an invalid path: ${found}`);
      continue;
    }
    if (found.root === "metadata") yield invalid(fieldAt, jsonPath, "must not point to fields in metadata");
    if (!SELECTABLE_TYPES.includes(found.schema?.type ?? "")) {
      const message = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      yield invalid(fieldAt, jsonPath, message);
    }
    if (paths.has(found.path)) yield duplicate(fieldAt, jsonPath);
    paths.add(found.path);
  }
  if (paths.size > SELECTABLE_FIELDS_MAX && !allowsMany) yield tooMany(at, paths.size, SELECTABLE_FIELDS_MAX);
}

/** The error of a path that does not resolve. */
function readFieldPath(jsonPath: string, schema: JsonSchema) {
  try {
    return findField(jsonPath, schema, { allowsBrackets: false });
  } catch (error) {
    if (error instanceof FieldPathError) return error.message;
    throw error;
  }
}

/**
 * Validation of custom resources by the schema of their version, in upstream's order: values, scale paths, embedded resources, lists with
 * unique items, then validation rules. Violations in unchanged parts of an update are ignored (ratcheting). The API server validates
 * metadata.
 */
import type { CustomResourceSubresourceScale } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { invalid, type FieldError, type FieldErrorType } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { firstCauses } from "../../../machinery/validation-errors.ts";
import { Budget, tooCostly } from "../schema/budget.ts";
import { Patterns } from "../schema/expression/match.ts";
import { type JsonSchema, propertyOf } from "../schema/json-schema.ts";
import { validateListTypes } from "../schema/list-types.ts";
import { validateMetadata } from "../schema/metadata.ts";
import { validateValue } from "../schema/validate-value.ts";
import { validateScaleSpec, validateScaleStatus } from "./scale.ts";

/** How upstream prints the path of an error about a whole object. */
const NO_PATH = "<nil>";

/** Gets a sentence for the `Warning` header. */
export type Warn = (sentence: string) => void;

/** Evaluates the x-kubernetes-validations of one version. `warn` gets violations by unchanged values, which are no errors. */
export type RuleEvaluation = (object: JsonObject, previous: JsonObject | undefined, warn?: Warn) => Iterable<FieldError>;

export interface ValidationOptions {
  /** Undefined: the version has no schema, so every value is valid. */
  readonly schema: JsonSchema | undefined;
  readonly scale?: CustomResourceSubresourceScale | undefined;
  /** Undefined: the schema has no rules. */
  readonly evaluateRules?: RuleEvaluation | undefined;
  readonly warn?: Warn | undefined;
}

export function* validateCustomResource(options: ValidationOptions, object: JsonObject, previous?: JsonObject): Iterable<FieldError> {
  const { schema, scale } = options;
  const errors = [
    ...valueErrors(object, schema, "", previous),
    ...(scale === undefined ? [] : [...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale)]),
    ...firstCauses(validateMetadata(object, schema)),
    ...listErrors(object, schema, previous),
  ];
  yield* errors;
  yield* ruleErrors(options, errors, object, previous);
}

/** A write of the status: of the rest of the object only the rules are evaluated. */
export function* validateStatusUpdate(options: ValidationOptions, object: JsonObject, previous: JsonObject): Iterable<FieldError> {
  const { schema, scale } = options;
  const { status } = object;
  const statusSchema = schema && propertyOf(schema, "status");
  const errors = [
    ...(status === undefined ? [] : valueErrors(status, statusSchema, "status", previous["status"])),
    ...(scale === undefined ? [] : validateScaleStatus(object, scale)),
    ...listErrors(object, schema, previous),
  ];
  yield* errors;
  yield* ruleErrors(options, errors, object, previous);
}

function valueErrors(value: Json, schema: JsonSchema | undefined, at: string, previous: Json | undefined): readonly FieldError[] {
  if (schema === undefined) return [];
  try {
    return [...withPaths(validateValue(value, schema, { at, patterns: new Patterns(new Budget()), previous }))];
  } catch (error) {
    return [tooCostly(at, error)];
  }
}

function* withPaths(errors: Iterable<FieldError>): Iterable<FieldError> {
  for (const error of errors) yield error.field === "" ? { ...error, field: NO_PATH } : error;
}

/** Not reported if the previous object violated it, too. */
function listErrors(object: JsonObject, schema: JsonSchema | undefined, previous: JsonObject | undefined): readonly FieldError[] {
  if (schema === undefined) return [];
  const errors = firstCauses(validateListTypes(object, schema));
  if (errors.length === 0 || previous === undefined) return errors;
  return firstCauses(validateListTypes(previous, schema)).length > 0 ? [] : errors;
}

/** After these, values may not have the types that the rules were checked with. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

function ruleErrors(
  { evaluateRules, warn }: ValidationOptions,
  errors: readonly FieldError[],
  object: JsonObject,
  previous: JsonObject | undefined,
): Iterable<FieldError> {
  if (evaluateRules === undefined) return [];
  return isNameless(object) || errors.some(({ type }) => BLOCKING.has(type))
    ? [NOT_EVALUATED]
    : withPaths(evaluateRules(object, previous, warn));
}

/** The validation of metadata reports it, as a field that is required. */
function isNameless({ metadata }: JsonObject): boolean {
  return !isObject(metadata) || (metadata["name"] ?? "") === "";
}

const NOT_EVALUATED = invalid(
  NO_PATH,
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

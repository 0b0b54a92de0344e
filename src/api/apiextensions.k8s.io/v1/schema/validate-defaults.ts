/**
 * The defaults in a structural schema must be valid by the schema itself, since they are applied without further validation. A default
 * within the metadata of a resource is validated in an object that has nothing else. Not here: the evaluation of CEL rules.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { firstCauses } from "../../../machinery/validation-errors.ts";
import { child, describeFieldError, element, type FieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { tooCostly } from "./budget.ts";
import type { Patterns } from "./expression/match.ts";
import { itemsOf, type JsonSchema, propertiesOf } from "./json-schema.ts";
import { asResource, coerceMetadata, MetadataError, validateMetadata } from "./metadata.ts";
import { pruneUnknownFields, RESOURCE_MEMBERS } from "./prune.ts";
import { invalidValue } from "./shown-value.ts";
import { validateValue } from "./validate-value.ts";
import { joinedErrors } from "../../../../base/joined-errors.ts";

/** Evaluates the CEL rules of a schema on its default. */
export type DefaultEvaluation = (schema: JsonSchema, value: Json, at: string) => Iterable<FieldError>;

export interface DefaultRules {
  /** Defaults may not have unknown fields. */
  readonly requirePruned: boolean;
  /** With the budget of all defaults. */
  readonly patterns: Patterns;
  /** Called for values that are valid otherwise. */
  readonly evaluate: DefaultEvaluation;
}

/** Defaults of the schema of a whole custom resource, which must be structural. */
export function validateDefaults(schema: JsonSchema, at: string, rules: DefaultRules): Iterable<FieldError> {
  return validateWithin(asResource(schema), at, rules, undefined);
}

/** Within the members that every resource has: the resource's schema, and how to build an object with a value there. */
interface Surroundings {
  readonly resource: JsonSchema;
  readonly objectWith: (value: Json) => Json;
}

function* validateWithin(schema: JsonSchema, at: string, rules: DefaultRules, inMeta: Surroundings | undefined): Iterable<FieldError> {
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const around = isResource ? undefined : inMeta;
  if (schema.default !== undefined) yield* validateWithBudget(schema, schema.default, child(at, "default"), rules, around);
  const items = itemsOf(schema);
  if (items !== undefined) yield* validateWithin(items, child(at, "items"), rules, around && withinList(around));
  for (const [name, property] of propertiesOf(schema)) {
    const inner = isResource && RESOURCE_MEMBERS.has(name) ? { resource: schema, objectWith: withTypeMeta } : around;
    yield* validateWithin(property, element(child(at, "properties"), name), rules, inner && withinMember(inner, name));
  }
}

/** One that costs too much is reported, and no other default is validated. */
function* validateWithBudget(
  schema: JsonSchema,
  value: Json,
  at: string,
  rules: DefaultRules,
  around: Surroundings | undefined,
): Iterable<FieldError> {
  if (rules.patterns.budget.isSpent) return;
  try {
    yield* around === undefined ? validateDefault(schema, value, at, rules) : validateInMeta(schema, value, at, rules, around);
  } catch (error) {
    yield tooCostly(at, error);
  }
}

function* validateDefault(schema: JsonSchema, value: Json, at: string, rules: DefaultRules): Iterable<FieldError> {
  const { errors, coerced } = checkMetadata(value, schema, at);
  const isPruned = !rules.requirePruned || deepEqual(pruneUnknownFields(value, schema), value);
  if (!isPruned) yield invalidValue(at, coerced, "must not have unknown fields");
  yield* errors.length > 0 ? errors : validateAndEvaluate(schema, coerced, at, rules);
}

function* validateAndEvaluate(schema: JsonSchema, value: Json, at: string, { patterns, evaluate }: DefaultRules): Iterable<FieldError> {
  const errors = [...validateValue(value, schema, { at, of: "default", patterns })];
  yield* errors.length > 0 ? errors : evaluate(schema, value, at);
}

function* validateInMeta(
  schema: JsonSchema,
  value: Json,
  at: string,
  rules: DefaultRules,
  { resource, objectWith }: Surroundings,
): Iterable<FieldError> {
  const { errors } = checkMetadata(objectWith(value), resource, "");
  if (errors.length === 0) yield* validateAndEvaluate(schema, value, at, rules);
  else yield invalidValue(at, value, `must result in valid metadata: ${joinedErrors(errors.map(describeFieldError))}`);
}

function checkMetadata(value: Json, schema: JsonSchema, at: string): { readonly errors: readonly FieldError[]; readonly coerced: Json } {
  try {
    const coerced = coerceMetadata(value, schema, at);
    return { errors: firstCauses(validateMetadata(coerced, schema, at)), coerced };
  } catch (error) {
    if (error instanceof MetadataError) return { errors: [error.error], coerced: value };
    throw error;
  }
}

const TYPE_META: JsonObject = { kind: "Validation", apiVersion: "validation/v1" };

/** A resource has a kind and an apiVersion; their values are irrelevant. */
function withTypeMeta(value: Json): Json {
  return isObject(value) ? { ...TYPE_META, ...value } : value;
}

function withinMember({ resource, objectWith }: Surroundings, name: string): Surroundings {
  return { resource, objectWith: (value) => objectWith(Object.fromEntries([[name, value]])) };
}

function withinList({ resource, objectWith }: Surroundings): Surroundings {
  return { resource, objectWith: (value) => objectWith([value]) };
}

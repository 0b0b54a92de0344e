/** Validation of x-kubernetes-validations without compiling them: required texts, and field paths. */
import type { ValidationRule } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, element, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { FieldPathError, findField } from "../schema/field-path.ts";
import { hasProperties, type JsonSchema } from "../schema/json-schema.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const NOT_EMPTY = "must be non-empty if specified";
const NO_LINE_BREAKS = "must not contain line breaks";

/** `isStructurable`: only in such a schema can a field path be resolved. */
export function* validateRules(schema: JsonSchema, at: string, isStructurable: () => boolean): Iterable<FieldError> {
  const structs = new Map<JsonSchema, boolean>();
  const isStruct = (one: JsonSchema): boolean => {
    const known = structs.get(one) ?? hasProperties(one);
    structs.set(one, known);
    return known;
  };
  const leads = (fieldPath: string) => !isStructurable() || leadsSomewhere(schema, fieldPath, isStruct);
  for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const ruleAt = element(at, index);
    yield* validateTexts(rule, ruleAt);
    const { reason, fieldPath = "" } = rule;
    if (reason !== undefined && !REASONS.includes(reason)) yield notSupported(child(ruleAt, "reason"), reason, REASONS);
    if (fieldPath !== "") yield* validateFieldPath(fieldPath, child(ruleAt, "fieldPath"), leads);
  }
}

function* validateTexts({ rule, message = "", messageExpression = "" }: ValidationRule, at: string): Iterable<FieldError> {
  const messageAt = child(at, "message");
  if (rule.trim() === "") yield required(child(at, "rule"), "rule is not specified");
  else if (message !== "" && message.trim() === "") yield invalid(messageAt, message, NOT_EMPTY);
  else if (hasLineBreaks(message.trim())) yield invalid(messageAt, message, NO_LINE_BREAKS);
  else if (hasLineBreaks(rule.trim()) && message === "") {
    yield required(messageAt, "message must be specified if rule contains line breaks");
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    yield required(child(at, "messageExpression"), "messageExpression must be non-empty if specified");
  }
}

function* validateFieldPath(fieldPath: string, at: string, leads: (fieldPath: string) => boolean): Iterable<FieldError> {
  if (fieldPath.trim() === "") yield invalid(at, fieldPath, NOT_EMPTY);
  if (hasLineBreaks(fieldPath)) yield invalid(at, fieldPath, NO_LINE_BREAKS);
  if (!leads(fieldPath)) yield invalid(at, fieldPath, "must be a valid path");
}

function leadsSomewhere(schema: JsonSchema, fieldPath: string, isStruct: (schema: JsonSchema) => boolean): boolean {
  try {
    findField(fieldPath, schema, { isStruct });
    return true;
  } catch (error) {
    if (error instanceof FieldPathError) return false;
    throw error;
  }
}

function hasLineBreaks(text: string): boolean {
  return /[\n\r]/.test(text);
}

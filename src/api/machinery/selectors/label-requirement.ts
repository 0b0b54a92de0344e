/**
 * One requirement of a label selector: validation, matching and formatting. Not here: whole selectors (label-selector.ts) and parsing
 * (label-selector-parser.ts).
 */
import { child, describeFieldError, element, invalid, type FieldError } from "../field-error.ts";
import { validateLabelValue, validateQualifiedName } from "../names.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** A malformed selector. The message is upstream's, for the client. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/** A numeric label is an int64, as upstream parses it. */
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Creates a requirement, if its key and values are valid. */
export function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const requirement = { key, operator, values };
  const errors = [...requirementErrors(requirement)].map(describeFieldError);
  if (errors.length > 0) throw new SelectorError(joinedErrors(errors));
  return requirement;
}

/** Validates a requirement; `at` is its path, if it is part of an object. */
export function* requirementErrors({ key, operator, values }: LabelRequirement, at = ""): Iterable<FieldError> {
  const wrong = validateQualifiedName(key);
  if (wrong.length > 0) yield invalid(child(at, "key"), key, wrong.join("; "));
  const here = child(at, "values");
  const wrongNumber = wrongNumberOfValues(operator, values.length);
  if (wrongNumber !== undefined) yield invalid(here, values, wrongNumber);
  for (const [index, value] of values.entries()) {
    if ((operator === ">" || operator === "<") && readInt64(value) === undefined) {
      yield invalid(element(here, index), value, "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (const [index, value] of values.entries()) {
    const wrongValue = validateLabelValue(value);
    if (wrongValue.length > 0) yield invalid(element(element(here, index), key), value, wrongValue.join("; "));
  }
}

function wrongNumberOfValues(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case "in":
    case "notin":
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "exists":
    case "!":
      return count > 0 ? "values set must be empty for exists and does not exist" : undefined;
    case ">":
    case "<":
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return count === 1 ? undefined : "exact-match compatibility requires one single value";
  }
}

export function isMet({ key, operator, values }: LabelRequirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    default:
      return compares(value, operator, values[0]);
  }
}

function compares(value: string | undefined, operator: ">" | "<", limit: string | undefined): boolean {
  const left = value === undefined ? undefined : readInt64(value);
  const right = limit === undefined ? undefined : readInt64(limit);
  if (left === undefined || right === undefined) return false;
  return operator === ">" ? left > right : left < right;
}

function readInt64(text: string): bigint | undefined {
  // A label value has at most 63 characters; longer ones only cost time.
  if (text.length > 63 || !/^[-+]?[0-9]+$/.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ""));
  return number < INT64_MIN || number > INT64_MAX ? undefined : number;
}

export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === "exists") return key;
  if (operator === "!") return `!${key}`;
  const list = values.toSorted().join(",");
  return operator === "in" || operator === "notin" ? `${key} ${operator} (${list})` : `${key}${operator}${list}`;
}

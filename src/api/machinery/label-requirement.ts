/**
 * One thing that a label selector demands of one label, with what it takes to check, test and write it.
 * Not here: several at once (label-selector.ts) and reading them (label-selector-parser.ts).
 */
import { describeFieldError, element, invalid, type FieldError } from "./field-error.ts";
import { validateLabelValue, validateQualifiedName } from "./names.ts";

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** A selector that cannot be understood. The message is upstream's, for the client. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/** A label's number is an int64, as upstream reads it. */
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** A requirement, if its key and values are possible. */
export function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors = [...requirementErrors(key, operator, values)].map(describeFieldError);
  if (errors.length === 1) throw new SelectorError(errors[0]);
  if (errors.length > 1) throw new SelectorError(`[${[...new Set(errors)].join(", ")}]`);
  return { key, operator, values };
}

function* requirementErrors(key: string, operator: LabelOperator, values: readonly string[]): Iterable<FieldError> {
  const wrong = validateQualifiedName(key);
  if (wrong.length > 0) yield invalid("key", key, wrong.join("; "));
  if ((operator === "in" || operator === "notin") && values.length === 0) {
    yield invalid("values", values, "for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === "exists" || operator === "!") && values.length > 0) {
    yield invalid("values", values, "values set must be empty for exists and does not exist");
  }
  for (const [index, value] of values.entries()) {
    if ((operator === ">" || operator === "<") && readInt64(value) === undefined) {
      yield invalid(element("values", index), value, "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (const [index, value] of values.entries()) {
    const wrongValue = validateLabelValue(value);
    if (wrongValue.length > 0) yield invalid(element(element("values", index), key), value, wrongValue.join("; "));
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
  // A value of a label has at most 63 characters; more would only cost time.
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

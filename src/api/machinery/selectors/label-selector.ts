/**
 * Label selectors: the text form (`a=b,c in (d,e),!f`) and the form inside of objects (`matchLabels`, `matchExpressions`). Both become the
 * same requirements, all of which must match, sorted by key. Texts are parsed with upstream's grammar and error messages. An absent object
 * selects nothing and an empty one everything: upstream's rule, and a trap.
 */
import { child, element, forbidden, invalid, required, type FieldError } from "../field-error.ts";
import { errorsOf } from "../findings.ts";
import {
  checkedRequirement,
  formatRequirement,
  isMet,
  SelectorError,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
} from "./label-requirement.ts";
import { parseRequirements } from "./label-selector-parser.ts";
import { validateLabelName, validateLabels } from "../metadata-validation.ts";
import { validateLabelValue } from "../names.ts";

/** meta.v1.LabelSelector. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

export interface LabelSelectorExpression {
  readonly key: string;
  /** In, NotIn, Exists or DoesNotExist; a client may send anything. */
  readonly operator: string;
  readonly values?: readonly string[];
}

export class LabelSelector {
  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[];
  readonly isNothing: boolean;

  constructor(requirements: readonly LabelRequirement[], options: { readonly isNothing?: boolean } = {}) {
    this.requirements = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    this.isNothing = options.isNothing ?? false;
  }

  get isEverything(): boolean {
    return !this.isNothing && this.requirements.length === 0;
  }

  matches(labels: Labels | undefined): boolean {
    if (this.isNothing) return false;
    for (const requirement of this.requirements) if (!isMet(requirement, labels)) return false;
    return true;
  }

  /** The one value that a label must have, if there is one: for callers with an index of that label. */
  exactValue(key: string): string | undefined {
    const requirement = this.requirements.find((candidate) => candidate.key === key);
    if (requirement === undefined || requirement.values.length !== 1) return undefined;
    return ["=", "==", "in"].includes(requirement.operator) ? requirement.values[0] : undefined;
  }

  /** Parses back to the same selector. "" also for the one that selects nothing, which has no text. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(",");
  }
}

export const EVERYTHING = new LabelSelector([]);
export const NOTHING = new LabelSelector([], { isNothing: true });

/** Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return EVERYTHING;
  return new LabelSelector(parseRequirements(text));
}

/** Throws SelectorError for what `validateLabelSelectorObject` rejects. */
export function labelSelectorFromObject(selector: LabelSelectorObject | undefined): LabelSelector {
  if (selector === undefined) return NOTHING;
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => checkedRequirement(key, "=", [value]));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const short = OPERATORS.get(operator);
    if (short === undefined) throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    return checkedRequirement(key, short, values);
  });
  return equal.length + expressions.length === 0 ? EVERYTHING : new LabelSelector([...equal, ...expressions]);
}

/** All of these labels, as a Service and a ReplicationController select. An empty or absent map selects everything here. */
export function labelSelectorFromLabels(labels: Labels | undefined): LabelSelector {
  const requirements = Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: "=" as const, values: [value] }));
  return requirements.length === 0 ? EVERYTHING : new LabelSelector(requirements);
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** Human-readable, for a table cell: `<none>` if it is empty. A Scale has the plain `toString` instead. */
export function formatLabelSelector(selector: LabelSelectorObject | undefined): string {
  try {
    return labelSelectorFromObject(selector).toString() || "<none>";
  } catch (error) {
    if (error instanceof SelectorError) return "<error>";
    throw error;
  }
}

export interface LabelSelectorRules {
  /** For objects stored before values were validated. */
  readonly allowInvalidValues?: boolean;
  /** For readers that tolerate unknown operators (SubjectAccessReview). */
  readonly allowUnknownOperators?: boolean;
}

export function* validateLabelSelectorObject(
  selector: LabelSelectorObject | undefined,
  at: string,
  rules: LabelSelectorRules = {},
): Iterable<FieldError> {
  if (selector === undefined) return;
  yield* errorsOf((errors) => validateLabels(errors, selector.matchLabels, child(at, "matchLabels")));
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    yield* validateLabelSelectorExpression(expression, element(child(at, "matchExpressions"), index), rules);
  }
}

export function* validateLabelSelectorExpression(
  { key, operator, values = [] }: LabelSelectorExpression,
  at: string,
  { allowInvalidValues = false, allowUnknownOperators = false }: LabelSelectorRules = {},
): Iterable<FieldError> {
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) yield required(child(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) yield forbidden(child(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (!allowUnknownOperators) {
    yield invalid(child(at, "operator"), operator, "not a valid selector operator");
  }
  yield* errorsOf((errors) => validateLabelName(errors, key, child(at, "key")));
  if (allowInvalidValues) return;
  for (const [index, value] of values.entries()) {
    for (const wrong of validateLabelValue(value)) yield invalid(element(child(at, "values"), index), value, wrong);
  }
}

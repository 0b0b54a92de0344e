/**
 * Converts the selectors of a review to text. Parts that are not understood are omitted: the review then covers more, so the answer is
 * never too permissive; and the omission is reported.
 */
import type { FieldSelectorAttributes, LabelSelectorAttributes } from "../../../api/generated/authorization.k8s.io/v1.ts";
import type { FieldSelectorRequirement, LabelSelectorRequirement } from "../../../api/generated/meta/v1.ts";
import { FieldSelector, parseFieldSelector, type FieldRequirement } from "../../../api/machinery/selectors/field-selector.ts";
import {
  checkedRequirement,
  SelectorError,
  type LabelOperator,
  type LabelRequirement,
} from "../../../api/machinery/selectors/label-requirement.ts";
import { LabelSelector, parseLabelSelector } from "../../../api/machinery/selectors/label-selector.ts";

export interface UnderstoodSelector {
  /** "" if empty. */
  readonly text: string;
  /** True if a part was omitted. */
  readonly isPart: boolean;
}

const LABEL_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** Returns the error about omitted parts of a selector; "" if none exist. */
export function ignoredSentence(field: string, { text, isPart }: UnderstoodSelector): string {
  if (!isPart) return "";
  return `spec.resourceAttributes.${field} ${text === "" ? "ignored" : "partially ignored"} due to parse error`;
}

/** More than a query can contain; parsing them would block the event loop. */
const SELECTOR_LENGTH_MAX = 65_536;
const REQUIREMENTS_MAX = 1_000;

const NOT_UNDERSTOOD: UnderstoodSelector = { text: "", isPart: true };

export function understoodFields({ rawSelector = "", requirements = [] }: FieldSelectorAttributes = {}): UnderstoodSelector {
  if (rawSelector.length > SELECTOR_LENGTH_MAX || requirements.length > REQUIREMENTS_MAX) return NOT_UNDERSTOOD;
  if (requirements.length === 0) return understood(() => parseFieldSelector(rawSelector).toString());
  const known = requirements.flatMap(fieldRequirementOf);
  return { text: new FieldSelector(known).toString(), isPart: known.length < requirements.length };
}

/** Field selectors support one value only. */
function fieldRequirementOf({ key, operator, values = [] }: FieldSelectorRequirement): readonly FieldRequirement[] {
  const [value, ...more] = values;
  if (value === undefined || more.length > 0 || (operator !== "In" && operator !== "NotIn")) return [];
  return [{ field: key, operator: operator === "In" ? "=" : "!=", value }];
}

export function understoodLabels({ rawSelector = "", requirements = [] }: LabelSelectorAttributes = {}): UnderstoodSelector {
  if (rawSelector.length > SELECTOR_LENGTH_MAX || requirements.length > REQUIREMENTS_MAX) return NOT_UNDERSTOOD;
  if (requirements.length === 0) return understood(() => parseLabelSelector(rawSelector).toString());
  const known = requirements.flatMap(labelRequirementOf);
  return { text: new LabelSelector(known).toString(), isPart: known.length < requirements.length };
}

function labelRequirementOf({ key, operator, values = [] }: LabelSelectorRequirement): readonly LabelRequirement[] {
  const known = LABEL_OPERATORS.get(operator);
  if (known === undefined) return [];
  try {
    return [checkedRequirement(key, known, values)];
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

function understood(read: () => string): UnderstoodSelector {
  try {
    return { text: read(), isPart: false };
  } catch (error) {
    if (error instanceof SelectorError) return NOT_UNDERSTOOD;
    throw error;
  }
}

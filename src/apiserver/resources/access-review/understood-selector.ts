/**
 * The selectors of a question, as text. What is not understood of one is left out: the question is then about more, so the answer is
 * never too generous; and whoever asks is told.
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
  /** "" if there is nothing. */
  readonly text: string;
  /** Whether something was left out. */
  readonly isPart: boolean;
}

const LABEL_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** Sentence about what was left out of a selector; "" if nothing was. */
export function ignoredSentence(field: string, { text, isPart }: UnderstoodSelector): string {
  if (!isPart) return "";
  return `spec.resourceAttributes.${field} ${text === "" ? "ignored" : "partially ignored"} due to parse error`;
}

/** More than a request can carry in its query; reading them would hold up everybody else. */
const SELECTOR_LENGTH_MAX = 65_536;
const REQUIREMENTS_MAX = 1_000;

const NOT_UNDERSTOOD: UnderstoodSelector = { text: "", isPart: true };

export function understoodFields({ rawSelector = "", requirements = [] }: FieldSelectorAttributes = {}): UnderstoodSelector {
  if (rawSelector.length > SELECTOR_LENGTH_MAX || requirements.length > REQUIREMENTS_MAX) return NOT_UNDERSTOOD;
  if (requirements.length === 0) return understood(() => parseFieldSelector(rawSelector).toString());
  const known = requirements.flatMap(fieldRequirementOf);
  return { text: new FieldSelector(known).toString(), isPart: known.length < requirements.length };
}

/** Fields can be compared with one value, and no more. */
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

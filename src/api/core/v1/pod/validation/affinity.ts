/** Validation of affinity to nodes and to other Pods. */
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
} from "../../../../generated/core/v1.ts";
import type { LabelSelector } from "../../../../generated/meta/v1.ts";
import { forbidden, invalid, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { validateDnsLabel, validateLabelValue } from "../../../../machinery/names.ts";
import { dnsSubdomain, qualifiedName } from "./checks.ts";

const WEIGHT_MAX = 100;

export function validateAffinity(errors: FieldErrors, { nodeAffinity, podAffinity, podAntiAffinity }: Affinity, at: string): void {
  if (nodeAffinity !== undefined) validateNodeAffinity(errors, nodeAffinity, `${at}.nodeAffinity`);
  if (podAffinity !== undefined) validatePodAffinity(errors, podAffinity, `${at}.podAffinity`);
  if (podAntiAffinity !== undefined) validatePodAffinity(errors, podAntiAffinity, `${at}.podAntiAffinity`);
}

function validateNodeAffinity(errors: FieldErrors, affinity: NodeAffinity, at: string): void {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  if (needed !== undefined) validateNodeSelector(errors, needed, `${at}.requiredDuringSchedulingIgnoredDuringExecution`);
  for (const [index, { weight, preference }] of (preferred ?? []).entries()) {
    const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    validateWeight(errors, weight, `${here}.weight`);
    // A preference that no node can satisfy is harmless: its values only produce warnings.
    validateNodeSelectorTerm(errors, preference ?? {}, `${here}.preference`, { anyValues: true });
  }
}

export function validateNodeSelector(errors: FieldErrors, { nodeSelectorTerms }: NodeSelector, at: string): void {
  const here = `${at}.nodeSelectorTerms`;
  if ((nodeSelectorTerms ?? []).length === 0) return errors.add(required(here, "must have at least one node selector term"));
  for (const [index, term] of nodeSelectorTerms.entries()) {
    validateNodeSelectorTerm(errors, term, `${here}[${index}]`, { anyValues: false });
  }
}

function validateWeight(errors: FieldErrors, weight = 0, at: string): void {
  if (weight <= 0 || weight > WEIGHT_MAX) errors.add(invalid(at, weight, "must be in the range 1-100"));
}

function validateNodeSelectorTerm(
  errors: FieldErrors,
  { matchExpressions, matchFields }: NodeSelectorTerm,
  at: string,
  options: { readonly anyValues: boolean },
): void {
  for (const [index, requirement] of (matchExpressions ?? []).entries()) {
    validateRequirement(errors, requirement, `${at}.matchExpressions[${index}]`, options);
  }
  for (const [index, requirement] of (matchFields ?? []).entries()) {
    validateFieldRequirement(errors, requirement, `${at}.matchFields[${index}]`);
  }
}

function validateRequirement(
  errors: FieldErrors,
  { key, operator, values = [] }: NodeSelectorRequirement,
  at: string,
  { anyValues }: { readonly anyValues: boolean },
): void {
  validateOperator(errors, operator, values, at);
  errors.addAll(qualifiedName(key ?? "", `${at}.key`));
  if (anyValues) return;
  for (const [index, value] of values.entries()) {
    for (const problem of validateLabelValue(value)) errors.add(invalid(`${at}.values[${index}]`, value, problem));
  }
}

function validateOperator(errors: FieldErrors, operator: string, values: readonly string[], at: string): void {
  const here = `${at}.values`;
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) errors.add(required(here, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) errors.add(forbidden(here, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1) errors.add(required(here, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.add(invalid(`${at}.operator`, operator ?? "", "not a valid selector operator"));
}

/** The only selectable field of a node is its name. */
function validateFieldRequirement(errors: FieldErrors, { key, operator, values = [] }: NodeSelectorRequirement, at: string): void {
  if (operator !== "In" && operator !== "NotIn") errors.add(invalid(`${at}.operator`, operator ?? "", "not a valid selector operator"));
  else if (values.length !== 1) {
    errors.add(required(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key !== "metadata.name") return errors.add(invalid(`${at}.key`, key ?? "", "not a valid field selector key"));
  for (const [index, value] of values.entries()) errors.addAll(dnsSubdomain(value, `${at}.values[${index}]`));
}

function validatePodAffinity(errors: FieldErrors, affinity: PodAffinity | PodAntiAffinity, at: string): void {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  for (const [index, term] of (needed ?? []).entries()) {
    validatePodAffinityTerm(errors, term, `${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`);
  }
  for (const [index, { weight, podAffinityTerm }] of (preferred ?? []).entries()) {
    const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    validateWeight(errors, weight, `${here}.weight`);
    validatePodAffinityTerm(errors, podAffinityTerm, `${here}.podAffinityTerm`);
  }
}

function validatePodAffinityTerm(errors: FieldErrors, term: PodAffinityTerm, at: string): void {
  errors.addAll(validateLabelSelectorObject(term.labelSelector, `${at}.labelSelector`));
  errors.addAll(validateLabelSelectorObject(term.namespaceSelector, `${at}.namespaceSelector`));
  for (const name of term.namespaces ?? []) {
    for (const problem of validateDnsLabel(name)) errors.add(invalid(`${at}.namespace`, name, problem));
  }
  validateLabelKeys(errors, term, at);
  const topologyKey = term.topologyKey ?? "";
  if (topologyKey === "") errors.add(required(`${at}.topologyKey`, "can not be empty"));
  errors.addAll(qualifiedName(topologyKey, `${at}.topologyKey`));
}

interface LabelKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/**
 * Keys whose values are taken from the Pod itself on create, and become a part of the selector. A key that is in the selector twice was
 * therefore there before, too, which cannot be meant.
 */
export function validateLabelKeys(
  errors: FieldErrors,
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeys,
  at: string,
): void {
  validateKeyNames(errors, matchLabelKeys, labelSelector, `${at}.matchLabelKeys`);
  validateKeyNames(errors, mismatchLabelKeys, labelSelector, `${at}.mismatchLabelKeys`);
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  const places = new Map(matchLabelKeys.map((key, index) => [key, index]));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = places.get(key);
    if (index !== undefined && seen.has(key))
      errors.add(invalid(`${at}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
    seen.add(key);
  }
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatched.has(key)) continue;
    errors.add(invalid(`${at}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys"));
  }
}

function validateKeyNames(errors: FieldErrors, keys: readonly string[], selector: LabelSelector | undefined, at: string): void {
  if (keys.length === 0) return;
  if (selector === undefined) return errors.add(forbidden(at, "must not be specified when labelSelector is not set"));
  for (const [index, key] of keys.entries()) errors.addAll(qualifiedName(key, `${at}[${index}]`));
}

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
import { forbidden, invalid, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { validateDnsLabel, validateLabelValue } from "../../../../machinery/names.ts";
import { dnsSubdomain, qualifiedName } from "./checks.ts";

const WEIGHT_MAX = 100;

export function* validateAffinity({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, at: string): Iterable<FieldError> {
  if (nodeAffinity !== undefined) yield* validateNodeAffinity(nodeAffinity, `${at}.nodeAffinity`);
  if (podAffinity !== undefined) yield* validatePodAffinity(podAffinity, `${at}.podAffinity`);
  if (podAntiAffinity !== undefined) yield* validatePodAffinity(podAntiAffinity, `${at}.podAntiAffinity`);
}

function* validateNodeAffinity(affinity: NodeAffinity, at: string): Iterable<FieldError> {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  if (needed !== undefined) yield* validateNodeSelector(needed, `${at}.requiredDuringSchedulingIgnoredDuringExecution`);
  for (const [index, { weight, preference }] of (preferred ?? []).entries()) {
    const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    yield* validateWeight(weight, `${here}.weight`);
    // A preference that no node can satisfy is harmless: its values only produce warnings.
    yield* validateNodeSelectorTerm(preference ?? {}, `${here}.preference`, { anyValues: true });
  }
}

export function* validateNodeSelector({ nodeSelectorTerms }: NodeSelector, at: string): Iterable<FieldError> {
  const here = `${at}.nodeSelectorTerms`;
  if ((nodeSelectorTerms ?? []).length === 0) return yield required(here, "must have at least one node selector term");
  for (const [index, term] of nodeSelectorTerms.entries()) {
    yield* validateNodeSelectorTerm(term, `${here}[${index}]`, { anyValues: false });
  }
}

function* validateWeight(weight = 0, at: string): Iterable<FieldError> {
  if (weight <= 0 || weight > WEIGHT_MAX) yield invalid(at, weight, "must be in the range 1-100");
}

function* validateNodeSelectorTerm(
  { matchExpressions, matchFields }: NodeSelectorTerm,
  at: string,
  options: { readonly anyValues: boolean },
): Iterable<FieldError> {
  for (const [index, requirement] of (matchExpressions ?? []).entries()) {
    yield* validateRequirement(requirement, `${at}.matchExpressions[${index}]`, options);
  }
  for (const [index, requirement] of (matchFields ?? []).entries()) {
    yield* validateFieldRequirement(requirement, `${at}.matchFields[${index}]`);
  }
}

function* validateRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  at: string,
  { anyValues }: { readonly anyValues: boolean },
): Iterable<FieldError> {
  yield* validateOperator(operator, values, at);
  yield* qualifiedName(key ?? "", `${at}.key`);
  if (anyValues) return;
  for (const [index, value] of values.entries()) {
    for (const problem of validateLabelValue(value)) yield invalid(`${at}.values[${index}]`, value, problem);
  }
}

function* validateOperator(operator: string, values: readonly string[], at: string): Iterable<FieldError> {
  const here = `${at}.values`;
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) yield required(here, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) yield forbidden(here, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1) yield required(here, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else yield invalid(`${at}.operator`, operator ?? "", "not a valid selector operator");
}

/** The only selectable field of a node is its name. */
function* validateFieldRequirement({ key, operator, values = [] }: NodeSelectorRequirement, at: string): Iterable<FieldError> {
  if (operator !== "In" && operator !== "NotIn") yield invalid(`${at}.operator`, operator ?? "", "not a valid selector operator");
  else if (values.length !== 1) {
    yield required(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== "metadata.name") return yield invalid(`${at}.key`, key ?? "", "not a valid field selector key");
  for (const [index, value] of values.entries()) yield* dnsSubdomain(value, `${at}.values[${index}]`);
}

function* validatePodAffinity(affinity: PodAffinity | PodAntiAffinity, at: string): Iterable<FieldError> {
  const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  for (const [index, term] of (needed ?? []).entries()) {
    yield* validatePodAffinityTerm(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`);
  }
  for (const [index, { weight, podAffinityTerm }] of (preferred ?? []).entries()) {
    const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    yield* validateWeight(weight, `${here}.weight`);
    yield* validatePodAffinityTerm(podAffinityTerm, `${here}.podAffinityTerm`);
  }
}

function* validatePodAffinityTerm(term: PodAffinityTerm, at: string): Iterable<FieldError> {
  yield* validateLabelSelectorObject(term.labelSelector, `${at}.labelSelector`);
  yield* validateLabelSelectorObject(term.namespaceSelector, `${at}.namespaceSelector`);
  for (const name of term.namespaces ?? []) {
    for (const problem of validateDnsLabel(name)) yield invalid(`${at}.namespace`, name, problem);
  }
  yield* validateLabelKeys(term, at);
  const topologyKey = term.topologyKey ?? "";
  if (topologyKey === "") yield required(`${at}.topologyKey`, "can not be empty");
  yield* qualifiedName(topologyKey, `${at}.topologyKey`);
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
export function* validateLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeys,
  at: string,
): Iterable<FieldError> {
  yield* validateKeyNames(matchLabelKeys, labelSelector, `${at}.matchLabelKeys`);
  yield* validateKeyNames(mismatchLabelKeys, labelSelector, `${at}.mismatchLabelKeys`);
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  const places = new Map(matchLabelKeys.map((key, index) => [key, index]));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = places.get(key);
    if (index !== undefined && seen.has(key)) yield invalid(`${at}[${index}]`, key, "exists in both matchLabelKeys and labelSelector");
    seen.add(key);
  }
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatched.has(key)) continue;
    yield invalid(`${at}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

function* validateKeyNames(keys: readonly string[], selector: LabelSelector | undefined, at: string): Iterable<FieldError> {
  if (keys.length === 0) return;
  if (selector === undefined) return yield forbidden(at, "must not be specified when labelSelector is not set");
  for (const [index, key] of keys.entries()) yield* qualifiedName(key, `${at}[${index}]`);
}

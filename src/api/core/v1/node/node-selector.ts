/**
 * Matches nodes against NodeSelector terms and against a Pod's node requirements. Terms are compiled once and then evaluated for many
 * nodes. The terms are ORed, the requirements of a term ANDed; an empty term matches no node, and neither does a malformed one (it is not
 * an error, since validation accepts some: "Gt" of something that is no number). Not here: validation of Pods (pod/validation/affinity.ts),
 * which is stricter.
 */
import type {
  Node,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  PreferredSchedulingTerm,
} from "../../../generated/core/v1.ts";
import { child, element, invalid, notSupported, type FieldError } from "../../../machinery/field-error.ts";
import { isMet, requirementErrors, type LabelOperator, type LabelRequirement } from "../../../machinery/selectors/label-requirement.ts";

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
  ["Gt", ">"],
  ["Lt", "<"],
]);
const OPERATOR_NAMES = [...OPERATORS.keys()];
const FIELD_OPERATOR_NAMES = ["In", "NotIn"];
/** The only selectable field of a node. */
const NAME_FIELD = "metadata.name";

/** A compiled NodeSelector. */
export class NodeTerms {
  readonly #terms: readonly Term[];

  constructor(selector: NodeSelector) {
    this.#terms = termsOf(selector)
      .map(readTerm)
      .filter((term) => term !== undefined);
  }

  matches(node: Node): boolean {
    for (const term of this.#terms) if (holds(term, node)) return true;
    return false;
  }
}

/** Compiled preferred terms. */
export class PreferredNodes {
  readonly #wishes: readonly { readonly weight: number; readonly term: Term }[];

  constructor(wishes: readonly PreferredSchedulingTerm[]) {
    this.#wishes = wishes.flatMap(({ weight, preference }) => {
      const term = readTerm(preference ?? {});
      return term === undefined ? [] : [{ weight, term }];
    });
  }

  /** Sum of the weights of all terms that match the node. */
  score(node: Node): number {
    let sum = 0;
    for (const { weight, term } of this.#wishes) if (holds(term, node)) sum += weight;
    return sum;
  }
}

/** A Pod's node requirements: `nodeSelector` and required node affinity. */
export class RequiredNodes {
  readonly #labels: readonly LabelRequirement[];
  readonly #terms: NodeTerms | undefined;

  constructor({ nodeSelector, affinity }: PodSpec) {
    this.#labels = Object.entries(nodeSelector ?? {}).map(([key, value]) => ({ key, operator: "=", values: [value] }));
    const needed = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    this.#terms = needed === undefined ? undefined : new NodeTerms(needed);
  }

  matches(node: Node): boolean {
    for (const requirement of this.#labels) if (!isMet(requirement, node.metadata.labels)) return false;
    return this.#terms === undefined || this.#terms.matches(node);
  }
}

/** Names of the only nodes that can match; undefined if some term matches any name. An empty set: the terms are contradictory. */
export function nodeNamesOf(selector: NodeSelector): ReadonlySet<string> | undefined {
  const terms = termsOf(selector);
  const names = new Set<string>();
  for (const term of terms) {
    const ofTerm = nodeNamesOfTerm(term);
    if (ofTerm === undefined) return undefined;
    for (const name of ofTerm) names.add(name);
  }
  return terms.length === 0 ? undefined : names;
}

function nodeNamesOfTerm({ matchFields = [] }: NodeSelectorTerm): readonly string[] | undefined {
  let names: readonly string[] | undefined;
  for (const { key, operator, values = [] } of matchFields) {
    if (key !== NAME_FIELD || operator !== "In") continue;
    names = names === undefined ? values : names.filter((name) => values.includes(name));
  }
  return names;
}

/** Errors of malformed terms; `at` is the selector's path. */
export function* nodeSelectorErrors(selector: NodeSelector, at: string): Iterable<FieldError> {
  for (const [index, term] of termsOf(selector).entries()) yield* termErrors(term, element(child(at, "nodeSelectorTerms"), index));
}

/** The same for preferred terms. One without weight has no effect, so it is not validated. */
export function* preferredNodesErrors(wishes: readonly PreferredSchedulingTerm[], at: string): Iterable<FieldError> {
  for (const [index, { weight, preference }] of wishes.entries()) {
    if (weight !== 0) yield* termErrors(preference ?? {}, element(at, index));
  }
}

/** A configuration may omit what a Pod may not. */
function termsOf({ nodeSelectorTerms }: NodeSelector): readonly NodeSelectorTerm[] {
  return nodeSelectorTerms ?? [];
}

interface Term {
  readonly labels: readonly LabelRequirement[];
  readonly fields: readonly FieldRequirement[];
}

interface FieldRequirement {
  readonly isName: boolean;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Undefined if it is empty or malformed. */
function readTerm(term: NodeSelectorTerm): Term | undefined {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return undefined;
  for (const _ of termErrors(term, "")) return undefined;
  return { labels: matchExpressions.map(labelRequirement), fields: matchFields.map(fieldRequirement) };
}

function labelRequirement({ key, operator, values = [] }: NodeSelectorRequirement): LabelRequirement {
  return { key, operator: OPERATORS.get(operator) ?? "in", values };
}

function fieldRequirement({ key, operator, values = [] }: NodeSelectorRequirement): FieldRequirement {
  return { isName: key === NAME_FIELD, isEqual: operator === "In", value: values[0] ?? "" };
}

function* termErrors({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, at: string): Iterable<FieldError> {
  for (const [index, requirement] of matchExpressions.entries()) {
    const here = element(child(at, "matchExpressions"), index);
    if (OPERATORS.has(requirement.operator)) yield* requirementErrors(labelRequirement(requirement), here);
    else yield notSupported(child(here, "operator"), requirement.operator, OPERATOR_NAMES);
  }
  for (const [index, { operator, values = [] }] of matchFields.entries()) {
    const here = element(child(at, "matchFields"), index);
    if (!FIELD_OPERATOR_NAMES.includes(operator)) yield notSupported(child(here, "operator"), operator, FIELD_OPERATOR_NAMES);
    else if (values.length !== 1) yield invalid(child(here, "values"), values, "must have one element");
  }
}

/** Hot path (called per node): must not allocate. */
function holds({ labels, fields }: Term, node: Node): boolean {
  for (const requirement of labels) if (!isMet(requirement, node.metadata.labels)) return false;
  for (const { isName, isEqual, value } of fields) {
    // No node has another field than the name.
    const actual = isName ? node.metadata.name : "";
    if ((actual === value) !== isEqual) return false;
  }
  return true;
}

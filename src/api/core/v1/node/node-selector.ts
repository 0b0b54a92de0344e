/**
 * Which nodes are meant by the terms of a NodeSelector, and by all that a Pod demands of its node. Terms are read once and then asked for
 * many nodes. One term must hold, and of a term everything; an empty term holds for no node, and so does one that cannot be understood
 * (it is not an error, since validation lets some through: "Gt" of something that is no number).
 * Not here: what may stand in a Pod (pod/validate-affinity.ts), which is stricter.
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
/** The only field of a node that can be asked for. */
const NAME_FIELD = "metadata.name";

/** A NodeSelector, ready to match. */
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

/** Wishes for nodes, ready to count. */
export class PreferredNodes {
  readonly #wishes: readonly { readonly weight: number; readonly term: Term }[];

  constructor(wishes: readonly PreferredSchedulingTerm[]) {
    this.#wishes = wishes.flatMap(({ weight, preference }) => {
      const term = readTerm(preference ?? {});
      return term === undefined ? [] : [{ weight, term }];
    });
  }

  /** The weights of all wishes that the node fulfils. */
  score(node: Node): number {
    let sum = 0;
    for (const { weight, term } of this.#wishes) if (holds(term, node)) sum += weight;
    return sum;
  }
}

/** All that a Pod demands of its node: `nodeSelector` and required node affinity. */
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

/** The only nodes that can be meant, by name; undefined if some term is open to any name. An empty set: the terms contradict themselves. */
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

/** What cannot be understood about the terms; `at` is where the selector stands. */
export function* nodeSelectorErrors(selector: NodeSelector, at: string): Iterable<FieldError> {
  for (const [index, term] of termsOf(selector).entries()) yield* termErrors(term, element(child(at, "nodeSelectorTerms"), index));
}

/** The same for wishes. One without weight counts for nothing, so nobody minds what it says. */
export function* preferredNodesErrors(wishes: readonly PreferredSchedulingTerm[], at: string): Iterable<FieldError> {
  for (const [index, { weight, preference }] of wishes.entries()) {
    if (weight !== 0) yield* termErrors(preference ?? {}, element(at, index));
  }
}

/** A configuration may leave out what a Pod may not. */
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

/** Undefined if it is empty or cannot be understood. */
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

/** Called for every node: it makes nothing. */
function holds({ labels, fields }: Term, node: Node): boolean {
  for (const requirement of labels) if (!isMet(requirement, node.metadata.labels)) return false;
  for (const { isName, isEqual, value } of fields) {
    // Another field than the name is there on no node.
    const actual = isName ? node.metadata.name : "";
    if ((actual === value) !== isEqual) return false;
  }
  return true;
}

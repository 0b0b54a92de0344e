/**
 * Prevents privilege escalation: computes which permissions of other rules are not covered by a user's rules. Missing permissions are
 * reported with upstream's messages, which kubectl shows.
 *
 * The other rules are split into single verbs on single resources, and each must be covered by one rule of the user (held-rules.ts).
 */
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { quoteGo } from "../../machinery/codec/go-text.ts";
import { HeldRules, type PathPart, type ResourcePart } from "./held-rules.ts";

/** Maximum number of missing permissions: the request is rejected anyway. */
const MISSING_MAX = 5_000;

/** Maximum total length of the report: each part repeats names that may be long. */
const MISSING_CHARACTERS_MAX = 250_000;

/** Lists of at most one each: one verb on one resource, perhaps of one name, or on one path. */
type RulePart = PolicyRule;

/** As it was sent, before it was split into verbs. */
type WantedRule = Partial<PolicyRule>;

export interface Missing {
  /** Empty if nothing is missing, or if nothing was found before the budget was spent. */
  readonly parts: readonly RulePart[];
  /** The budget was spent: nothing is known beyond these parts. */
  readonly isUnfinished: boolean;
}

/** The permissions of `wanted` that are not in `held`. */
export function missingParts(held: readonly PolicyRule[], wanted: readonly WantedRule[]): Missing {
  const rules = new HeldRules(held);
  const parts: RulePart[] = [];
  let characters = 0;
  const covered = new Set<string>();
  for (const rule of wanted) {
    const known = JSON.stringify(rule);
    if (covered.has(known)) continue;
    const before = parts.length;
    for (const part of missingOf(rule, rules)) {
      parts.push(part);
      characters += charactersOf(part);
      if (parts.length >= MISSING_MAX || characters >= MISSING_CHARACTERS_MAX) return { parts, isUnfinished: false };
    }
    if (rules.isSpent) return { parts, isUnfinished: true };
    // Duplicates are reported twice, as upstream does.
    if (parts.length === before) covered.add(known);
  }
  return { parts, isUnfinished: false };
}

function* missingOf(rule: WantedRule, held: HeldRules): Iterable<RulePart> {
  for (const asked of resourceParts(rule)) {
    const isCovered = held.coversResource(asked);
    if (held.isSpent) return;
    if (isCovered) continue;
    const { group, resource, verb, name } = asked;
    yield { apiGroups: [group], resources: [resource], verbs: [verb], ...(name === undefined ? {} : { resourceNames: [name] }) };
  }
  for (const asked of pathParts(rule)) {
    const isCovered = held.coversPath(asked);
    if (held.isSpent) return;
    if (!isCovered) yield { nonResourceURLs: [asked.path], verbs: [asked.verb] };
  }
}

/** Duplicates of one list are removed; in the product of lists they would multiply. */
function* resourceParts(rule: WantedRule): Iterable<ResourcePart> {
  const [resources, verbs, given] = [new Set(rule.resources), new Set(rule.verbs), new Set(rule.resourceNames)];
  const names = given.size === 0 ? [undefined] : given;
  for (const group of new Set(rule.apiGroups)) {
    for (const resource of resources) {
      for (const verb of verbs) {
        for (const name of names) yield { group, resource, verb, name };
      }
    }
  }
}

function* pathParts(rule: WantedRule): Iterable<PathPart> {
  const verbs = new Set(rule.verbs);
  for (const path of new Set(rule.nonResourceURLs)) for (const verb of verbs) yield { path, verb };
}

function charactersOf(part: RulePart): number {
  let characters = 0;
  for (const [text] of Object.values(part)) characters += text?.length ?? 0;
  return characters;
}

/** One line for each resource with all its verbs, and for each verb on a path; sorted. */
export function describeParts(parts: readonly RulePart[]): readonly string[] {
  const lines = new Set<string>();
  const verbsOfResources = new Map<string, string[]>();
  for (const { verbs, ...what } of parts) {
    const subject = describeLists(what);
    if (what.nonResourceURLs !== undefined) {
      lines.add(`{${subject}, Verbs:${quoteAll(verbs)}}`);
      continue;
    }
    const known = verbsOfResources.get(subject);
    if (known === undefined) verbsOfResources.set(subject, [...verbs]);
    else known.push(...verbs);
  }
  for (const [subject, verbs] of verbsOfResources) lines.add(`{${subject}, Verbs:${quoteAll(verbs)}}`);
  return [...lines].toSorted();
}

function describeLists({ apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [] }: Omit<PolicyRule, "verbs">): string {
  const lists = { APIGroups: apiGroups, Resources: resources, NonResourceURLs: nonResourceURLs, ResourceNames: resourceNames };
  return Object.entries(lists)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${quoteAll(list)}`)
    .join(", ");
}

/** As Go prints a list of strings. */
export function quoteAll(texts: readonly string[]): string {
  return `[${texts.map(quoteGo).join(" ")}]`;
}

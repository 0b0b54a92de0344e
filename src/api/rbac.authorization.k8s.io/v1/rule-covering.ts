/**
 * Whether somebody who has some rules has everything that other rules give: nobody may give away more than they have. What is missing
 * is told in upstream's words, which kubectl shows.
 *
 * The other rules are taken apart into single verbs on single resources, and each must be covered by one rule of what is had.
 */
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { quoteGo } from "../../machinery/codec/go-text.ts";
import { hasOrAll, pathCovers } from "./rule-matching.ts";

/** What is missing is looked for no further than this: nobody reads on, and who lacks these is refused anyway. */
const MISSING_MAX = 10_000;

/** A role of a megabyte can speak of a milliard of single things. Of more than these, which is a second's work, nothing counts as had. */
const PARTS_MAX = 1_000_000;

/** Lists of at most one each: one verb on one resource, perhaps of one name, or on one path. */
type RulePart = PolicyRule;

/** As it was sent, before it was found to have verbs. */
type WantedRule = Partial<PolicyRule>;

/** What of `wanted` is not in `held`; empty if everything is. */
export function missingParts(held: readonly PolicyRule[], wanted: readonly WantedRule[]): readonly RulePart[] {
  const missing: RulePart[] = [];
  let seen = 0;
  for (const rule of wanted) {
    for (const { part, covered } of partsOf(rule, held)) {
      seen++;
      if (!covered || seen > PARTS_MAX) missing.push(part);
      if (missing.length >= MISSING_MAX || seen > PARTS_MAX) return missing;
    }
  }
  return missing;
}

interface CheckedPart {
  readonly part: RulePart;
  readonly covered: boolean;
}

function* partsOf(rule: WantedRule, held: readonly PolicyRule[]): Iterable<CheckedPart> {
  yield* resourceParts(rule, held);
  yield* pathParts(rule, held);
}

/** With each step into a rule fewer of those that are had can cover it, so they are narrowed on the way. */
function* resourceParts(rule: WantedRule, held: readonly PolicyRule[]): Iterable<CheckedPart> {
  const { apiGroups = [], resources = [], verbs = [] } = rule;
  for (const group of apiGroups) {
    const ofGroup = held.filter((owner) => hasOrAll(owner.apiGroups, group));
    for (const resource of resources) {
      const ofResource = ofGroup.filter((owner) => coversResource(owner.resources, resource));
      for (const verb of verbs) {
        const ofVerb = ofResource.filter((owner) => hasOrAll(owner.verbs, verb));
        yield* namedParts({ apiGroups: [group], resources: [resource], verbs: [verb] }, rule.resourceNames ?? [], ofVerb);
      }
    }
  }
}

/** Rules about named objects cover only those, rules without names cover all. */
function* namedParts(part: RulePart, names: readonly string[], held: readonly PolicyRule[]): Iterable<CheckedPart> {
  const coversAll = held.some(({ resourceNames = [] }) => resourceNames.length === 0);
  if (names.length === 0) yield { part, covered: coversAll };
  for (const name of names) {
    const covered = coversAll || held.some(({ resourceNames = [] }) => resourceNames.includes(name));
    yield { part: { ...part, resourceNames: [name] }, covered };
  }
}

function* pathParts({ nonResourceURLs = [], verbs = [] }: WantedRule, held: readonly PolicyRule[]): Iterable<CheckedPart> {
  for (const path of nonResourceURLs) {
    const ofPath = held.filter(({ nonResourceURLs: patterns = [] }) => patterns.some((pattern) => pathCovers(pattern, path)));
    for (const verb of verbs) {
      yield { part: { nonResourceURLs: [path], verbs: [verb] }, covered: ofPath.some((owner) => hasOrAll(owner.verbs, verb)) };
    }
  }
}

/** A resource of a rule is with its subresource. */
function coversResource(resources: readonly string[] = [], resource: string): boolean {
  if (hasOrAll(resources, resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && resources.includes(`*${resource.slice(slash)}`);
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

/** As Go shows a list of texts. */
export function quoteAll(texts: readonly string[]): string {
  return `[${texts.map(quoteGo).join(" ")}]`;
}

/**
 * An index of the rules that a user has, so that whether they cover one verb on one resource is found without a linear search: by group,
 * those of a group by resource, and those by verb. Each level is built on first use.
 *
 * Rules are written by users, and a role of a megabyte can demand a billion comparisons; so they are counted, see `isSpent`.
 */
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { withoutTrailing } from "../../../base/text.ts";
import { EVERY } from "./rule-matching.ts";

/** Maximum comparisons: about 50 ms, during which the event loop is blocked. */
const COMPARISONS_MAX = 120_000;

/** A text of this many characters costs one comparison more. */
const CHARACTERS_PER_COMPARISON = 64;

/** Base cost of building a level. */
const LEVEL_COMPARISONS = 4;

export interface ResourcePart {
  readonly group: string;
  /** With its subresource. */
  readonly resource: string;
  readonly verb: string;
  /** Undefined: objects of any name. */
  readonly name: string | undefined;
}

export interface PathPart {
  readonly path: string;
  readonly verb: string;
}

type Rules = readonly PolicyRule[];

/** Resource names of the rules. */
interface Names {
  readonly all: boolean;
  readonly some: ReadonlySet<string>;
}

/** A trailing star matches all paths with that prefix. */
interface PathPattern {
  readonly pattern: string;
  readonly prefix: string | undefined;
  readonly rule: PolicyRule;
}

/** The list by which rules are indexed, and which members match a wanted one. */
interface ListOfRules {
  readonly of: (rule: PolicyRule) => readonly string[] | undefined;
  readonly covering: (member: string) => readonly string[];
}

const itselfOrEvery = (member: string) => (member === EVERY ? [EVERY] : [member, EVERY]);

const GROUPS: ListOfRules = { of: (rule) => rule.apiGroups, covering: itselfOrEvery };
const VERBS: ListOfRules = { of: (rule) => rule.verbs, covering: itselfOrEvery };
const RESOURCES: ListOfRules = { of: (rule) => rule.resources, covering: coveringResources };

export class HeldRules {
  readonly #budget = new Budget();
  readonly #byGroup: Lookup<Lookup<Lookup<Names>>>;
  readonly #patterns: readonly PathPattern[];
  readonly #byPath = new Map<string, Lookup<boolean>>();

  constructor(rules: Rules) {
    const budget = this.#budget;
    const held = distinct(rules, budget);
    const byVerb = (those: Rules) => new Lookup({ rules: those, list: VERBS, finish: (left) => namesOf(left, budget), budget });
    const byResource = (those: Rules) => new Lookup({ rules: those, list: RESOURCES, finish: byVerb, budget });
    this.#byGroup = new Lookup({ rules: held, list: GROUPS, finish: byResource, budget });
    this.#patterns = held.flatMap((rule) => (rule.nonResourceURLs ?? []).map((pattern) => pathPattern(pattern, rule)));
  }

  /** True once the budget is spent: from then on all answers are no. */
  get isSpent(): boolean {
    return this.#budget.isSpent;
  }

  coversResource({ group, resource, verb, name }: ResourcePart): boolean {
    this.#budget.spend([group, resource, verb, name ?? ""]);
    const names = this.isSpent ? undefined : this.#byGroup.of(group).of(resource).of(verb);
    if (names === undefined || this.isSpent) return false;
    return names.all || (name !== undefined && names.some.has(name));
  }

  coversPath({ path, verb }: PathPart): boolean {
    this.#budget.spend([path, verb]);
    if (this.isSpent) return false;
    let byVerb = this.#byPath.get(path);
    if (byVerb === undefined) {
      byVerb = new Lookup({ rules: this.#ofPath(path), list: VERBS, finish: (those) => those.length > 0, budget: this.#budget });
      this.#byPath.set(path, byVerb);
    }
    return !this.isSpent && byVerb.of(verb);
  }

  #ofPath(path: string): Rules {
    const rules: PolicyRule[] = [];
    for (const { pattern, prefix, rule } of this.#patterns) {
      this.#budget.spend([pattern]);
      if (this.isSpent) return [];
      if (pattern === path || (prefix !== undefined && path.startsWith(prefix))) rules.push(rule);
    }
    return rules;
  }
}

class Budget {
  #left = COMPARISONS_MAX;

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(texts: readonly string[]): void {
    for (const { length } of texts) this.#left -= 1 + Math.floor(length / CHARACTERS_PER_COMPARISON);
  }

  spendLevel(): void {
    this.#left -= LEVEL_COMPARISONS;
  }
}

interface LookupOptions<T> {
  readonly rules: Rules;
  readonly list: ListOfRules;
  /** Called once for each wanted member, with the rules that cover it. */
  readonly finish: (rules: Rules) => T;
  readonly budget: Budget;
}

/** Rules by the members of one of their lists, and the next level of the rules that cover one. */
class Lookup<T> {
  readonly #rules = new Map<string, PolicyRule[]>();
  readonly #covering: ListOfRules["covering"];
  readonly #finish: (rules: Rules) => T;
  /**
   * If at most one member covers what is wanted, the result is shared by that one: a user with everything in one rule has one result for
   * all.
   */
  readonly #finished = new Map<string | undefined, T>();

  constructor({ rules, list, finish, budget }: LookupOptions<T>) {
    this.#covering = list.covering;
    this.#finish = finish;
    budget.spendLevel();
    for (const rule of rules) {
      const members = list.of(rule) ?? [];
      budget.spend(members);
      if (budget.isSpent) return;
      for (const member of new Set(members)) this.#add(member, rule);
    }
  }

  of(member: string): T {
    const covering = this.#covering(member).filter((one) => this.#rules.has(one));
    const key = covering.length > 1 ? member : covering[0];
    let finished = this.#finished.get(key);
    if (finished === undefined) {
      const rules = covering.flatMap((one) => this.#rules.get(one) ?? []);
      finished = this.#finish(covering.length > 1 ? [...new Set(rules)] : rules);
      this.#finished.set(key, finished);
    }
    return finished;
  }

  #add(member: string, rule: PolicyRule): void {
    const rules = this.#rules.get(member);
    if (rules === undefined) this.#rules.set(member, [rule]);
    else rules.push(rule);
  }
}

/** A star with a slash and a subresource is that subresource of every resource. */
function coveringResources(resource: string): readonly string[] {
  const slash = resource.indexOf("/");
  const ofEverything = slash < 0 ? resource : EVERY + resource.slice(slash);
  return ofEverything === resource ? itselfOrEvery(resource) : [...itselfOrEvery(resource), ofEverything];
}

function pathPattern(pattern: string, rule: PolicyRule): PathPattern {
  return { pattern, prefix: pattern.endsWith(EVERY) ? withoutTrailing(pattern, EVERY) : undefined, rule };
}

/** Rules with resource names cover only those, rules without cover all. */
function namesOf(rules: Rules, budget: Budget): Names {
  const some = new Set<string>();
  for (const { resourceNames = [] } of rules) {
    if (resourceNames.length === 0) return { all: true, some };
    budget.spend(resourceNames);
    if (budget.isSpent) break;
    for (const name of resourceNames) some.add(name);
  }
  return { all: false, some };
}

/** Many roles have equal lists. */
function distinct(rules: Rules, budget: Budget): Rules {
  const found = new Map<string, PolicyRule>();
  for (const rule of rules) {
    for (const list of Object.values(rule)) budget.spend(list);
    if (budget.isSpent) return [];
    found.set(JSON.stringify(rule), rule);
  }
  return [...found.values()];
}

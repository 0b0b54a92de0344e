/**
 * What one user may, as long as roles and bindings stay as they are. Each question is worked out once, whatever the name of the object:
 * first by what the user was given everywhere, then by what it was given in the namespace. So whoever was given something everywhere
 * has one answer for all namespaces, and a component's thousandth request is two looks into a table.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { ruleAllowsName, ruleAllowsPath, ruleAllowsResource } from "../../../api/rbac.authorization.k8s.io/v1/rule-matching.ts";
import { NO_OPINION, type AccessDecision, type AccessedResource } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";
import { detachedText } from "../../../base/text.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { innerMap } from "./inner-map.ts";
import type { Grant, Policy } from "./policy.ts";

/** Questions may be made up by whoever asks, also in reviews. Longer ones than any real one are answered and not remembered. */
const REMEMBERED_LENGTH_MAX = 512;

/** What all users' answers together may take; one for all servers of a policy. */
export class AnswerBudget {
  #left: number;

  /** `answers`: so many are remembered, of less than a kilobyte each. */
  constructor(answers: number) {
    this.#left = answers;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(): void {
    this.#left--;
  }
}

const NOTHING_LEFT = new AnswerBudget(0);

/** Who may, of all whose names differ: rules about named objects, as far as they come before the one about all. */
interface Answer {
  readonly named: readonly { readonly rule: PolicyRule; readonly decision: AccessDecision }[];
  /** Absent: no rule is about all. */
  readonly all?: AccessDecision;
}

export class UserAccess {
  /** That of the policy by which everything here was worked out. */
  readonly revision: number;
  readonly #policy: Policy;
  readonly #user: User;
  readonly #everywhere: ScopeAccess;
  /** Of all namespaces in which nothing more was given. */
  readonly #withoutGrants: ScopeAccess;
  readonly #budget: AnswerBudget;
  readonly #namespaces = new Map<string, ScopeAccess>();

  constructor(policy: Policy, user: User, budget: AnswerBudget) {
    this.revision = policy.revision;
    this.#policy = policy;
    // A review may tell of a user what nobody asks for, and as much as it likes.
    this.#user = { name: user.name, groups: user.groups };
    this.#budget = budget;
    this.#everywhere = new ScopeAccess({ grants: policy.grants(user, ""), before: [], budget });
    this.#withoutGrants = new ScopeAccess({ grants: [], before: this.#everywhere.errors, budget: NOTHING_LEFT });
  }

  authorizeResource(verb: string, resource: AccessedResource): AccessDecision {
    const { namespace } = resource;
    const everywhere = this.#everywhere.decide(verb, resource);
    if (everywhere !== undefined) return everywhere;
    if (namespace === "") return this.#everywhere.refusal;
    const here = this.#in(namespace);
    return here.decide(verb, resource) ?? here.refusal;
  }

  /** Not remembered: there is no end of paths, and few rules are about them. Roles of a namespace have no say, whatever a review asks. */
  authorizePath(verb: string, path: string): AccessDecision {
    return this.#everywhere.decidePath(verb, path) ?? this.#everywhere.refusal;
  }

  #in(namespace: string): ScopeAccess {
    let scope = this.#namespaces.get(namespace);
    if (scope === undefined) {
      const grants = this.#policy.grants(this.#user, namespace);
      // Nearly all namespaces, and all that somebody makes up.
      if (grants.length === 0) return this.#withoutGrants;
      const isKept = namespace.length <= REMEMBERED_LENGTH_MAX && !this.#budget.isSpent;
      scope = new ScopeAccess({ grants, before: this.#everywhere.errors, budget: isKept ? this.#budget : NOTHING_LEFT });
      if (!isKept) return scope;
      this.#budget.spend();
      this.#namespaces.set(detachedText(namespace), scope);
    }
    return scope;
  }
}

interface ScopeOptions {
  readonly grants: readonly Grant[];
  /** Errors of what was given everywhere, for what was given in a namespace. */
  readonly before: readonly string[];
  readonly budget: AnswerBudget;
}

/** What was given everywhere, or in one namespace. */
class ScopeAccess {
  /** Why bindings give nothing, those of `before` first. */
  readonly errors: readonly string[];
  /** What is said to who is not allowed. */
  readonly refusal: AccessDecision;
  readonly #rules: readonly { readonly rule: PolicyRule; readonly decision: AccessDecision }[];
  readonly #answers: AnswerTable;

  constructor({ grants, before, budget }: ScopeOptions) {
    this.#answers = new AnswerTable(budget);
    this.errors = [...before, ...grants.flatMap((grant) => ("error" in grant ? [grant.error] : []))];
    this.refusal = this.errors.length === 0 ? NO_OPINION : { allowed: false, reason: `RBAC: ${joinedErrors(this.errors)}` };
    this.#rules = grants.flatMap((grant) => {
      if ("error" in grant) return [];
      const decision = { allowed: true, reason: `RBAC: allowed by ${grant.source}` };
      return grant.rules.map((rule) => ({ rule, decision }));
    });
  }

  /** undefined: nothing that was given here allows it. */
  decide(verb: string, resource: AccessedResource): AccessDecision | undefined {
    let answer = this.#answers.get(verb, resource);
    if (answer === undefined) {
      answer = this.#answer(verb, resource);
      this.#answers.set(verb, resource, answer);
    }
    if (answer.named.length === 0) return answer.all;
    return answer.named.find(({ rule }) => ruleAllowsName(rule, resource.name))?.decision ?? answer.all;
  }

  decidePath(verb: string, path: string): AccessDecision | undefined {
    return this.#rules.find(({ rule }) => ruleAllowsPath(rule, { verb, path }))?.decision;
  }

  #answer(verb: string, { group, plural, subresource }: AccessedResource): Answer {
    const named: { rule: PolicyRule; decision: AccessDecision }[] = [];
    for (const { rule, decision } of this.#rules) {
      if (!ruleAllowsResource(rule, { verb, group, plural, subresource })) continue;
      const { resourceNames: names = [] } = rule;
      if (names.length === 0) return { named, all: decision };
      named.push({ rule, decision });
    }
    return { named };
  }
}

type Question = Pick<AccessedResource, "group" | "plural" | "subresource">;

/**
 * Answers by verb, group, resource and subresource, one map inside the other: a text of all four would cost more than all looks, and a
 * review could make up two questions with the same one.
 */
class AnswerTable {
  readonly #answers = new Map<string, Map<string, Map<string, Map<string, Answer>>>>();
  readonly #budget: AnswerBudget;

  constructor(budget: AnswerBudget) {
    this.#budget = budget;
  }

  get(verb: string, { group, plural, subresource }: Question): Answer | undefined {
    return this.#answers.get(verb)?.get(group)?.get(plural)?.get(subresource);
  }

  set(verb: string, { group, plural, subresource }: Question, answer: Answer): void {
    const length = verb.length + group.length + plural.length + subresource.length;
    if (length > REMEMBERED_LENGTH_MAX || this.#budget.isSpent) return;
    this.#budget.spend();
    innerMap(innerMap(innerMap(this.#answers, detachedText(verb)), detachedText(group)), detachedText(plural)).set(
      detachedText(subresource),
      answer,
    );
  }
}

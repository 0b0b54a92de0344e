/**
 * The permissions of one user, valid until a role or binding changes. Each question is evaluated once for all object names: first against
 * cluster-wide rules, then against those of the namespace. So cluster-wide permissions have one answer for all namespaces, and a repeated
 * request costs two map lookups.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { ruleAllowsName, ruleAllowsPath, ruleAllowsResource } from "../../../api/rbac.authorization.k8s.io/v1/rule-matching.ts";
import { NO_OPINION, type AccessDecision, type AccessedResource } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";
import { detachedText } from "../../../base/text.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { innerMap } from "./inner-map.ts";
import type { Grant, Policy } from "./policy.ts";

/** Clients can craft questions, also in reviews. Those longer than any real one are answered but not cached. */
const CACHED_LENGTH_MAX = 512;

/** Shared cache limit of all users; one for all servers of a policy. */
export class AnswerBudget {
  #left: number;

  /** `answers`: maximum number of cached answers, of less than a kilobyte each. */
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

/** Candidates by object name: rules with resourceNames, as far as they precede the one without. */
interface Answer {
  readonly named: readonly { readonly rule: PolicyRule; readonly decision: AccessDecision }[];
  /** Absent: no rule covers all names. */
  readonly all?: AccessDecision;
}

export class UserAccess {
  /** The policy revision that everything here was computed from. */
  readonly revision: number;
  readonly #policy: Policy;
  readonly #user: User;
  readonly #everywhere: ScopeAccess;
  /** Shared by all namespaces without additional rules. */
  readonly #withoutGrants: ScopeAccess;
  readonly #budget: AnswerBudget;
  readonly #namespaces = new Map<string, ScopeAccess>();

  constructor(policy: Policy, user: User, budget: AnswerBudget) {
    this.revision = policy.revision;
    this.#policy = policy;
    // A review may contain arbitrarily large extra fields, which authorization does not use.
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

  /** Not cached: paths are unbounded, and few rules are about them. Namespaced roles never apply, whatever a review asks. */
  authorizePath(verb: string, path: string): AccessDecision {
    return this.#everywhere.decidePath(verb, path) ?? this.#everywhere.refusal;
  }

  #in(namespace: string): ScopeAccess {
    let scope = this.#namespaces.get(namespace);
    if (scope === undefined) {
      const grants = this.#policy.grants(this.#user, namespace);
      // Nearly all namespaces, and all that do not exist.
      if (grants.length === 0) return this.#withoutGrants;
      const isKept = namespace.length <= CACHED_LENGTH_MAX && !this.#budget.isSpent;
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
  /** Errors of cluster-wide bindings, included in those of a namespace. */
  readonly before: readonly string[];
  readonly budget: AnswerBudget;
}

/** Cluster-wide rules, or those of one namespace. */
class ScopeAccess {
  /** Why bindings grant nothing, those of `before` first. */
  readonly errors: readonly string[];
  /** Reason given for a rejection. */
  readonly refusal: AccessDecision;
  readonly #rules: readonly { readonly rule: PolicyRule; readonly decision: AccessDecision }[];
  readonly #answers: AnswerTable;

  constructor({ grants, before, budget }: ScopeOptions) {
    this.#answers = new AnswerTable(budget);
    this.errors = [...before, ...grants.flatMap((grant) => ("error" in grant ? [grant.error] : []))];
    this.refusal = this.errors.length === 0 ? NO_OPINION : { allowed: false, reason: `RBAC: ${joinedErrors(this.errors)}` };
    this.#rules = grants.flatMap((grant) => {
      if ("error" in grant) return [];
      const decision = { allowed: true, authorizer: "RBAC", reason: `RBAC: allowed by ${grant.source}` };
      return grant.rules.map((rule) => ({ rule, decision }));
    });
  }

  /** undefined: no rule here allows it. */
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
 * Answers by verb, group, resource and subresource in nested maps: a concatenated key would cost more than the lookups, and crafted reviews
 * could make two keys collide.
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
    if (length > CACHED_LENGTH_MAX || this.#budget.isSpent) return;
    this.#budget.spend();
    innerMap(innerMap(innerMap(this.#answers, detachedText(verb)), detachedText(group)), detachedText(plural)).set(
      detachedText(subresource),
      answer,
    );
  }
}

/**
 * What one user may, as long as roles and bindings stay as they are. Each question is worked out once, whatever the name of the object:
 * first by what the user was given everywhere, then by what it was given in the namespace. So whoever was given something everywhere
 * has one answer for all namespaces, and a component's thousandth request is two looks into a table.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { ruleAllowsPath, ruleAllowsResource } from "../../../api/rbac.authorization.k8s.io/v1/rule-matching.ts";
import { NO_OPINION, type AccessDecision, type AccessedResource } from "../../authorization.ts";
import type { User } from "../../request.ts";
import { joinedErrors } from "../joined-errors.ts";
import type { Grant, Policy } from "./policy.ts";

/** Questions may be made up by whoever asks reviews. Beyond these all are forgotten and the next are worked out again. */
const ANSWERS_MAX = 2_000;
const NAMESPACES_MAX = 2_000;

/** Who may, of all whose names differ: rules about named objects, as far as they come before the one about all. */
interface Answer {
  readonly named: readonly { readonly names: readonly string[]; readonly decision: AccessDecision }[];
  /** Absent: no rule is about all. */
  readonly all?: AccessDecision;
}

export class UserAccess {
  /** That of the policy by which everything here was worked out. */
  readonly revision: number;
  readonly #policy: Policy;
  readonly #user: User;
  readonly #everywhere: ScopeAccess;
  readonly #namespaces = new Map<string, ScopeAccess>();

  constructor(policy: Policy, user: User) {
    this.revision = policy.revision;
    this.#policy = policy;
    this.#user = user;
    this.#everywhere = new ScopeAccess(policy.grants(user, ""), []);
  }

  authorizeResource(verb: string, resource: AccessedResource): AccessDecision {
    const { namespace } = resource;
    const question = questionOf(verb, resource);
    const everywhere = this.#everywhere.decide(question, verb, resource);
    if (everywhere !== undefined) return everywhere;
    if (namespace === "") return this.#everywhere.refusal;
    const here = this.#in(namespace);
    return here.decide(question, verb, resource) ?? here.refusal;
  }

  /** Not remembered: there is no end of paths, and few rules are about them. Roles of a namespace have no say, whatever a review asks. */
  authorizePath(verb: string, path: string): AccessDecision {
    return this.#everywhere.decidePath(verb, path) ?? this.#everywhere.refusal;
  }

  #in(namespace: string): ScopeAccess {
    let scope = this.#namespaces.get(namespace);
    if (scope === undefined) {
      scope = new ScopeAccess(this.#policy.grants(this.#user, namespace), this.#everywhere.errors);
      remember(this.#namespaces, namespace, scope, NAMESPACES_MAX);
    }
    return scope;
  }
}

/** What was given everywhere, or in one namespace. */
class ScopeAccess {
  /** Why bindings give nothing, those of `before` first. */
  readonly errors: readonly string[];
  /** What is said to who is not allowed. */
  readonly refusal: AccessDecision;
  readonly #rules: readonly { readonly rule: PolicyRule; readonly decision: AccessDecision }[];
  readonly #answers = new Map<string, Answer>();

  constructor(grants: readonly Grant[], before: readonly string[]) {
    this.errors = [...before, ...grants.flatMap((grant) => ("error" in grant ? [grant.error] : []))];
    this.refusal = this.errors.length === 0 ? NO_OPINION : { allowed: false, reason: `RBAC: ${joinedErrors(this.errors)}` };
    this.#rules = grants.flatMap((grant) => {
      if ("error" in grant) return [];
      const decision = { allowed: true, reason: `RBAC: allowed by ${grant.source}` };
      return grant.rules.map((rule) => ({ rule, decision }));
    });
  }

  /** undefined: nothing that was given here allows it. */
  decide(question: string, verb: string, resource: AccessedResource): AccessDecision | undefined {
    let answer = this.#answers.get(question);
    if (answer === undefined) {
      answer = this.#answer(verb, resource);
      remember(this.#answers, question, answer, ANSWERS_MAX);
    }
    if (answer.named.length === 0) return answer.all;
    return answer.named.find(({ names }) => names.includes(resource.name))?.decision ?? answer.all;
  }

  decidePath(verb: string, path: string): AccessDecision | undefined {
    return this.#rules.find(({ rule }) => ruleAllowsPath(rule, { verb, path }))?.decision;
  }

  #answer(verb: string, { group, plural, subresource }: AccessedResource): Answer {
    const named: { names: readonly string[]; decision: AccessDecision }[] = [];
    for (const { rule, decision } of this.#rules) {
      if (!ruleAllowsResource(rule, { verb, group, plural, subresource })) continue;
      const { resourceNames: names = [] } = rule;
      if (names.length === 0) return { named, all: decision };
      named.push({ names, decision });
    }
    return { named };
  }
}

/** With the lengths before: a review may ask with any character anywhere, and two questions must never look the same. */
function questionOf(verb: string, { group, plural, subresource }: AccessedResource): string {
  return `${verb.length} ${group.length} ${plural.length} ${verb}${group}${plural}${subresource}`;
}

function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  if (map.size >= max) map.clear();
  map.set(key, value);
}

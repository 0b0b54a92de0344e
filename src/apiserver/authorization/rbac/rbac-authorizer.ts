/**
 * Role-based access control (--authorization-mode=RBAC). It only allows; other authorizers may allow the rest.
 *
 * Roles and bindings are followed and indexed by subject (policy.ts); answers are cached per identity until any role or binding changes
 * (user-access.ts), so that a grant and its revocation take effect as soon as they are written.
 */
import type { NonResourceRule, ResourceRule, SubjectRulesReviewStatus } from "../../../api/generated/authorization.k8s.io/v1.ts";
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { Lru } from "../../../base/lru.ts";
import type { AccessAttributes, AccessDecision, AuthorizationModule, AuthorizationModuleFactory } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { Policy } from "./policy.ts";
import { AnswerBudget, UserAccess } from "./user-access.ts";

/** Maximum identities with cached answers; least recently used ones are evicted. */
const IDENTITIES_MAX = 1_000;
/** Characters of a user's name and groups beyond which an identity is not cached: reviews can contain any. */
const IDENTITY_LENGTH_MAX = 8_192;
/** Limit for all identities together, at most some 100 MB. Beyond it the cache is cleared. */
const ANSWERS_MAX = 200_000;

export const rbacAuthorizer: AuthorizationModuleFactory = ({ objects }) => {
  const policy = new Policy();
  return new RbacAuthorizer(policy, () => policy.follow(objects));
};

export class RbacAuthorizer implements AuthorizationModule {
  readonly name = "RBAC";
  readonly start: () => Promise<void>;
  readonly #policy: Policy;
  /** For callers that pass the same object each time: components of this process, and connections. */
  #byUser = new WeakMap<User, UserAccess>();
  /** For all others: two objects with the same user and groups are one identity. */
  readonly #byIdentity = new Lru<string, UserAccess>({ max: IDENTITIES_MAX });
  #budget = new AnswerBudget(ANSWERS_MAX);

  constructor(policy: Policy, start: () => Promise<void>) {
    this.#policy = policy;
    this.start = start;
  }

  authorize({ user, verb, resource, path }: AccessAttributes): AccessDecision {
    const access = this.#accessOf(user);
    return resource === undefined ? access.authorizePath(verb, path) : access.authorizeResource(verb, resource);
  }

  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus {
    const scopes = namespace === "" ? [""] : ["", namespace];
    const grants = scopes.flatMap((scope) => this.#policy.grants(user, scope));
    const rules = grants.flatMap((grant) => ("error" in grant ? [] : grant.rules));
    const errors = grants.flatMap((grant) => ("error" in grant ? [grant.error] : []));
    return {
      resourceRules: rules.flatMap(resourceRuleOf),
      nonResourceRules: rules.flatMap(nonResourceRuleOf),
      incomplete: false,
      ...(errors.length === 0 ? {} : { evaluationError: joinedErrors(errors) }),
    };
  }

  #accessOf(user: User): UserAccess {
    if (this.#budget.isSpent) this.#forget();
    const known = this.#byUser.get(user);
    if (known?.revision === this.#policy.revision) return known;
    const identity = JSON.stringify([user.name, user.groups]);
    let access = this.#byIdentity.get(identity);
    if (access?.revision !== this.#policy.revision) {
      access = new UserAccess(this.#policy, user, this.#budget);
      if (identity.length <= IDENTITY_LENGTH_MAX) this.#byIdentity.set(identity, access);
    }
    this.#byUser.set(user, access);
    return access;
  }

  #forget(): void {
    this.#byUser = new WeakMap();
    this.#byIdentity.clear();
    this.#budget = new AnswerBudget(ANSWERS_MAX);
  }
}

function resourceRuleOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): readonly ResourceRule[] {
  if (resources.length === 0) return [];
  return [{ verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) }];
}

function nonResourceRuleOf({ verbs, nonResourceURLs = [] }: PolicyRule): readonly NonResourceRule[] {
  return nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }];
}

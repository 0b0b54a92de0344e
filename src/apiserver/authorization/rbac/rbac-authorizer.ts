/**
 * Who may do what, by roles that are bound to users, groups and service accounts (--authorization-mode=RBAC). It only ever allows; what
 * it does not allow, another way of deciding may.
 *
 * Roles and bindings are followed and found by whom they are for (policy.ts); answers are kept by identity until any role or binding
 * changes (user-access.ts), so that a grant and its end count from the moment they are written.
 */
import type { NonResourceRule, ResourceRule, SubjectRulesReviewStatus } from "../../../api/generated/authorization.k8s.io/v1.ts";
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { Lru } from "../../../base/lru.ts";
import type { AccessAttributes, AccessDecision, AuthorizationModule, AuthorizationModuleFactory } from "../../framework/authorization.ts";
import type { User } from "../../framework/request.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { Policy } from "./policy.ts";
import { AnswerBudget, UserAccess } from "./user-access.ts";

/** Identities whose answers are kept, those asked about last. */
const IDENTITIES_MAX = 1_000;
/** Characters of a user's name and groups, beyond which an identity is not kept: reviews ask about any. */
const IDENTITY_LENGTH_MAX = 8_192;
/** Of all identities together, at most some 100 MB. Beyond it everything is forgotten, and what is asked again is worked out again. */
const ANSWERS_MAX = 200_000;

export const rbacAuthorizer: AuthorizationModuleFactory = ({ objects }) => {
  const policy = new Policy();
  return new RbacAuthorizer(policy, () => policy.follow(objects));
};

export class RbacAuthorizer implements AuthorizationModule {
  readonly name = "RBAC";
  readonly start: () => Promise<void>;
  readonly #policy: Policy;
  /** For who asks with one and the same value each time: components of this process, and connections. */
  #byUser = new WeakMap<User, UserAccess>();
  /** For the others: two values that name the same user and groups are one identity. */
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

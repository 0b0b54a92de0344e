/**
 * Runs the authorizers one after the other: the first that allows or denies decides, and without an opinion the request is rejected.
 * Members of system:masters are always allowed, before any authorizer is called, so that broken roles can be repaired.
 */
import type { SubjectRulesReviewStatus } from "../../api/generated/authorization.k8s.io/v1.ts";
import {
  MASTERS,
  NO_OPINION,
  type AccessAttributes,
  type AccessDecision,
  type AuthorizationContext,
  type AuthorizationModule,
  type Authorizer,
} from "../framework/authorization.ts";
import type { User } from "../framework/request.ts";
import { authorizationModules } from "./all.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

const ALLOWED: AccessDecision = { allowed: true, authorizer: MASTERS };

export class AuthorizationChain implements Authorizer {
  readonly #modules: readonly AuthorizationModule[];

  /** `modes` as in --authorization-mode, in order; `known`: all available ones. */
  constructor(modes: readonly string[], context: AuthorizationContext, known = authorizationModules) {
    this.#modules = modes.map((mode) => {
      const make = Object.hasOwn(known, mode) ? known[mode] : undefined;
      if (make === undefined) throw new Error(`Unknown authorization mode "${mode}"; known modes are ${Object.keys(known).join(", ")}`);
      return make(context);
    });
  }

  /** Resolves when all authorizers are synced. */
  async start(): Promise<void> {
    await Promise.all(this.#modules.map((module) => module.start()));
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    if (attributes.user.groups.includes(MASTERS)) return ALLOWED;
    const abstained: AccessDecision[] = [];
    for (const module of this.#modules) {
      const decision = module.authorize(attributes);
      // The deciding authorizer's reason alone is reported.
      if (decision.allowed || decision.denied === true) return decision;
      abstained.push(decision);
    }
    return refused(abstained);
  }

  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus {
    const known = this.#modules.flatMap((module) => module.rulesFor?.(user, namespace) ?? []);
    const errors = known.flatMap(({ evaluationError = "" }) => (evaluationError === "" ? [] : [evaluationError]));
    return {
      resourceRules: known.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: known.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: known.length < this.#modules.length || known.some(({ incomplete }) => incomplete),
      ...(errors.length === 0 ? {} : { evaluationError: joinedErrors(errors) }),
    };
  }
}

/** No opinion: the reasons of all authorizers are reported. */
function refused(decisions: readonly AccessDecision[]): AccessDecision {
  const reasons = decisions.flatMap(({ reason = "" }) => (reason === "" ? [] : [reason]));
  const errors = decisions.flatMap(({ evaluationError = "" }) => (evaluationError === "" ? [] : [evaluationError]));
  if (reasons.length === 0 && errors.length === 0) return NO_OPINION;
  return {
    allowed: false,
    ...(reasons.length === 0 ? {} : { reason: reasons.join("\n") }),
    ...(errors.length === 0 ? {} : { evaluationError: joinedErrors(errors) }),
  };
}

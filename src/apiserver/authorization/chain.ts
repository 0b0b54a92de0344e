/**
 * All ways of deciding, asked one after the other: the first that allows or denies decides, and where nobody has an opinion it is
 * refused. Members of system:masters may do everything, before anybody is asked: whatever becomes of roles, somebody can mend them.
 */
import type { SubjectRulesReviewStatus } from "../../api/generated/authorization.k8s.io/v1.ts";
import type { AccessAttributes, AccessDecision, AuthorizationContext, AuthorizationModule, Authorizer } from "../authorization.ts";
import type { User } from "../request.ts";
import { authorizationModules } from "./all.ts";

export const MASTERS = "system:masters";

const ALLOWED: AccessDecision = { allowed: true };

export class AuthorizationChain implements Authorizer {
  readonly #modules: readonly AuthorizationModule[];

  /** `modes` as --authorization-mode names them, in order. */
  constructor(modes: readonly string[], context: AuthorizationContext) {
    this.#modules = modes.map((mode) => {
      const make = Object.hasOwn(authorizationModules, mode) ? authorizationModules[mode] : undefined;
      if (make === undefined) throw new Error(`Cannot decide by "${mode}": there are ${Object.keys(authorizationModules).join(", ")}`);
      return make(context);
    });
  }

  /** Resolves when everybody knows what is there. */
  async start(): Promise<void> {
    await Promise.all(this.#modules.map((module) => module.start()));
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    if (attributes.user.groups.includes(MASTERS)) return ALLOWED;
    const reasons: string[] = [];
    const errors: string[] = [];
    for (const module of this.#modules) {
      const decision = module.authorize(attributes);
      if (decision.reason) reasons.push(decision.reason);
      if (decision.evaluationError) errors.push(decision.evaluationError);
      if (decision.allowed || decision.denied === true) return decided(decision, reasons, errors);
    }
    return decided({ allowed: false }, reasons, errors);
  }

  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus {
    const known = this.#modules.flatMap((module) => module.rulesFor?.(user, namespace) ?? []);
    const errors = known.flatMap(({ evaluationError = "" }) => (evaluationError === "" ? [] : [evaluationError]));
    return {
      resourceRules: known.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: known.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: known.length < this.#modules.length || known.some(({ incomplete }) => incomplete),
      ...(errors.length === 0 ? {} : { evaluationError: errors.join(", ") }),
    };
  }
}

function decided({ allowed, denied }: AccessDecision, reasons: readonly string[], errors: readonly string[]): AccessDecision {
  return {
    allowed,
    ...(denied === true ? { denied } : {}),
    ...(reasons.length === 0 ? {} : { reason: reasons.join("\n") }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(", ") }),
  };
}

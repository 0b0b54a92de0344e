/**
 * Rules of an AuthenticationConfiguration: conditions on the claims of a token, and on the user that they are mapped to. A token that does
 * not fulfil them, or for which one cannot be evaluated, is rejected.
 */
import { internalFieldError, invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { compile } from "../../../cel/compile.ts";
import type { Compilation, Program } from "../../../cel/contract.ts";
import { createEnvironment, type Environment } from "../../../cel/environment.ts";
import { declared, declareList, declareMap, declareObject } from "../../../cel/types/declaration.ts";
import { ANY, BOOL, isSameType, mapOf, STRING } from "../../../cel/types/type.ts";
import type { CelValue } from "../../../cel/values/value.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { TokenRule } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { claimsValue } from "./claims-value.ts";

/** What a rule is about, which is also the name of its variable. */
export type RuleSubject = "claims" | "user";

const strings = declareList(declared.string);
const USER = declareObject("kubernetes.UserInfo", {
  username: declared.string,
  uid: declared.string,
  groups: strings,
  extra: declareMap(declared.string, strings),
});

const ENVIRONMENTS: Readonly<Record<RuleSubject, Environment>> = {
  claims: createEnvironment({ variables: { claims: mapOf(STRING, ANY) } }),
  user: createEnvironment({ variables: { user: USER.type }, declarations: [USER] }),
};

export function* validateTokenRule(subject: RuleSubject, expression: string, at: string): Iterable<FieldError> {
  const compilation = compileRule(subject, expression);
  if (compilation.ok) {
    if (!isSameType(compilation.program.outputType, BOOL)) yield invalid(at, expression, "must evaluate to bool");
  } else if (compilation.stage === "program") {
    yield internalFieldError(at, `program instantiation failed: ${compilation.message}`);
  } else {
    yield invalid(at, expression, `compilation failed: ${compilation.message}`);
  }
}

function compileRule(subject: RuleSubject, expression: string): Compilation {
  return compile(ENVIRONMENTS[subject], expression);
}

interface CompiledRule extends TokenRule {
  readonly program: Program;
}

const DOING: Readonly<Record<RuleSubject, string>> = {
  claims: "oidc: error evaluating claim validation expression",
  user: "oidc: error evaluating user info validation rule",
};

/** Compiled rules of one issuer. */
export class TokenRules {
  readonly #claims: readonly CompiledRule[];
  readonly #user: readonly CompiledRule[];

  /** Throws an error if a rule does not compile: validateTokenRule was not asked. */
  constructor({
    claimRules = [],
    userRules = [],
  }: {
    readonly claimRules?: readonly TokenRule[];
    readonly userRules?: readonly TokenRule[];
  }) {
    this.#claims = claimRules.map((rule) => compiled("claims", rule));
    this.#user = userRules.map((rule) => compiled("user", rule));
  }

  /** Throws an AuthenticationError if a rule is not fulfilled. */
  check(claims: JsonObject, { name, uid = "", groups, extra = {} }: User): void {
    if (this.#claims.length > 0) checkRules("claims", this.#claims, claimsValue(claims));
    if (this.#user.length > 0) checkRules("user", this.#user, claimsValue({ username: name, uid, groups, extra }));
  }
}

function compiled(subject: RuleSubject, rule: TokenRule): CompiledRule {
  const compilation = compileRule(subject, rule.expression);
  if (!compilation.ok) throw new Error(`Cannot use the rule ${rule.expression}: ${compilation.message}. Correct the expression`);
  return { ...rule, program: compilation.program };
}

/** As upstream, all are evaluated before the first that is not fulfilled is reported. */
function checkRules(subject: RuleSubject, rules: readonly CompiledRule[], value: CelValue): void {
  const doing = DOING[subject];
  const results = rules.map(({ expression, program }) => {
    const evaluation = program.evaluate({ [subject]: value });
    if (evaluation.ok) return evaluation.value;
    throw new AuthenticationError(`${doing}: expression '${expression}' resulted in error: ${evaluation.error.message}`);
  });
  for (const [index, { expression, message }] of rules.entries()) {
    if (results[index] === true) continue;
    throw new AuthenticationError(`${doing}: validation expression '${expression}' failed: ${message}`);
  }
}

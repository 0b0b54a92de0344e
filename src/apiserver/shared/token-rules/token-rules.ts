/**
 * Rules of an AuthenticationConfiguration: conditions on the claims of a token, and on the user that they are mapped to. A token that does
 * not fulfil them, or for which one cannot be evaluated, is rejected.
 */
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { internalFieldError, invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { compile } from "../../../cel/compile.ts";
import type { Compilation, CompilationFailure, Program } from "../../../cel/contract.ts";
import { createEnvironment, type Environment } from "../../../cel/environment.ts";
import { selectsField } from "../../../cel/selects-field.ts";
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
  const compilation = compileFor(subject, expression);
  if (!compilation.ok) yield failure(compilation, expression, at);
  else if (!isSameType(compilation.program.outputType, BOOL)) yield invalid(at, expression, "must evaluate to bool");
}

/** Problems of an expression that maps claims. It may have any type: those of claims are known with a token only. */
export function* validateClaimMapping(expression: string, at: string): Iterable<FieldError> {
  const compilation = compileFor("claims", expression);
  if (!compilation.ok) yield failure(compilation, expression, at);
}

/** True if the expression reads this claim by its name (`claims.email`, `has(claims.email)`, `claims.?email`). */
export function readsClaim(expression: string, claim: string): boolean {
  return selectsField(ENVIRONMENTS.claims, expression, { variable: "claims", field: claim });
}

function failure({ stage, message }: CompilationFailure, expression: string, at: string): FieldError {
  if (stage === "program") return internalFieldError(at, `program instantiation failed: ${message}`);
  return invalid(at, expression, `compilation failed: ${message}`);
}

/** Compiles an expression on the claims of a token, or on its user. */
export function compileFor(subject: RuleSubject, expression: string): Compilation {
  return compile(ENVIRONMENTS[subject], expression);
}

/** Throws an Error if the expression does not compile: the configuration was not validated. */
export function programOf(subject: RuleSubject, expression: string): Program {
  const compilation = compileFor(subject, expression);
  if (compilation.ok) return compilation.program;
  throw new Error(`Cannot use the expression ${expression}: ${compilation.message}. Correct the expression`);
}

/** Rejects with an AuthenticationError if the expression has no value for these claims, or this user. */
export async function evaluated(
  turns: EvaluationTurns,
  {
    subject,
    program,
    value,
    doing,
  }: { readonly subject: RuleSubject; readonly program: Program; readonly value: CelValue; readonly doing?: string },
): Promise<CelValue> {
  const evaluation = await turns.complete(program.start({ [subject]: value }));
  if (evaluation.ok) return evaluation.value;
  const prefix = doing === undefined ? "" : `${doing}: `;
  throw new AuthenticationError(`${prefix}expression '${program.source}' resulted in error: ${evaluation.error.message}`);
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

  /** Undefined: nothing is to be evaluated. Rejects with an AuthenticationError if a rule is not fulfilled. */
  check(turns: EvaluationTurns, claims: JsonObject, user: User): Promise<void> | undefined {
    return this.#claims.length + this.#user.length === 0 ? undefined : this.#check(turns, claims, user);
  }

  async #check(turns: EvaluationTurns, claims: JsonObject, { name, uid = "", groups, extra = {} }: User): Promise<void> {
    if (this.#claims.length > 0) await checkRules(turns, "claims", this.#claims, claimsValue(claims));
    if (this.#user.length > 0) await checkRules(turns, "user", this.#user, claimsValue({ username: name, uid, groups, extra }));
  }
}

function compiled(subject: RuleSubject, rule: TokenRule): CompiledRule {
  return { ...rule, program: programOf(subject, rule.expression) };
}

/** As upstream, all are evaluated before the first that is not fulfilled is reported. */
async function checkRules(turns: EvaluationTurns, subject: RuleSubject, rules: readonly CompiledRule[], value: CelValue): Promise<void> {
  const doing = DOING[subject];
  const results: CelValue[] = [];
  for (const { program } of rules) results.push(await evaluated(turns, { subject, program, value, doing }));
  for (const [index, { expression, message }] of rules.entries()) {
    if (results[index] === true) continue;
    throw new AuthenticationError(`${doing}: validation expression '${expression}' failed: ${message}`);
  }
}

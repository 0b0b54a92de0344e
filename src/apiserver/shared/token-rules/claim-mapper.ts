/**
 * Expressions of an AuthenticationConfiguration that map the claims of a token to attributes of its user. Types of claims are known with a
 * token only, so that results are checked for each; a token whose expressions have no usable result is rejected with upstream's message.
 */
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Program } from "../../../cel/contract.ts";
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { ListValue, type CelValue } from "../../../cel/values/value.ts";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { ClaimMappings } from "../../framework/identity.ts";
import { claimsValue } from "./claims-value.ts";
import { evaluated, programOf } from "./token-rules.ts";

/** Attributes that have an expression; the others come from claims. */
export interface MappedAttributes {
  readonly name?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const USERNAME = "oidc: error evaluating username claim expression";
const GROUPS = "oidc: error evaluating group claim expression";
const UID = "oidc: error evaluating uid claim expression";
const EXTRA = "oidc: error evaluating extra claim expression";

/** Compiled mappings of one issuer. */
export class ClaimMapper {
  readonly #username: Program | undefined;
  readonly #groups: Program | undefined;
  readonly #uid: Program | undefined;
  readonly #extra: readonly { readonly key: string; readonly program: Program }[];

  /** Throws an Error if an expression does not compile: validateClaimMapping was not asked. */
  constructor({ username, groups, uid, extra = [] }: ClaimMappings) {
    this.#username = compiled(username);
    this.#groups = compiled(groups);
    this.#uid = compiled(uid);
    this.#extra = extra.map(({ key, expression }) => ({ key, program: programOf("claims", expression) }));
  }

  /** Rejects with an AuthenticationError if an expression has no usable result. */
  async map(turns: EvaluationTurns, claims: JsonObject): Promise<MappedAttributes> {
    const value = claimsValue(claims);
    const evaluate: Evaluate = (program, doing) =>
      evaluated(turns, { subject: "claims", program, value, ...(doing === undefined ? {} : { doing }) });
    const name = this.#username === undefined ? undefined : await usernameOf(this.#username, evaluate);
    const groups = this.#groups === undefined ? undefined : textsOf(await evaluate(this.#groups, GROUPS), GROUPS);
    const uid = this.#uid === undefined ? undefined : await textOf(this.#uid, evaluate, UID, "uid");
    const extra = await this.#extraOf(evaluate);
    return {
      ...(name === undefined ? {} : { name }),
      ...(groups === undefined ? {} : { groups }),
      ...(uid === undefined ? {} : { uid }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    };
  }

  async #extraOf(evaluate: Evaluate): Promise<Readonly<Record<string, readonly string[]>>> {
    const results: { readonly key: string; readonly program: Program; readonly result: CelValue }[] = [];
    for (const { key, program } of this.#extra) results.push({ key, program, result: await evaluate(program) });
    return Object.fromEntries(
      results
        .map(({ key, program, result }) => [key, textsOf(result, `${EXTRA}: ${program.source}`)] as const)
        .filter(([, texts]) => texts.length > 0),
    );
  }
}

function compiled(expression: string | undefined): Program | undefined {
  return expression === undefined ? undefined : programOf("claims", expression);
}

/** Evaluates an expression on the claims of a token. `doing` begins the message of an error. */
type Evaluate = (program: Program, doing?: string) => Promise<CelValue>;

async function usernameOf(program: Program, evaluate: Evaluate): Promise<string> {
  const name = await textOf(program, evaluate, USERNAME, "username");
  if (name === "") throw new AuthenticationError("oidc: empty username via CEL expression is not allowed");
  return name;
}

async function textOf(program: Program, evaluate: Evaluate, doing: string, attribute: string): Promise<string> {
  const result = await evaluate(program, doing);
  if (typeof result === "string") return result;
  throw new AuthenticationError(`${doing}: ${attribute} claim expression must return a string`);
}

/** Empty strings are left out, and null is the empty list. */
function textsOf(value: CelValue, doing: string): readonly string[] {
  if (value === null) return [];
  const elements = value instanceof ListValue ? Array.from({ length: value.size }, (_, index) => value.at(index)) : [value];
  return elements
    .map((element) => {
      if (typeof element === "string") return element;
      throw new AuthenticationError(`${doing}: expression must return a string or a list of strings`);
    })
    .filter((text) => text !== "");
}

/**
 * The expressions of validation rules (x-kubernetes-validations), compiled for the schema that they belong to: `self` is the value,
 * `oldSelf` the one that it replaces. Compiled when a definition is validated, and again where objects are.
 */
import type { ValidationRule } from "../../../generated/apiextensions.k8s.io/v1.ts";
import type { Bindings, Compilation, Program } from "../../../../cel/contract.ts";
import type { Declaration } from "../../../../cel/types/declaration.ts";
import type { Json } from "../../../machinery/object.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** The parts of the expression language that rules use. */
export interface RuleLanguage {
  /** The type of values of a schema; undefined: rules cannot refer to them. `isResource`: with kind, apiVersion and metadata. */
  declare(schema: JsonSchema, isResource: boolean): Declaration | undefined;
  /** Compiles an expression over `self` and `oldSelf`, which is an optional value on request. Yields where the event loop should be yielded. */
  compile(self: Declaration, source: string, options: { readonly optionalOldSelf: boolean }): Generator<void, Compilation>;
  /** Binds `self`, and `oldSelf` if there is a previous value or `oldSelf` is optional. */
  bind(values: RuleValues, options: { readonly optionalOldSelf: boolean }): Bindings;
}

export interface RuleValues {
  readonly schema: JsonSchema;
  readonly isResource: boolean;
  readonly value: Json;
  /** Undefined: no value corresponds. */
  readonly previous: Json | undefined;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent: the rule is empty, or cannot be compiled. */
  readonly program?: Program;
  readonly error?: string;
  readonly usesOldSelf: boolean;
  readonly message?: Program;
  readonly messageError?: string;
}

/** Yields where the event loop should be yielded. */
export function* compileRule(language: RuleLanguage, self: Declaration, rule: ValidationRule): Generator<void, CompiledRule> {
  const options = { optionalOldSelf: rule.optionalOldSelf === true };
  if (rule.rule.trim() === "") return { rule, usesOldSelf: false };
  const compiled = yield* language.compile(self, rule.rule, options);
  if (!compiled.ok) return { rule, usesOldSelf: false, error: failureOf(compiled, "") };
  const { program } = compiled;
  if (program.outputType.kind !== "bool") return { rule, usesOldSelf: false, error: "cel expression must evaluate to a bool" };
  return { rule, program, usesOldSelf: program.references.has("oldSelf"), ...(yield* compileMessage(language, self, rule)) };
}

function* compileMessage(
  language: RuleLanguage,
  self: Declaration,
  rule: ValidationRule,
): Generator<void, Pick<CompiledRule, "message" | "messageError">> {
  const { messageExpression = "", optionalOldSelf } = rule;
  if (messageExpression === "") return {};
  const compiled = yield* language.compile(self, messageExpression, { optionalOldSelf: optionalOldSelf === true });
  if (!compiled.ok) return { messageError: failureOf(compiled, "messageExpression ") };
  const { program } = compiled;
  return program.outputType.kind === "string" ? { message: program } : { messageError: "messageExpression must evaluate to a string" };
}

function failureOf({ stage, message }: Extract<Compilation, { readonly ok: false }>, prefix: string): string {
  if (stage === "compile") return `${prefix}compilation failed: ${message}`;
  return prefix === "" ? `program instantiation failed: ${message}` : `${prefix}instantiation failed: ${message}`;
}

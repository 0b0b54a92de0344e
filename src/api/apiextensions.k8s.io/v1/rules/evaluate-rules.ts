/**
 * Evaluates the validation rules of a schema on an object: those of every value in it that has some, from the outside in. Rules with
 * `oldSelf` apply to changes of values that correspond to a previous one; violations of other rules by unchanged values are warnings only
 * (ratcheting). All rules of a request share one cost budget.
 */
import { paused, pauseIfTickSpent } from "../../../expression-pauses.ts";
import {
  MESSAGE_EXPRESSION_SIZE_MAX,
  RUNTIME_BUDGET,
  type Bindings,
  type Evaluation as RuleResult,
  type Program,
  type SuspendedEvaluation,
} from "../../../../cel/contract.ts";
import { deepEqual } from "../../../../base/deep.ts";
import type { ValidationRule } from "../../../generated/apiextensions.k8s.io/v1.ts";
import {
  child,
  describeFieldError,
  duplicate,
  element,
  forbidden,
  invalid,
  required,
  type FieldError,
} from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { byteLength } from "../../../machinery/names.ts";
import { PAUSE } from "../../../machinery/validation-errors.ts";
import type { RuleEvaluation, Warn } from "../custom-resource/validate.ts";
import { correlatedItems, correlatedMember } from "../schema/correlation.ts";
import { findField } from "../schema/field-path.ts";
import { itemsOf, type JsonSchema, memberOf, otherPropertiesOf, propertiesOf, someSchema } from "../schema/json-schema.ts";
import { invalidValue } from "../schema/shown-value.ts";
import type { DefaultEvaluation } from "../schema/validate-defaults.ts";
import { compileRule, type CompiledRule, type RuleLanguage, type RuleValues } from "./rule-language.ts";

/** Undefined: the schema has no rules. */
export function ruleEvaluation(language: RuleLanguage, schema: JsonSchema): RuleEvaluation | undefined {
  const rules = nodeOf(language, schema, true);
  if (rules === undefined) return undefined;
  return function* (object, previous, warn) {
    const evaluation = new Evaluation(language, warn);
    yield* evaluation.visit(rules, { value: object, previous, path: "", correlated: previous, isCorrelated: previous !== undefined });
    yield* evaluation.errors;
  };
}

/** For the defaults of one schema, which share a budget. */
export function defaultEvaluation(language: RuleLanguage): DefaultEvaluation {
  const evaluation = new Evaluation(language, undefined);
  return function* (schema, value, at) {
    const rules = nodeOf(language, schema);
    if (rules === undefined || evaluation.isSpent) return;
    // As an unchanged value and as a new one: rules with an optional oldSelf distinguish them.
    for (const previous of [value, undefined]) {
      const { length } = evaluation.errors;
      yield* evaluation.visit(rules, { value, previous, path: at, correlated: undefined, isCorrelated: false });
      if (evaluation.errors.length > length) return yield* evaluation.errors.slice(length);
    }
  };
}

interface LazyRule {
  readonly compile: () => Generator<void, CompiledRule>;
  compiled: CompiledRule | undefined;
}

/** A schema with rules, or with rules below it. */
interface RuleNode {
  readonly schema: JsonSchema;
  readonly isResource: boolean;
  /** Compiled when first evaluated: a schema may have thousands. */
  readonly rules: readonly LazyRule[];
  readonly items: RuleNode | undefined;
  readonly others: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
}

function hasRules(schema: JsonSchema): boolean {
  return someSchema(schema, (inner) => (inner["x-kubernetes-validations"] ?? []).length > 0);
}

function nodeOf(language: RuleLanguage, schema: JsonSchema | undefined, isRoot = false): RuleNode | undefined {
  if (schema === undefined || !hasRules(schema)) return undefined;
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const own = schema["x-kubernetes-validations"] ?? [];
  const self = own.length === 0 ? undefined : language.declare(schema, isResource);
  const properties = propertiesOf(schema).flatMap(([name, property]) => {
    const node = nodeOf(language, property);
    return node === undefined ? [] : [[name, node] as const];
  });
  return {
    schema,
    isResource,
    rules: self === undefined ? [] : own.map((rule) => ({ compile: () => compileRule(language, self, rule), compiled: undefined })),
    items: nodeOf(language, itemsOf(schema)),
    others: nodeOf(language, otherPropertiesOf(schema)),
    properties: new Map(properties),
  };
}

/** One value of the object. */
interface Place {
  readonly value: Json;
  /** What `oldSelf` is; undefined: no value corresponds. */
  readonly previous: Json | undefined;
  readonly path: string;
  /** The nearest enclosing value that corresponds to a previous one, and that one: what ratcheting compares. */
  readonly correlated: Json | undefined;
  readonly isCorrelated: boolean;
}

/** Yields PAUSE where the event loop should be yielded. */
type Pauses<T = void> = Generator<FieldError, T>;

function* completed(started: RuleResult | SuspendedEvaluation): Pauses<RuleResult> {
  let pending = started;
  while ("resume" in pending) {
    yield PAUSE;
    pending = pending.resume();
  }
  return pending;
}

/** No further rules are evaluated. */
class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

class Evaluation {
  readonly errors: FieldError[] = [];
  readonly #language: RuleLanguage;
  readonly #warn: Warn | undefined;
  #budget = RUNTIME_BUDGET;
  #isSpent = false;

  constructor(language: RuleLanguage, warn: Warn | undefined) {
    this.#language = language;
    this.#warn = warn;
  }

  get isSpent(): boolean {
    return this.#isSpent;
  }

  *visit(node: RuleNode, place: Place): Pauses {
    try {
      yield* this.#visit(node, place);
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      this.#isSpent = true;
    }
  }

  *#visit(node: RuleNode, place: Place): Pauses {
    const { value } = place;
    if (value === null) return;
    if (node.rules.length > 0) yield* this.#evaluate(node, place);
    if (Array.isArray(value)) yield* this.#visitItems(node, value as readonly Json[], place);
    else if (isObject(value)) yield* this.#visitMembers(node, value, place);
  }

  *#visitItems({ schema, items }: RuleNode, list: readonly Json[], place: Place): Pauses {
    if (items === undefined) return;
    const before = correlatedItems(schema, place.previous);
    for (const [index, item] of list.entries()) yield* this.#visit(items, inside(place, item, before?.(item), element(place.path, index)));
  }

  *#visitMembers({ others, properties }: RuleNode, object: JsonObject, place: Place): Pauses {
    const { previous, path } = place;
    for (const [name, value = null] of Object.entries(object)) {
      if (others !== undefined)
        yield* this.#visit(others, inside(place, value, correlatedMember(previous, name, "-"), element(path, name)));
    }
    for (const [name, node] of properties) {
      const value = memberOf(object, name);
      if (value !== undefined) yield* this.#visit(node, inside(place, value, correlatedMember(previous, name, "-"), child(path, name)));
    }
  }

  *#evaluate(node: RuleNode, place: Place): Pauses {
    if (this.#budget <= 0) this.#stop(place, node.schema, OUT_OF_BUDGET);
    const { value, previous } = place;
    const values: RuleValues = { schema: node.schema, isResource: node.isResource, value, previous: previous ?? undefined };
    for (const lazy of node.rules) {
      yield* pauseIfTickSpent();
      const compiled = (lazy.compiled ??= yield* paused(lazy.compile()));
      const { rule, program, error, usesOldSelf } = compiled;
      const optionalOldSelf = rule.optionalOldSelf === true;
      if (error !== undefined) this.errors.push(invalid(place.path, node.schema.type ?? "", `rule compile error: ${error}`));
      if (program === undefined || (usesOldSelf && values.previous === undefined && !optionalOldSelf)) continue;
      const bindings = this.#language.bind(values, { optionalOldSelf });
      yield* this.#evaluateRule(node, place, compiled, { program, bindings });
    }
  }

  *#evaluateRule(
    { schema }: RuleNode,
    place: Place,
    compiled: CompiledRule,
    { program, bindings }: { readonly program: Program; readonly bindings: Bindings },
  ): Pauses {
    const { rule, usesOldSelf } = compiled;
    const result = yield* completed(program.start(bindings));
    if (result.cost > this.#budget) this.#stop(place, schema, OUT_OF_BUDGET);
    this.#budget -= result.cost;
    if (!result.ok) {
      const message = result.error.message;
      if (result.reason === "cost") {
        this.#stop(
          place,
          schema,
          `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${textOf(rule)}`,
        );
      }
      const what = message.startsWith("no such overload")
        ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${textOf(rule)}`
        : `${message} evaluating rule: ${textOf(rule)}`;
      this.errors.push(invalid(place.path, schema.type ?? "", what));
      return;
    }
    if (result.value === true) return;
    const isRatcheted = !usesOldSelf && isUnchanged(place);
    // Decided before the message is computed, which may be costly.
    if (isRatcheted && this.#warn === undefined) return;
    const report = (error: FieldError) => void (isRatcheted ? this.#warn?.(describeFieldError(error)) : this.errors.push(error));
    const stop = (message: string): never => this.#stop(place, schema, message, report);
    const detail = (yield* this.#messageOf(compiled, bindings, stop)) ?? messageOrDefault(rule);
    const at =
      rule.fieldPath === undefined || rule.fieldPath === "" ? place.path : child(place.path, findField(rule.fieldPath, schema).path);
    report(violation(rule, at, shownValue(schema, place.value), detail));
  }

  /** Undefined: the rule's own message is used. */
  *#messageOf({ message, rule }: CompiledRule, bindings: Bindings, stop: (why: string) => never): Pauses<string | undefined> {
    if (message === undefined) return undefined;
    const result = yield* completed(message.start(bindings));
    if (result.cost > this.#budget) {
      stop("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run");
    }
    this.#budget -= result.cost;
    if (!result.ok) {
      if (result.reason !== "cost") return undefined;
      const source = JSON.stringify(rule.messageExpression ?? "");
      stop(`no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`);
    }
    const text = typeof result.value === "string" ? result.value.trim() : "";
    return text === "" || text.includes("\n") || byteLength(text) > MESSAGE_EXPRESSION_SIZE_MAX ? undefined : text;
  }

  #stop(place: Place, schema: JsonSchema, message: string, report = (error: FieldError) => void this.errors.push(error)): never {
    report(invalid(place.path, schema.type ?? "", message));
    throw new BudgetSpent();
  }
}

const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** A value inside of another: if none corresponds to it, ratcheting compares the enclosing one. */
function inside(outer: Place, value: Json, previous: Json | undefined, path: string): Place {
  if (!outer.isCorrelated) return { value, previous, path, correlated: undefined, isCorrelated: false };
  if (previous === undefined) {
    const isSame = isUnchanged(outer);
    return { value, previous, path, correlated: isSame ? value : undefined, isCorrelated: isSame };
  }
  return { value, previous, path, correlated: previous, isCorrelated: true };
}

function isUnchanged({ value, correlated, isCorrelated }: Place): boolean {
  return isCorrelated && (correlated === value || deepEqual(correlated, value));
}

function textOf({ rule, message = "" }: ValidationRule): string {
  return (message === "" ? rule : message).trim();
}

function messageOrDefault({ rule, message = "" }: ValidationRule): string {
  return message === "" ? `failed rule: ${rule.trim()}` : message.trim();
}

/** Objects and lists are not quoted. */
function shownValue({ type }: JsonSchema, value: Json): Json | undefined {
  return type === "object" || type === "array" ? undefined : value;
}

function violation({ reason }: ValidationRule, at: string, value: Json | undefined, detail: string): FieldError {
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(at, detail);
    case "FieldValueRequired":
      return required(at, detail);
    case "FieldValueDuplicate":
      return value === undefined ? { type: "FieldValueDuplicate", field: at, body: "Duplicate value" } : duplicate(at, value);
    default:
      return value === undefined
        ? { type: "FieldValueInvalid", field: at, body: `Invalid value: ${detail}` }
        : invalidValue(at, value, detail);
  }
}

/**
 * Validates a value by a schema, with the messages of upstream's OpenAPI validator, which people know from custom resources. All violations
 * are reported. Where a value must match one of several schemas, the violations of the nearest one are reported too. Not here: CEL rules,
 * metadata of embedded resources (metadata.ts), keys of lists (list-types.ts).
 */
import { deepEqual } from "../../../../base/deep.ts";
import { quoteGo } from "../../../machinery/codec/go-text.ts";
import { firstCauses } from "../../../machinery/validation-errors.ts";
import { invalid, type FieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json, type JsonObject } from "../../../machinery/object.ts";
import { Budget } from "./budget.ts";
import { EnumIndex } from "./enum-index.ts";
import { Patterns } from "./expression/match.ts";
import {
  type Failure,
  failureAt,
  invalidAt,
  invalidWhole,
  notInEnumAt,
  requiredAt,
  tooLongAt,
  tooManyAt,
  Verdict,
  wrongTypeAt,
} from "./failure.ts";
import { formatCheck, isSupportedFormat } from "./formats.ts";
import { correlatedItems, correlatedMember } from "./correlation.ts";
import { additionalPropertiesOf, itemsOf, type JsonSchema, memberOf, propertiesOf, propertyOf } from "./json-schema.ts";
import { validateNumber } from "./validate-number.ts";
import { isInt64, isNearlyWhole, isNumber } from "./numbers.ts";
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";

export interface ValueRules {
  /** The path of the value. Default: it is the whole object. */
  readonly at?: string;
  /**
   * "object": unrecognized formats are ignored, and x-kubernetes-int-or-string is a type. "default": neither, as upstream validates the
   * defaults of a schema. Default: "object".
   */
  readonly of?: "object" | "default";
  /** Patterns of the enclosing object, with its budget. Default: the value is the whole object. */
  readonly patterns?: Patterns;
  /**
   * The value that this one replaces: violations in parts that equal the corresponding part of it are ignored (validation ratcheting).
   * Members correspond by name, items of lists with keys by these.
   */
  readonly previous?: Json | undefined;
}

/** Throws BudgetError. */
export function validateValue(value: Json, schema: JsonSchema, rules: ValueRules = {}): readonly FieldError[] {
  const { at = "", of = "object", patterns = new Patterns(new Budget()), previous } = rules;
  return firstCauses(new ValueValidator(of, patterns).judgePart(value, schema, "", previous).toFieldErrors(at));
}

/** A value's schema type; upstream distinguishes integers and other numbers. */
function typeOf(value: Json): string {
  if (value === null) return "null";
  if (isNumber(value)) return isInt64(value) ? "integer" : "number";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

const NUMBER_FORMATS: Readonly<Record<string, string>> = { integer: "int64", number: "float64" };

/** Cost of a check, in steps of the budget. */
const JUDGING_STEPS = 10;
const PROPERTY_STEPS = 2;
const CHARACTERS_PER_STEP = 4;

class ValueValidator {
  readonly #of: "object" | "default";
  readonly #patterns: Patterns;
  readonly #budget: Budget;
  readonly #enums = new Map<readonly Json[], EnumIndex>();
  /** Computed once for each schema, which may be that of every item of a list. */
  readonly #properties = new Map<JsonSchema, ReturnType<typeof propertiesOf>>();

  constructor(of: "object" | "default", patterns: Patterns) {
    this.#of = of;
    this.#patterns = patterns;
    this.#budget = patterns.budget;
  }

  /** `previous`: the corresponding part of the previous value; undefined if none corresponds. */
  judgePart(value: Json, schema: JsonSchema, path: string, previous: Json | undefined): Verdict {
    // Unchanged parts usually keep their identity, and then nothing below is judged.
    if (previous === value) return new Verdict(this.#budget);
    const verdict = this.judge(value, schema, path, previous);
    return !verdict.isValid && previous !== undefined && deepEqual(previous, value) ? new Verdict(this.#budget) : verdict;
  }

  judge(value: Json, schema: JsonSchema, path: string, previous: Json | undefined): Verdict {
    this.#budget.spend(JUDGING_STEPS);
    const verdict = new Verdict(this.#budget);
    this.#judgeType(verdict, value, schema, path);
    if (value === null) {
      this.#judgeEnum(verdict, value, schema, path);
      return verdict;
    }
    this.#judgeCombinations(verdict, value, schema, path, previous);
    if (typeof value === "string") this.#judgeText(verdict, value, schema, path);
    if (isNumber(value)) {
      validateNumber(verdict, value, schema, path);
      verdict.matches += 2;
    }
    if (Array.isArray(value)) this.#judgeList(verdict, value, schema, path, previous);
    this.#judgeEnum(verdict, value, schema, path);
    verdict.matches++;
    if (isObject(value)) {
      this.#judgeObject(verdict, value, schema, path, previous);
      verdict.matches++;
    }
    verdict.matches++;
    return verdict;
  }

  #propertiesOf(schema: JsonSchema): ReturnType<typeof propertiesOf> {
    const listed = this.#properties.get(schema) ?? propertiesOf(schema);
    if (listed.length > 0) this.#properties.set(schema, listed);
    return listed;
  }

  #typesOf(schema: JsonSchema): readonly string[] {
    if (this.#of === "object" && schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
    return schema.type === undefined ? [] : [schema.type];
  }

  #formatOf(schema: JsonSchema): string {
    const { format = "" } = schema;
    const [type = "", another] = this.#typesOf(schema);
    return this.#of === "default" || isSupportedFormat(format, another === undefined ? type : "") ? format : "";
  }

  #judgeType(verdict: Verdict, value: Json, schema: JsonSchema, path: string): void {
    const types = this.#typesOf(schema);
    const format = this.#formatOf(schema);
    if (value !== null && types.length === 0 && format === "") return;
    const wrong = wrongType(value, types, { format, nullable: schema.nullable === true });
    if (wrong === undefined) verdict.matches++;
    else verdict.add(wrongTypeAt(path, wrong.expected, wrong.found));
    if (value !== null) verdict.matches++;
  }

  /** anyOf, oneOf, allOf, not. */
  #judgeCombinations(verdict: Verdict, value: Json, schema: JsonSchema, path: string, previous: Json | undefined): void {
    const { anyOf = [], oneOf = [], allOf = [], not } = schema;
    const judge: Judge = (part) => this.judge(value, part, path, previous);
    if (anyOf.length > 0) judgeAnyOf(verdict, anyOf, path, judge);
    if (oneOf.length > 0) judgeOneOf(verdict, oneOf, path, judge);
    if (allOf.length > 0) judgeAllOf(verdict, allOf, path, judge);
    if (not !== undefined && judge(not).isValid) {
      verdict.add(invalidWhole(`${quoteGo(path)} must not validate the schema (not)`));
    }
    verdict.matches += 2;
  }

  /** Of length and pattern only the first violation is reported. */
  #judgeText(verdict: Verdict, value: string, schema: JsonSchema, path: string): void {
    const { maxLength, minLength, pattern = "" } = schema;
    this.#budget.spend(value.length / CHARACTERS_PER_STEP);
    const length = maxLength === undefined && minLength === undefined ? 0 : lengthOf(value);
    verdict.matches++;
    if (maxLength !== undefined && length > maxLength) verdict.add(tooLongAt(path, maxLength));
    else if (minLength !== undefined && length < minLength) {
      verdict.add(invalidAt(path, `should be at least ${minLength} chars long`, value));
    } else if (pattern !== "") this.#judgePattern(verdict, value, pattern, path);
    const format = this.#formatOf(schema);
    const isInFormat = formatCheck(format);
    if (isInFormat === undefined) return;
    verdict.matches++;
    if (!isInFormat(value, this.#patterns)) verdict.add(wrongTypeAt(path, format, value));
  }

  #judgePattern(verdict: Verdict, value: string, pattern: string, path: string): void {
    const problem = this.#patterns.problemOf(pattern);
    if (problem !== undefined) verdict.add(invalidAt(path, `should match '${pattern}, but pattern is invalid: ${problem}'`, value));
    else if (!this.#patterns.matches(pattern, value)) verdict.add(invalidAt(path, `should match '${pattern}'`, value));
  }

  #judgeList(verdict: Verdict, list: readonly Json[], schema: JsonSchema, path: string, previous: Json | undefined): void {
    const { minItems, maxItems, uniqueItems } = schema;
    const items = itemsOf(schema);
    const before = items === undefined ? undefined : correlatedItems(schema, previous);
    if (items !== undefined) {
      for (const [index, item] of list.entries()) verdict.merge(this.judgePart(item, items, `${path}[${index}]`, before?.(item)));
    }
    if (minItems !== undefined && list.length < minItems) {
      verdict.add(invalidAt(path, `should have at least ${minItems} items`, list.length));
    }
    if (maxItems !== undefined && list.length > maxItems) verdict.add(tooManyAt(path, "items", { actual: list.length, max: maxItems }));
    if (uniqueItems === true && new Set(list.map(writeStableJson)).size < list.length) {
      verdict.add(invalidAt(path, "shouldn't contain duplicates", ""));
    }
    verdict.matches += 2;
  }

  #judgeObject(verdict: Verdict, object: JsonObject, schema: JsonSchema, path: string, previous: Json | undefined): void {
    const { minProperties, maxProperties } = schema;
    const count = Object.keys(object).length;
    const properties = this.#propertiesOf(schema);
    this.#budget.spend((count + properties.length + (schema.required ?? []).length) * PROPERTY_STEPS);
    if (minProperties !== undefined && count < minProperties) {
      verdict.add(invalidAt(path, `should have at least ${minProperties} properties`, count));
    }
    if (maxProperties !== undefined && count > maxProperties) {
      verdict.add(tooManyAt(path, "properties", { actual: count, max: maxProperties }));
    }
    this.#judgeOthers(verdict, object, schema, path, previous);
    for (const [name, property] of properties) {
      const value = memberOf(object, name);
      if (value !== undefined) {
        verdict.merge(this.judgePart(value, property, path === "" ? name : `${path}.${name}`, correlatedMember(previous, name, path)));
      }
    }
    for (const name of schema.required ?? []) if (!Object.hasOwn(object, name)) verdict.add(requiredAt(`${path}.${name}`));
  }

  /** Members that are no properties. */
  #judgeOthers(verdict: Verdict, object: JsonObject, schema: JsonSchema, path: string, previous: Json | undefined): void {
    const additional = additionalPropertiesOf(schema);
    if (additional === undefined) return;
    for (const [name, value = null] of Object.entries(object)) {
      if (propertyOf(schema, name) !== undefined) continue;
      if (!additional.allowed) verdict.add(forbiddenProperty(path, name));
      else if (additional.schema !== undefined) {
        verdict.merge(this.judgePart(value, additional.schema, `${path}.${name}`, correlatedMember(previous, name, path)));
      }
    }
  }

  #judgeEnum(verdict: Verdict, value: Json, schema: JsonSchema, path: string): void {
    const { enum: allowed = [] } = schema;
    if (allowed.length === 0) return;
    const words = this.#enums.get(allowed) ?? new EnumIndex(allowed);
    this.#enums.set(allowed, words);
    if (!words.has(value)) verdict.add(notInEnumAt(path, value, words));
  }
}

/** Judges the value by one of several schemas. */
type Judge = (schema: JsonSchema) => Verdict;

function judgeAnyOf(verdict: Verdict, schemas: readonly JsonSchema[], path: string, judge: Judge): void {
  let nearest: Verdict | undefined;
  for (const schema of schemas) {
    const one = judge(schema);
    if (one.isValid) return verdict.merge(one);
    if (nearest === undefined || one.matches > nearest.matches) nearest = one;
  }
  verdict.add(invalidWhole(`${quoteGo(path)} must validate at least one schema (anyOf)`));
  if (nearest !== undefined) verdict.merge(nearest);
}

function judgeOneOf(verdict: Verdict, schemas: readonly JsonSchema[], path: string, judge: Judge): void {
  const verdicts = schemas.map(judge);
  const valid = verdicts.filter((one) => one.isValid);
  if (valid.length === 1) return verdict.merge(valid[0] as Verdict);
  const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  verdict.add(invalidWhole(`${quoteGo(path)} must validate one and only one schema (oneOf). ${found}`));
  if (valid.length === 0) verdict.merge(verdicts.reduce((nearest, one) => (one.matches > nearest.matches ? one : nearest)));
}

function judgeAllOf(verdict: Verdict, schemas: readonly JsonSchema[], path: string, judge: Judge): void {
  let valid = 0;
  for (const schema of schemas) {
    const one = judge(schema);
    if (one.isValid) valid++;
    verdict.merge(one);
  }
  if (valid === schemas.length) return;
  verdict.add(invalidWhole(`${quoteGo(path)} must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`));
}

/** The message names the property, the field is that of the object. */
function forbiddenProperty(path: string, name: string): Failure {
  const sentence = `${path}.${name} in body is a forbidden property`;
  return failureAt(path, sentence, (field) => invalid(field, name, sentence));
}

/** In characters, of which one may be two UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

interface TypeRules {
  readonly format: string;
  readonly nullable: boolean;
}

function wrongType(
  value: Json,
  types: readonly string[],
  { format, nullable }: TypeRules,
): { expected: string; found: string } | undefined {
  const found = typeOf(value);
  const expected = types.join(",");
  if (value === null) return types.length === 0 || types.includes("null") || nullable ? undefined : { expected, found };
  const isTextOrList = found === "string" || found === "array";
  const fits = types.includes(found) || isNumberOf(value, types);
  if (format !== "" && !isTextOrList && !fits && NUMBER_FORMATS[found] !== format) {
    return { expected: format, found: NUMBER_FORMATS[found] ?? "" };
  }
  // A format replaces the type of a string, so that only the format is validated.
  if (format !== "" && isTextOrList && !types.includes("number") && !types.includes("integer")) return undefined;
  return fits ? undefined : { expected, found };
}

/** An integer is a number too, and the reverse within the tolerance. */
function isNumberOf(value: Json, types: readonly string[]): boolean {
  if (!isNumber(value)) return false;
  return isInt64(value) ? types.includes("number") : types.includes("integer") && isNearlyWhole(Number(value));
}

/**
 * Decodes parsed JSON to what upstream's types would hold, in one walk along the schema: checks types, reports and drops unknown fields,
 * drops nulls, canonicalizes quantities, times, durations and bytes, and drops or writes zeros as the fields say (Field.zero). A part that
 * needs no change is returned as is, and a value that needs none allocates nothing.
 *
 * Not here: defaults, validation, duplicates (json-parser.ts), the message for the client (strict.ts, body-error.ts). Integers may not be
 * written as `1.0` or `1e3`, as upstream; free-form numbers lose such a spelling, which upstream keeps.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ObjectSchema, Schema } from "../schema.ts";
import { DecodeError, goType, wrongType } from "./decode-error.ts";
import {
  type ChoicePlan,
  type FieldPlan,
  isZero,
  type ListPlan,
  type MapPlan,
  type ObjectPlan,
  type Plan,
  planOf,
  type ScalarPlan,
  writtenZero,
} from "./decode-plan.ts";
import { MISTAKES_MAX, type NumberLiterals, pathText } from "./json-parser.ts";
import { setMember } from "./set-member.ts";
import { isInt32, isInt64, normaliseBytes, normaliseDuration, normaliseMicroTime, normaliseQuantity, normaliseTime } from "./scalar.ts";

export interface Decoded {
  readonly object: Json;
  /** "spec.template.spec.containers[0].foo", up to upstream's limit. */
  readonly unknownFields: readonly string[];
}

const NONE_UNKNOWN: readonly string[] = [];

/** Throws a DecodeError. The value must not be nested more deeply than parsers allow (DEPTH_MAX). */
export function decodeBySchema(value: Json, schema: ObjectSchema, literals?: NumberLiterals): Decoded {
  const walk = new Walk(literals);
  const object = walk.value(value, planOf(schema));
  // Upstream continues after the first value of a wrong type, and reports it at the end.
  if (walk.firstError !== undefined) throw walk.firstError;
  return { object, unknownFields: walk.unknownFields ?? NONE_UNKNOWN };
}

type Members = Readonly<Record<string, Json | undefined>>;
/** Collects unknown members; undefined: they are dropped silently. */
type Changes = Map<string, Json | undefined>;

class Walk {
  firstError: DecodeError | undefined;
  unknownFields: string[] | undefined;
  /** Current path and the schemas along it, for messages. Allocated once. */
  readonly #path: (string | number)[] = [];
  readonly #owners: Schema[] = [];
  #depth = 0;
  /** Number of enclosing unions. */
  #choices = 0;
  readonly #literals: NumberLiterals | undefined;

  constructor(literals: NumberLiterals | undefined) {
    this.#literals = literals;
  }

  value(value: Json, plan: Plan): Json {
    switch (plan.form) {
      case "object":
        return isObject(value) ? this.#object(value, plan) : this.#wrongType(value, plan);
      case "list":
        return Array.isArray(value) ? this.#list(value as readonly Json[], plan) : this.#wrongType(value, plan);
      case "map":
        return isObject(value) ? this.#map(value, plan) : this.#wrongType(value, plan);
      case "choice":
        return this.#choice(value, plan);
      default:
        return this.#scalar(value, plan);
    }
  }

  #object(object: Members, plan: ObjectPlan): Json {
    let changes: Changes | undefined;
    let writtenGiven = 0;
    for (const key in object) {
      const member = object[key];
      const field = plan.fields.get(key);
      if (field === undefined) {
        if (plan.preservesUnknown) continue;
        this.#unknown(key);
        (changes ??= new Map()).set(key, undefined);
        continue;
      }
      if (field.isWritten) writtenGiven++;
      const next = this.#member(member, key, field, plan.schema);
      if (next !== member) (changes ??= new Map()).set(key, next);
    }
    const isWhole = writtenGiven === plan.written.length;
    if (isWhole && changes === undefined) return object;
    return rebuild(object, changes, isWhole ? [] : plan.written);
  }

  /** Undefined: the member is dropped. */
  #member(member: Json | undefined, key: string, field: FieldPlan, owner: ObjectSchema): Json | undefined {
    if (member === null || member === undefined) return field.isWritten ? writtenZero(field.plan) : undefined;
    const inner = field.plan;
    // The most common case.
    if (inner.form === "string" && typeof member === "string") return member === "" && field.zero === "omit" ? undefined : member;
    this.#enter(key, owner);
    const next = this.value(member, inner);
    this.#depth--;
    return next === null || (field.zero === "omit" && isZero(next, inner)) ? undefined : next;
  }

  #list(list: readonly Json[], plan: ListPlan): Json {
    const items = plan.items;
    let changed: Json[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const item = list[index] as Json;
      const next = this.#element(item, index, items, plan.schema);
      if (next !== item) (changed ??= [...list])[index] = next;
    }
    return changed ?? list;
  }

  #map(map: Members, plan: MapPlan): Json {
    const values = plan.values;
    let changes: Changes | undefined;
    for (const key in map) {
      const member = map[key];
      const next = member === undefined ? undefined : this.#element(member, key, values, plan.schema);
      if (next !== member || member === undefined) (changes ??= new Map()).set(key, next);
    }
    return changes === undefined ? map : rebuild(map, changes, []);
  }

  /** In lists and maps a null is the zero value. */
  #element(value: Json, at: string | number, inner: Plan, owner: Schema): Json {
    if (inner.form === "string" && typeof value === "string") return value;
    // Empty bytes are stored as absent, and returned as such.
    if (value === null) return inner.form === "bytes" ? "" : writtenZero(inner);
    this.#enter(at, owner);
    const next = this.value(value, inner);
    this.#depth--;
    return next;
  }

  /**
   * Upstream's union types have decoders of their own, which are not strict: unknown fields inside are dropped silently, and the first
   * value of a wrong type ends decoding.
   */
  #choice(value: Json, plan: ChoicePlan): Json {
    this.#choices++;
    const chosen = isObject(value) ? this.value(value, plan.object) : this.#other(value, plan.other);
    this.#choices--;
    return chosen;
  }

  /** For a list union upstream treats every other value, and the empty list, as absent. */
  #other(value: Json, plan: Plan): Json {
    if (plan.form === "list") return Array.isArray(value) && value.length > 0 ? this.value(value, plan) : null;
    if (typeof value !== "boolean") throw new DecodeError("boolean or JSON schema expected");
    return value;
  }

  #scalar(value: Json, plan: ScalarPlan): Json {
    switch (plan.form) {
      case "any":
        return value;
      case "string":
        return typeof value === "string" ? value : this.#wrongType(value, plan);
      case "boolean":
        return typeof value === "boolean" ? value : this.#wrongType(value, plan);
      case "int32":
        return isInt32(value) && this.#isSpeltWhole(value) ? value : this.#wrongType(value, plan);
      case "int64":
        return isInt64(value) && this.#isSpeltWhole(value) ? value : this.#wrongType(value, plan);
      case "number":
        if (typeof value === "bigint") return Number(value);
        return typeof value === "number" ? value : this.#wrongType(value, plan);
      case "int-or-string":
        return typeof value === "string" || (isInt32(value) && this.#isSpeltWhole(value)) ? value : this.#wrongType(value, plan, "int32");
      case "bytes":
        return typeof value === "string" ? this.#bytes(value) : this.#wrongType(value, plan);
      case "quantity":
        return normaliseQuantity(this.#literalOf(value) ?? textOfQuantity(value));
      case "time":
        return typeof value === "string" ? normaliseTime(value) : this.#wrongText(value);
      case "micro-time":
        return typeof value === "string" ? normaliseMicroTime(value) : this.#wrongText(value);
      case "duration":
        return typeof value === "string" ? normaliseDuration(value) : this.#wrongText(value);
    }
  }

  #isSpeltWhole(value: Json): boolean {
    return this.#literals === undefined || this.#literalOf(value) === undefined;
  }

  /** Spelling of a number, if it is not the canonical one. */
  #literalOf(value: Json): string | undefined {
    if (this.#literals === undefined || typeof value !== "number") return undefined;
    const literal = this.#literals.get(pathText(this.#path.slice(0, this.#depth)));
    // A patch may have replaced this number by another.
    return literal !== undefined && Number(literal) === value ? literal : undefined;
  }

  /** Base64 is decoded by upstream's parser itself, so its error is reported at the end. */
  #bytes(text: string): Json {
    try {
      return normaliseBytes(text);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      this.firstError ??= error;
      return text;
    }
  }

  #enter(at: string | number, owner: Schema): void {
    this.#path[this.#depth] = at;
    this.#owners[this.#depth] = owner;
    this.#depth++;
  }

  #unknown(key: string): void {
    if (this.#choices > 0) return;
    this.unknownFields ??= [];
    if (this.unknownFields.length < MISTAKES_MAX) this.unknownFields.push(pathText([...this.#path.slice(0, this.#depth), key]));
  }

  #wrongType(value: Json, plan: Plan, expected = goType(plan.schema)): Json {
    const error = wrongType(this.#place(), { value, literal: this.#literalOf(value) }, expected);
    if (this.#choices > 0) throw error;
    this.firstError ??= error;
    return value;
  }

  /** Types with their own decoder end decoding at once. */
  #wrongText(value: Json): never {
    throw wrongType(this.#place(), { value }, "string");
  }

  #place(): { readonly path: readonly (string | number)[]; readonly owners: readonly Schema[] } {
    return { path: this.#path.slice(0, this.#depth), owners: this.#owners.slice(0, this.#depth) };
  }
}

/** A quantity may be a number in JSON; other types are rejected with the message for malformed texts, as upstream does. */
function textOfQuantity(value: Json): string {
  return typeof value === "object" || typeof value === "boolean" ? JSON.stringify(value) : String(value);
}

/** A copy with the changes, followed by missing members of `written`. */
function rebuild(object: Members, changes: Changes | undefined, written: readonly FieldPlan[]): JsonObject {
  const copy: Record<string, Json> = {};
  for (const key in object) {
    const member = changes?.has(key) === true ? changes.get(key) : object[key];
    if (member !== undefined) setMember(copy, key, member);
  }
  for (const field of written) if (!Object.hasOwn(copy, field.name)) setMember(copy, field.name, writtenZero(field.plan));
  return copy;
}

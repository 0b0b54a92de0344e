/**
 * JSON as values, read in place: an element is only looked at when an expression asks for it. Without a schema an integral number is an
 * int, any other a double, as upstream decodes unstructured objects. Not here: reading by schema (schema-value.ts).
 */
import { INT_MAX, INT_MIN } from "../syntax/literals.ts";
import { describe } from "./describe.ts";
import { ConcatList } from "./containers.ts";
import { spend } from "./meter.ts";
import { ListValue, MapValue, Uint, type CelResult, type CelValue, Duration, OpaqueValue, Timestamp, CelError, Optional } from "./value.ts";
import { formatDurationText, formatTimestamp } from "./time.ts";

/** The value of JSON that has no schema. */
export function dynValue(json: unknown): CelValue {
  switch (typeof json) {
    case "string":
    case "boolean":
      return json;
    case "number":
      return numberValue(json);
    case "bigint":
      return json < INT_MIN || json > INT_MAX ? Number(json) : json;
    case "object":
      if (json === null) return null;
      return Array.isArray(json) ? new JsonList(json) : new JsonMap(json as Readonly<Record<string, unknown>>);
    default:
      return null;
  }
}

/** Integral numbers beyond int64 are doubles. */
function numberValue(number: number): CelValue {
  if (!Number.isInteger(number)) return number;
  if (Number.isSafeInteger(number)) return BigInt(number);
  const integer = BigInt(number);
  return integer < INT_MIN || integer > INT_MAX ? number : integer;
}

class JsonList extends ListValue {
  readonly #json: readonly unknown[];

  constructor(json: readonly unknown[]) {
    super();
    this.#json = json;
  }

  get size(): number {
    return this.#json.length;
  }

  at(index: number): CelResult {
    return dynValue(this.#json[index]);
  }

  concat(other: ListValue): ListValue {
    return other.size === 0 ? this : this.size === 0 ? other : new ConcatList(this, other);
  }
}

/** Steps of listing a key. */
const KEY_STEPS = 40;

class JsonMap extends MapValue {
  readonly #json: Readonly<Record<string, unknown>>;
  #keys: readonly string[] | undefined;

  constructor(json: Readonly<Record<string, unknown>>) {
    super();
    this.#json = json;
  }

  get size(): number {
    return this.keys().length;
  }

  find(key: CelValue): CelResult | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.#json, key)) return undefined;
    const json = this.#json[key];
    return json === undefined ? undefined : dynValue(json);
  }

  keys(): readonly string[] {
    if (this.#keys !== undefined) return this.#keys;
    const keys = Object.keys(this.#json);
    spend(keys.length * KEY_STEPS);
    return (this.#keys = keys.filter((key) => this.#json[key] !== undefined));
  }
}

/** An object whose fields are computed when first read, and then kept: `variables` of a policy. */
export class LazyMap extends MapValue {
  readonly #fields: ReadonlyMap<string, () => CelResult>;
  readonly #computed = new Map<string, CelResult>();

  constructor(fields: ReadonlyMap<string, () => CelResult>) {
    super();
    this.#fields = fields;
  }

  get size(): number {
    return this.#fields.size;
  }

  find(key: CelValue): CelResult | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.#computed.get(key);
    if (known !== undefined) return known;
    const value = this.#fields.get(key)?.();
    if (value !== undefined) this.#computed.set(key, value);
    return value;
  }

  keys(): readonly string[] {
    return [...this.#fields.keys()];
  }
}

/** The JSON of a value: ints and uints as numbers (bigint beyond 2^53), bytes in base64, times as text, absent optionals as null. */
export function toJson(value: CelValue): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number") return value;
  if (typeof value === "bigint") return jsonInteger(value);
  if (value instanceof Uint) return jsonInteger(value.value);
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, index) => jsonOfResult(value.at(index)));
  if (value instanceof MapValue) {
    return Object.fromEntries(value.keys().map((key) => [describe(key), jsonOfResult(value.find(key) ?? null)]));
  }
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
  if (value instanceof Duration) return formatDurationText(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  return value instanceof OpaqueValue ? value.toJson() : value.type.name;
}

function jsonInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function jsonOfResult(result: CelResult): unknown {
  return result instanceof CelError ? null : toJson(result);
}

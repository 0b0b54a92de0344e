/**
 * Copy-on-write edits of JSON: an edit copies an object when the first member really changes, and returns the original when none did.
 * Everything that a patch does not touch keeps its identity, and frozen inputs are fine. `__proto__` is an ordinary member. A member that
 * is undefined counts as absent.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";

/** `Array.isArray` does not narrow readonly arrays. */
export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own member; never an inherited one such as `constructor`. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Defined members, in order. */
export function membersOf(object: JsonObject): [name: string, value: Json][] {
  return Object.entries(object).filter((member): member is [string, Json] => member[1] !== undefined);
}

export class ObjectEdit {
  readonly #original: JsonObject;
  /** All members, once one has changed. A Map, because any name is possible. */
  #changed: Map<string, Json> | undefined;

  constructor(original: JsonObject) {
    this.#original = original;
  }

  get(name: string): Json | undefined {
    return this.#changed === undefined ? memberOf(this.#original, name) : this.#changed.get(name);
  }

  names(): string[] {
    return this.#changed === undefined ? membersOf(this.#original).map(([name]) => name) : [...this.#changed.keys()];
  }

  /** An existing member keeps its position, a new one is appended. */
  set(name: string, value: Json): void {
    if (this.get(name) !== value) this.#toChange().set(name, value);
  }

  delete(name: string): void {
    if (this.get(name) !== undefined) this.#toChange().delete(name);
  }

  result(): JsonObject {
    return this.#changed === undefined ? this.#original : Object.fromEntries(this.#changed);
  }

  #toChange(): Map<string, Json> {
    this.#changed ??= new Map(membersOf(this.#original));
    return this.#changed;
  }
}

/** `list` itself if `candidate` has identical items. */
export function sameOr(list: readonly Json[], candidate: readonly Json[]): readonly Json[] {
  return list.length === candidate.length && candidate.every((item, index) => item === list[index]) ? list : candidate;
}

/** The value without null members, at any depth and in lists too. Null items of lists stay. */
export function withoutNulls(value: Json): Json {
  if (isJsonList(value)) return sameOr(value, value.map(withoutNulls));
  if (!isObject(value)) return value;
  const edit = new ObjectEdit(value);
  for (const [name, member] of membersOf(value)) {
    if (member === null) edit.delete(name);
    else edit.set(name, withoutNulls(member));
  }
  return edit.result();
}

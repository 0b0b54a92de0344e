/**
 * JSON inside of annotations, decoded and encoded as Go does. Decoding is into a struct: member names are case-insensitive, unknown ones
 * are skipped, null equals absent, and one value of a wrong type invalidates the whole text, which is then ignored.
 */
import { escapeForPages } from "../../machinery/codec/stable-json.ts";
import { canonicalQuantity } from "../../machinery/quantity.ts";
import { canonicalTime } from "../../machinery/time.ts";

/** Go escapes HTML characters and two line separators. */
export function writeGoJson(value: unknown): string {
  return escapeForPages(JSON.stringify(value));
}

/** Undefined if the text is malformed. */
export function readGoJson<T>(text: string, read: (value: unknown) => T): T | undefined {
  try {
    return read(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function readList<T>(value: unknown, read: (members: Members) => T): readonly T[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new TypeError("Cannot read a list from JSON that holds something else");
  return value.map((item) => read(new Members(item)));
}

/** The members of one object. Each method throws for a value of another type, and returns undefined for an absent one. */
export class Members {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(value: unknown) {
    if (typeof value !== "object" || Array.isArray(value)) throw new TypeError("Cannot read an object from JSON that holds something else");
    this.#values = new Map(Object.entries(value ?? {}).map(([name, member]) => [name.toLowerCase(), member]));
  }

  text(name: string): string | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === "string") return value;
    throw wrongType(name);
  }

  integer(name: string): number | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value)) return value;
    throw wrongType(name);
  }

  quantity(name: string): string | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value === "string" || typeof value === "number") return canonicalQuantity(String(value));
    throw wrongType(name);
  }

  time(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const time = canonicalTime(text);
    if (time === undefined) throw wrongType(name);
    return time;
  }

  object<T>(name: string, read: (members: Members) => T): T | undefined {
    const value = this.#get(name);
    return value === undefined ? undefined : read(new Members(value));
  }

  list<T>(name: string, read: (members: Members) => T): readonly T[] | undefined {
    const value = this.#get(name);
    return value === undefined ? undefined : readList(value, read);
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) throw wrongType(name);
    return value;
  }

  textMap(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) throw wrongType(name);
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    if (!entries.every((entry): entry is [string, string] => typeof entry[1] === "string")) throw wrongType(name);
    return Object.fromEntries(entries);
  }

  #get(name: string): unknown {
    return this.#values.get(name.toLowerCase()) ?? undefined;
  }
}

function wrongType(name: string): TypeError {
  return new TypeError(`Cannot read "${name}" from JSON: it has another type than it should`);
}

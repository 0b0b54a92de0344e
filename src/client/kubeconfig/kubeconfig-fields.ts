/** Reads members of a decoded file with type checks, and collects every mismatch instead of stopping at the first. */
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { decodeText } from "../../api/machinery/codec/json.ts";
import { isObject, type Json, type JsonObject } from "../../api/machinery/object.ts";

export class Fields {
  /** One sentence per problem. */
  readonly mistakes: string[];
  readonly #object: JsonObject;
  readonly #path: string;

  constructor(value: Json | undefined, path = "", mistakes: string[] = []) {
    this.mistakes = mistakes;
    this.#path = path;
    this.#object = isObject(value) ? value : {};
    if (value !== undefined && value !== null && !isObject(value)) this.#wrong(path === "" ? "it" : path, "an object", value);
  }

  /** "" if it is absent. */
  text(name: string): string {
    const value = this.#member(name);
    if (typeof value === "string" || value === undefined) return value ?? "";
    this.#wrong(this.pathOf(name), "a string", value);
    return "";
  }

  flag(name: string): boolean {
    const value = this.#member(name);
    if (typeof value === "boolean" || value === undefined) return value ?? false;
    this.#wrong(this.pathOf(name), "true or false", value);
    return false;
  }

  /** Base64-encoded text; "" if it is absent. */
  encodedText(name: string): string {
    try {
      return decodeText(decodeBase64(this.text(name)));
    } catch (error) {
      this.mistakes.push(`${this.pathOf(name)} must be base64: ${(error as Error).message}`);
      return "";
    }
  }

  texts(name: string): readonly string[] {
    return this.#list(name).flatMap((value, index) => {
      if (typeof value === "string") return [value];
      this.#wrong(`${this.pathOf(name)}[${index}]`, "a string", value);
      return [];
    });
  }

  objects(name: string): readonly Fields[] {
    return this.#list(name).map((value, index) => new Fields(value, `${this.pathOf(name)}[${index}]`, this.mistakes));
  }

  /** Empty if it is absent; `has` distinguishes. */
  object(name: string): Fields {
    return new Fields(this.#member(name), this.pathOf(name), this.mistakes);
  }

  has(name: string): boolean {
    return this.#member(name) !== undefined;
  }

  value(name: string): Json | undefined {
    return this.#member(name);
  }

  names(): readonly string[] {
    return Object.keys(this.#object);
  }

  /** Path of a member from the top. */
  pathOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #list(name: string): readonly Json[] {
    const value = this.#member(name);
    if (Array.isArray(value)) return value;
    if (value !== undefined) this.#wrong(this.pathOf(name), "a list", value);
    return [];
  }

  /** Null counts as absent. */
  #member(name: string): Json | undefined {
    return Object.hasOwn(this.#object, name) ? (this.#object[name] ?? undefined) : undefined;
  }

  /** Reports the type and not the value: it may be a secret. */
  #wrong(path: string, wanted: string, value: Json): void {
    const found = Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
    this.mistakes.push(`${path} must be ${wanted}, is ${found}`);
  }
}

/** Reads fields of a configuration file and collects all problems, so that they are reported at once. */
import { child, describeFieldError, type FieldError } from "../api/machinery/field-error.ts";
import type { Json, JsonObject } from "../api/machinery/object.ts";

export class FieldReader {
  readonly problems: string[] = [];

  /** An object with only these members; empty if it is not an object. */
  object(value: Json | undefined, at: string, known: readonly string[]): JsonObject {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problems.push(`${at === "" ? "The document" : at} must be an object`);
      return {};
    }
    const object = value as JsonObject;
    for (const name of Object.keys(object)) if (!known.includes(name)) this.problems.push(`Unknown field ${child(at, name)}`);
    return object;
  }

  list(value: Json | undefined, at: string): readonly Json[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value as readonly Json[];
    this.problems.push(`${at} must be a list`);
    return [];
  }

  /** "" if absent. */
  text(object: JsonObject, name: string, at: string): string {
    return this.textOf(Object.hasOwn(object, name) ? object[name] : undefined, child(at, name));
  }

  textOf(value: Json | undefined, at: string): string {
    if (typeof value === "string") return value;
    if (value !== undefined && value !== null) this.problems.push(`${at} must be a string`);
    return "";
  }

  add(problem: FieldError): void {
    this.problems.push(describeFieldError(problem));
  }
}

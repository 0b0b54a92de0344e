/**
 * Makes any value printable: a JSON value of limited size. Never throws, whatever the input (cycles, BigInt, throwing getters and toJSON,
 * revoked proxies), since a log line must not break the code it reports on. What is too long or too deep is truncated, with a mark in
 * square brackets.
 */

/** Maximum number of characters per call, not counting the marks: a few screens. */
const TOTAL_CHARS_MAX = 8_192;
/** Maximum nesting depth; objects logged by mistake (a server, a socket) are deep. */
const DEPTH_MAX = 6;
/** Maximum length of a chain of causes. An error may even be its own cause. */
const CAUSES_MAX = 8;

/** What JSON.stringify prints faithfully. */
export type Printable = null | boolean | number | string | readonly Printable[] | PrintableObject;
export interface PrintableObject {
  readonly [name: string]: Printable;
}

/** Errors become their message with their causes; undefined members are omitted, as in JSON. */
export function printable(value: unknown): Printable {
  return new Printer().print(value, []);
}

class Printer {
  #charsLeft = TOTAL_CHARS_MAX;

  /** `inside`: the ancestors of `value`, outermost first. */
  print(value: unknown, inside: readonly object[]): Printable {
    this.#charsLeft--;
    try {
      if (typeof value === "object" && value !== null) return this.#printObject(value, inside);
      return this.#printSimple(value);
    } catch (error) {
      return this.#unprintable(error);
    }
  }

  #printSimple(value: unknown): Printable {
    switch (typeof value) {
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "string":
      case "bigint":
      case "symbol":
        return this.#shortened(String(value));
      case "function":
        return "[function]";
      default:
        return null;
    }
  }

  #printObject(value: object, outside: readonly object[]): Printable {
    if (outside.includes(value)) return "[circular]";
    if (outside.length >= DEPTH_MAX) return "[deep]";
    const inside = [...outside, value];
    if (value instanceof Error) return this.#shortened(this.#errorText(value, inside));
    // Dates and other values that define toJSON.
    if ("toJSON" in value && typeof value.toJSON === "function") return this.print(value.toJSON(), inside);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value)) return this.#printArray(value, inside);
    return this.#printMembers(value, inside);
  }

  #printArray(array: readonly unknown[], inside: readonly object[]): Printable {
    const shown: Printable[] = [];
    for (const item of array) {
      if (this.#charsLeft <= 0) return [...shown, `[${array.length - shown.length} more]`];
      shown.push(this.print(item, inside));
    }
    return shown;
  }

  #printMembers(object: object, inside: readonly object[]): Printable {
    // Without a prototype, a member named "__proto__" is an ordinary member.
    const shown: Record<string, Printable> = Object.create(null);
    const names = Object.keys(object);
    for (const [index, name] of names.entries()) {
      if (this.#charsLeft <= 0) {
        shown["..."] = `[${names.length - index} more]`;
        break;
      }
      // The name first, or a long value would use up its share.
      const shownName = this.#shortened(name);
      const value = this.#printMember(object, name, inside);
      if (value !== undefined) shown[shownName] = value;
    }
    return shown;
  }

  #printMember(object: object, name: string, inside: readonly object[]): Printable | undefined {
    try {
      const value = (object as Record<string, unknown>)[name];
      return value === undefined ? undefined : this.print(value, inside);
    } catch (error) {
      return this.#unprintable(error);
    }
  }

  /** "Cannot open the store: permission denied": the message, then the causes separated by colons, omitting those already quoted. */
  #errorText(error: Error, inside: readonly object[]): string {
    const parts: string[] = [];
    let current: unknown = error;
    for (let depth = 0; current instanceof Error && depth < CAUSES_MAX; depth++) {
      const text = this.#ownText(current, inside);
      if (!parts.some((part) => part.includes(text))) parts.push(text);
      current = current.cause;
    }
    if (current instanceof Error) parts.push("[more causes]");
    else if (current !== undefined && current !== null) parts.push(this.#asText(current, inside));
    return parts.join(": ");
  }

  #ownText(error: Error, inside: readonly object[]): string {
    const text = error.message === "" ? error.name : error.message;
    if (!(error instanceof AggregateError)) return text;
    const each = error.errors.map((inner) => this.#asText(inner, inside));
    return `${text} [${each.join("; ")}]`;
  }

  #asText(value: unknown, inside: readonly object[]): string {
    const text = this.print(value, inside);
    return typeof text === "string" ? text : JSON.stringify(text);
  }

  #unprintable(error: unknown): string {
    let reason = "";
    try {
      if (error instanceof Error) reason = `: ${error.message}`;
    } catch {
      // Even the reason is unreadable; the mark alone remains.
    }
    return `[unprintable${this.#shortened(reason)}]`;
  }

  #shortened(text: string): string {
    const shown = text.slice(0, Math.max(0, this.#charsLeft));
    this.#charsLeft -= shown.length;
    return shown.length === text.length ? text : `${shown}[${text.length - shown.length} more]`;
  }
}

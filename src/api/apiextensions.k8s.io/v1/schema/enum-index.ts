/**
 * An index of enum values, so that a value is found without a linear search: a list of values may be as long as the enum. Compared as
 * upstream: a fractional value is truncated before it is compared with an integer. Null never matches.
 */
import { writeJson } from "../../../machinery/codec/json.ts";
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";
import type { Json } from "../../../machinery/object.ts";
import { isInt64, isNumber } from "./numbers.ts";

export class EnumIndex {
  /** In the format of messages. */
  readonly words: readonly string[];
  /** All of them. */
  readonly text: string;
  readonly #wholeNumbers = new Set<number>();
  readonly #otherNumbers = new Set<number>();
  /** Values other than numbers, as JSON in which equal values have equal text. */
  readonly #others = new Set<string>();

  constructor(allowed: readonly Json[]) {
    this.words = allowed.map((word) => (typeof word === "string" ? word : writeJson(word)));
    this.text = this.words.join(" ");
    for (const word of allowed) {
      if (!isNumber(word)) this.#others.add(writeStableJson(word));
      else (isInt64(word) ? this.#wholeNumbers : this.#otherNumbers).add(Number(word));
    }
  }

  has(value: Json): boolean {
    if (value === null) return false;
    if (!isNumber(value)) return this.#others.has(writeStableJson(value));
    return this.#wholeNumbers.has(Math.trunc(Number(value))) || this.#otherNumbers.has(Number(value));
  }
}

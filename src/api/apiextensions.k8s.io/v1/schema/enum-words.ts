/**
 * The words of an enum, so that a value is found among them without being compared with each: a list of values may be as long as the
 * enum. Compared as upstream does it: a value that is not whole is cut before it is compared with a word that is. Null is no word.
 */
import { writeStableJson } from "../../../machinery/codec/stable-json.ts";
import type { Json } from "../../../machinery/object.ts";
import { isInt64, isNumber } from "./numbers.ts";

export class EnumWords {
  /** As messages show them. */
  readonly words: readonly string[];
  /** All of them. */
  readonly text: string;
  readonly #wholeNumbers = new Set<number>();
  readonly #otherNumbers = new Set<number>();
  /** What is no number, as JSON in which equal values look the same. */
  readonly #others = new Set<string>();

  constructor(allowed: readonly Json[]) {
    this.words = allowed.map((word) => (typeof word === "string" ? word : JSON.stringify(word)));
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

/**
 * Parses the text form of label selectors: requirements separated by commas. `in` and `notin` are keywords only in operator position, so
 * labels may have these names. The grammar and the error messages are upstream's (labels.Parse), since clients see them.
 */
import { describeFieldError, invalid } from "../field-error.ts";
import { checkedRequirement, SelectorError, type LabelOperator, type LabelRequirement } from "./label-requirement.ts";
import { validateQualifiedName } from "../names.ts";

const TOKEN = /[ \t\r\n]*(!=|==|[=!(),<>]|[^ \t\r\n=!(),<>]+)/gy;
const SYMBOLS: ReadonlySet<string> = new Set(["=", "==", "!=", "!", "(", ")", ",", "<", ">"]);
const BINARY_OPERATORS = ["in", "notin", "=", "==", "!=", ">", "<"] as const satisfies readonly LabelOperator[];
/** In the order of upstream's message. */
const BINARY_OPERATORS_TEXT = "in, notin, =, ==, !=, gt, lt";
/** The end of the input. */
const END = "";

export function parseRequirements(text: string): readonly LabelRequirement[] {
  return new Parser(tokensOf(text)).parse();
}

function tokensOf(text: string): readonly string[] {
  return Array.from(text.matchAll(TOKEN), ([, token = ""]) => token);
}

function isIdentifier(token: string): boolean {
  return token !== END && !SYMBOLS.has(token);
}

class Parser {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#next === END) return requirements;
    for (;;) {
      if (!isIdentifier(this.#next) && this.#next !== "!") {
        const expected = requirements.length === 0 ? "!, identifier, or 'end of string'" : "identifier after ','";
        throw new SelectorError(`found '${this.#next}', expected: ${expected}`);
      }
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator === END) return requirements;
      if (separator !== ",") throw new SelectorError(`found '${separator}', expected: ',' or 'end of string'`);
    }
  }

  #requirement(): LabelRequirement {
    try {
      const isAbsent = this.#next === "!";
      if (isAbsent) this.#take();
      const key = this.#key();
      if (isAbsent) return checkedRequirement(key, "!", []);
      if (this.#next === END || this.#next === ",") return checkedRequirement(key, "exists", []);
      const operator = this.#operator();
      const values = operator === "in" || operator === "notin" ? this.#values() : [this.#value()];
      return checkedRequirement(key, operator, [...new Set(values)].toSorted());
    } catch (error) {
      throw error instanceof SelectorError ? new SelectorError(`unable to parse requirement: ${error.message}`, { cause: error }) : error;
    }
  }

  #key(): string {
    const key = this.#take();
    if (!isIdentifier(key)) throw new SelectorError(`found '${key}', expected: identifier`);
    const wrong = validateQualifiedName(key);
    // There is no field path here, and this is how upstream prints that.
    if (wrong.length > 0) throw new SelectorError(describeFieldError(invalid("<nil>", key, wrong.join("; "))));
    return key;
  }

  #operator(): LabelOperator {
    const found = this.#take();
    const operator = BINARY_OPERATORS.find((candidate) => candidate === found);
    if (operator === undefined) throw new SelectorError(`found '${found}', expected: ${BINARY_OPERATORS_TEXT}`);
    return operator;
  }

  /** An omitted value is empty. */
  #value(): string {
    if (this.#next === END || this.#next === ",") return "";
    const value = this.#take();
    if (!isIdentifier(value)) throw new SelectorError(`found '${value}', expected: identifier`);
    return value;
  }

  /** `(a,b)`. Before or after a comma, nothing means the empty value. */
  #values(): readonly string[] {
    const open = this.#take();
    if (open !== "(") throw new SelectorError(`found '${open}' expected: '('`);
    if (!isIdentifier(this.#next) && this.#next !== "," && this.#next !== ")") {
      throw new SelectorError(`found '${this.#next}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      values.push(this.#listedValue());
      const separator = this.#take();
      if (separator === ")") return values;
      if (separator !== ",") throw new SelectorError(`found '${separator}', expected: ',' or ')'`);
    }
  }

  #listedValue(): string {
    if (this.#next === "," || this.#next === ")") return "";
    if (isIdentifier(this.#next)) return this.#take();
    throw new SelectorError(`found '${this.#next}', expected: ',', or identifier`);
  }

  get #next(): string {
    return this.#tokens[this.#position] ?? END;
  }

  #take(): string {
    const token = this.#next;
    this.#position++;
    return token;
  }
}

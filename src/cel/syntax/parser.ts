/**
 * Parses an expression to a syntax tree, expanding macros on the way. Bounded by upstream's limits: length of the text, nesting of
 * expressions and of operations; and by a number of nodes, since macros copy their operands.
 */
import type { Issue } from "../contract.ts";
import { depthOf, OPERATORS, type Expression, type MapEntry, type ObjectField } from "./ast.ts";
import { Cursor, OPERAND, ParseAborted } from "./cursor.ts";
import { Factory, TooLarge } from "./factory.ts";
import { END, ESCAPED_IDENTIFIER, IDENTIFIER, tokenize, type Token } from "./lexer.ts";
import { readBytes, readDouble, readInt, readString, readUint } from "./literals.ts";
import { expandMacro } from "./macros.ts";
import { balanced } from "./balanced.ts";
import { codePoints, NO_LINE, type Source } from "./source.ts";

/** Upstream's limits. */
const CODE_POINTS_MAX = 100_000;
const NESTING_MAX = 250;
const SYNTAX_ERRORS_MAX = 100;

const RESERVED = new Set([
  ...["as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "package"],
  ...["namespace", "null", "return", "true", "var", "void", "while"],
]);

const RELATIONS: Readonly<Record<string, string>> = {
  "<": OPERATORS.less,
  "<=": OPERATORS.lessEquals,
  ">=": OPERATORS.greaterEquals,
  ">": OPERATORS.greater,
  "==": OPERATORS.equals,
  "!=": OPERATORS.notEquals,
  in: OPERATORS.in,
};
const SUMS: Readonly<Record<string, string>> = { "+": OPERATORS.add, "-": OPERATORS.subtract };
const PRODUCTS: Readonly<Record<string, string>> = { "*": OPERATORS.multiply, "/": OPERATORS.divide, "%": OPERATORS.modulo };

/** What an element of a list or map, and a field of an object can begin with. */
const ELEMENT: readonly string[] = [...OPERAND, "?"];
const FIELD: readonly string[] = [IDENTIFIER, ESCAPED_IDENTIFIER, "?"];

export interface ParseOptions {
  /** True if cel.bind is a macro. */
  readonly bindMacro: boolean;
}

/** Unlike ParseAborted, the parser does not recover from it. */
class TooManySyntaxErrors extends Error {
  override readonly name = "TooManySyntaxErrors";
}

/** The tree, or undefined if an issue was reported. */
export function parse(source: Source, options: ParseOptions): { readonly expression?: Expression; readonly issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const report = (issue: Issue): void => {
    const isLast = issues.length >= SYNTAX_ERRORS_MAX;
    issues.push(isLast ? { ...issue, message: `Syntax error: More than ${SYNTAX_ERRORS_MAX} syntax errors` } : issue);
    if (isLast) throw new TooManySyntaxErrors(`More than ${SYNTAX_ERRORS_MAX}`);
  };
  const size = codePoints(source.text);
  if (size > CODE_POINTS_MAX) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${CODE_POINTS_MAX}`;
    return { issues: [{ message, line: NO_LINE, column: -1 }] };
  }
  try {
    const expression = new Parser(source, report, options).whole();
    return issues.length === 0 ? { expression, issues } : { issues };
  } catch (error) {
    if (error instanceof TooLarge) report({ message: error.message, line: NO_LINE, column: -1 });
    else if (!(error instanceof ParseAborted || error instanceof TooManySyntaxErrors)) throw error;
    return { issues };
  }
}

class Parser {
  readonly #cursor: Cursor;
  readonly #factory: Factory;
  readonly #options: ParseOptions;
  #nesting = 0;

  constructor(source: Source, report: (issue: Issue) => void, options: ParseOptions) {
    this.#options = options;
    this.#cursor = new Cursor(source, tokenize(source, report), report);
    this.#factory = new Factory();
  }

  whole(): Expression {
    const expression = this.#expression();
    this.#cursor.expect(END);
    return expression;
  }

  #expression(): Expression {
    if (++this.#nesting > NESTING_MAX) throw new TooLarge(`expression recursion limit exceeded: ${NESTING_MAX}`);
    const condition = this.#logical("||", OPERATORS.or, () => this.#logical("&&", OPERATORS.and, () => this.#relation()));
    const operator = this.#cursor.take("?");
    let result = condition;
    if (operator !== undefined) {
      const whenTrue = this.#cursor.within([":"], () =>
        this.#logical("||", OPERATORS.or, () => this.#logical("&&", OPERATORS.and, () => this.#relation())),
      );
      this.#cursor.expect(":", { thenOperand: true });
      result = this.#operation(operator, OPERATORS.conditional, condition, whenTrue, this.#expression());
    }
    this.#nesting--;
    return result;
  }

  #logical(token: string, name: string, operand: () => Expression): Expression {
    const terms = [operand()];
    const positions: number[] = [];
    for (let operator = this.#cursor.take(token); operator !== undefined; operator = this.#cursor.take(token)) {
      positions.push(operator.offset);
      terms.push(operand());
    }
    return balanced(terms, positions, (position, left, right) => this.#factory.call(position, name, [left, right]));
  }

  #relation(): Expression {
    return this.#binary(RELATIONS, () => this.#binary(SUMS, () => this.#binary(PRODUCTS, () => this.#unary())));
  }

  #binary(operators: Readonly<Record<string, string>>, operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const name = operators[this.#cursor.peek().kind];
      if (name === undefined) return left;
      const operator = this.#cursor.next();
      left = this.#operation(operator, name, left, operand());
    }
  }

  #unary(): Expression {
    const cursor = this.#cursor;
    const token = cursor.peek();
    if (token.kind !== "!" && token.kind !== "-") {
      if (!cursor.expectOperand()) return this.#factory.malformed(token.offset);
      if (!cursor.is("!") && !cursor.is("-")) return this.#member();
      return this.#unary();
    }
    if (token.kind === "-" && isNumber(cursor.peek(1))) return this.#member();
    let count = 0;
    while (cursor.is(token.kind)) {
      cursor.next();
      count++;
    }
    if (!OPERAND.includes(cursor.peek().kind) || cursor.is("!")) {
      if (token.kind === "!") cursor.unwanted(OPERAND);
      this.#noOperandAfterMinus(token);
    }
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#factory.call(token.offset, token.kind === "!" ? OPERATORS.not : OPERATORS.negate, [operand]);
  }

  #noOperandAfterMinus(token: Token): never {
    try {
      this.#cursor.noAlternative(token, 0);
    } catch (error) {
      if (this.#cursor.is(END)) this.#cursor.mismatch(OPERAND);
      throw error;
    }
  }

  #member(): Expression {
    let operand = this.#primary();
    for (;;) {
      const operator = this.#cursor.peek();
      if (operator.kind === ".") operand = this.#selection(operand);
      else if (operator.kind === "[") operand = this.#index(operand);
      else return operand;
    }
  }

  #selection(operand: Expression): Expression {
    const cursor = this.#cursor;
    const dot = cursor.peek();
    const isOptional = cursor.peek(1).kind === "?";
    let name = cursor.peek(1);
    if (!isOptional && name.kind !== IDENTIFIER && name.kind !== ESCAPED_IDENTIFIER) return this.#noField(operand, dot);
    cursor.next();
    if (isOptional) {
      cursor.next();
      cursor.expectOneOf([IDENTIFIER, ESCAPED_IDENTIFIER]);
      name = cursor.peek();
    }
    cursor.next();
    const isCall = !isOptional && name.kind === IDENTIFIER && cursor.is("(");
    if (isCall) return this.#memberCall(operand, name);
    if (name.kind === ESCAPED_IDENTIFIER) cursor.reportAt(name.offset, "unsupported syntax: '`'");
    if (!isOptional) return this.#checked(this.#factory.select(dot.offset, operand, name.text));
    return this.#operation(dot, OPERATORS.optionalSelect, operand, this.#factory.literal(name.offset, name.text));
  }

  /** Reports what follows a dot instead of a name; the parse continues if it is an operator. */
  #noField(operand: Expression, dot: Token): Expression {
    try {
      return this.#cursor.noAlternative(dot, 1);
    } catch (error) {
      if (!(error instanceof ParseAborted)) throw error;
      this.#cursor.next();
      if (!this.#cursor.isOperator()) throw error;
      return operand;
    }
  }

  #memberCall(target: Expression, name: Token): Expression {
    const open = this.#cursor.next();
    const args = this.#arguments();
    return this.#macroOrCall(open, name.text, target, args);
  }

  #macroOrCall(open: Token, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const expansion = expandMacro(this.#factory, { position: open.offset, name, target, args }, this.#options);
    if (expansion === undefined) {
      const call = this.#factory.call(open.offset, name, args, target);
      return target === undefined ? call : this.#checked({ ...call, depth: depthOf(target, ...args) + 1 });
    }
    if (!("problem" in expansion)) return target === undefined ? expansion : this.#checked(expansion);
    this.#cursor.reportAt(expansion.position, expansion.problem);
    return this.#factory.malformed(open.offset);
  }

  #arguments(): Expression[] {
    const cursor = this.#cursor;
    cursor.expectOneOf([...OPERAND, ")"]);
    const args: Expression[] = [];
    if (!cursor.is(")")) {
      do args.push(cursor.within([",", ")"], () => this.#expression()));
      while (cursor.take(",") !== undefined);
    }
    cursor.expect(")");
    return args;
  }

  #index(operand: Expression): Expression {
    const cursor = this.#cursor;
    const open = cursor.next();
    cursor.expectOneOf([...OPERAND, "?"]);
    const isOptional = cursor.take("?") !== undefined;
    const index = cursor.within(["]"], () => this.#expression());
    cursor.expect("]");
    return this.#operation(open, isOptional ? OPERATORS.optionalIndex : OPERATORS.index, operand, index);
  }

  #primary(): Expression {
    const token = this.#cursor.peek();
    switch (token.kind) {
      case "(":
        return this.#nested();
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      case ".":
      case IDENTIFIER:
        return this.#name();
      default:
        return this.#literal();
    }
  }

  #nested(): Expression {
    this.#cursor.next();
    const expression = this.#cursor.within([")"], () => this.#expression());
    this.#cursor.expect(")");
    return expression;
  }

  #name(): Expression {
    const cursor = this.#cursor;
    const start = cursor.peek();
    const hasDot = start.kind === ".";
    if (hasDot && cursor.peek(1).kind !== IDENTIFIER) cursor.noAlternative(start, 1);
    const message = this.#messageName(hasDot ? 1 : 0);
    if (message !== undefined) return this.#object(`${hasDot ? "." : ""}${message.name}`, message.tokens + (hasDot ? 1 : 0));
    if (hasDot) cursor.next();
    const name = cursor.next();
    const text = `${hasDot ? "." : ""}${name.text}`;
    const open = cursor.take("(");
    const args = open === undefined ? [] : this.#arguments();
    if (RESERVED.has(name.text)) {
      cursor.reportAt(start.offset, `reserved identifier: ${name.text}`);
      return this.#factory.malformed(start.offset);
    }
    return open === undefined ? this.#factory.identifier(name.offset, text) : this.#macroOrCall(open, text, undefined, args);
  }

  /** "a.b.C" if that and "{" come next, from the `ahead`th token. */
  #messageName(ahead: number): { readonly name: string; readonly tokens: number } | undefined {
    const names: string[] = [];
    for (let at = ahead; ; at += 2) {
      const name = this.#cursor.peek(at);
      if (name.kind !== IDENTIFIER) return undefined;
      names.push(name.text);
      const after = this.#cursor.peek(at + 1).kind;
      if (after === "{") return { name: names.join("."), tokens: names.length * 2 - 1 };
      if (after !== ".") return undefined;
    }
  }

  #object(name: string, tokens: number): Expression {
    const cursor = this.#cursor;
    for (let count = 0; count < tokens; count++) cursor.next();
    const open = cursor.next();
    cursor.expectOneOf([IDENTIFIER, ESCAPED_IDENTIFIER, "?", ",", "}"]);
    const fields: ObjectField[] = [];
    while (cursor.is(IDENTIFIER) || cursor.is(ESCAPED_IDENTIFIER) || cursor.is("?")) {
      fields.push(this.#field());
      if (!this.#continues("}", FIELD)) break;
    }
    this.#close("}", fields.length > 0);
    return this.#factory.object(open.offset, name, fields);
  }

  #field(): ObjectField {
    const cursor = this.#cursor;
    const isOptional = cursor.take("?") !== undefined;
    cursor.expectOneOf([IDENTIFIER, ESCAPED_IDENTIFIER]);
    const name = cursor.next();
    if (name.kind === ESCAPED_IDENTIFIER) cursor.reportAt(name.offset, "unsupported syntax: '`'");
    const colon = cursor.expect(":", { thenOperand: true });
    const value = cursor.within([",", "}"], () => this.#expression());
    return { position: colon.offset, name: name.text, value, isOptional };
  }

  #list(): Expression {
    const cursor = this.#cursor;
    const open = cursor.next();
    cursor.expectOneOf([...OPERAND, "?", ",", "]"]);
    const elements: Expression[] = [];
    const optionals = new Set<number>();
    while (!cursor.is(",") && !cursor.is("]")) {
      if (cursor.take("?") !== undefined) optionals.add(elements.length);
      elements.push(cursor.within([",", "]"], () => this.#expression()));
      if (!this.#continues("]", ELEMENT)) break;
    }
    this.#close("]", elements.length > 0);
    return this.#factory.list(open.offset, elements, optionals);
  }

  #map(): Expression {
    const cursor = this.#cursor;
    const open = cursor.next();
    cursor.expectOneOf([...OPERAND, "?", ",", "}"]);
    const entries: MapEntry[] = [];
    while (!cursor.is(",") && !cursor.is("}")) {
      const isOptional = cursor.take("?") !== undefined;
      const key = cursor.within([":"], () => this.#expression());
      const colon = cursor.expect(":", { thenOperand: true });
      const value = cursor.within([",", "}"], () => this.#expression());
      entries.push({ position: colon.offset, key, value, isOptional });
      if (!this.#continues("}", ELEMENT)) break;
    }
    this.#close("}", entries.length > 0);
    return this.#factory.map(open.offset, entries);
  }

  /** After an element: whether another one follows its comma, which is consumed. */
  #continues(bracket: string, start: readonly string[]): boolean {
    const cursor = this.#cursor;
    cursor.expectOneOf([bracket, ","]);
    return cursor.take(",") !== undefined && start.includes(cursor.peek().kind);
  }

  /** The bracket; before it a comma, unless elements consumed it. */
  #close(bracket: string, hasElements: boolean): void {
    if (!hasElements) this.#cursor.take(",");
    this.#cursor.expect(bracket);
  }

  #literal(): Expression {
    const start = this.#cursor.peek();
    const isNegative = this.#cursor.take("-") !== undefined;
    const token = this.#cursor.next();
    const literal = readLiteral(token, isNegative);
    if (typeof literal === "object" && literal !== null && "problem" in literal) {
      this.#cursor.reportAt(start.offset, literal.problem);
      return this.#factory.malformed(start.offset);
    }
    return this.#factory.literal(start.offset, literal);
  }

  /** An operator: one level of nesting more than its operands. */
  #operation(token: Token, name: string, ...args: Expression[]): Expression {
    return this.#checked({ ...this.#factory.call(token.offset, name, args), depth: depthOf(...args) + 1 });
  }

  #checked(expression: Expression): Expression {
    if (expression.depth > NESTING_MAX) throw new TooLarge("max recursion depth exceeded");
    return expression;
  }
}

function isNumber({ kind }: Token): boolean {
  return kind === "NUM_INT" || kind === "NUM_FLOAT";
}

function readLiteral(token: Token, isNegative: boolean) {
  switch (token.kind) {
    case "NUM_INT":
      return readInt(token.text, isNegative) ?? { problem: "invalid int literal" };
    case "NUM_UINT":
      return readUint(token.text) ?? { problem: "invalid uint literal" };
    case "NUM_FLOAT":
      return readDouble(token.text, isNegative) ?? { problem: "invalid double literal" };
    case "STRING": {
      const read = readString(token.text);
      return "problem" in read ? read : read.value;
    }
    case "BYTES": {
      const read = readBytes(token.text);
      return "problem" in read ? read : read.value;
    }
    case "null":
      return null;
    default:
      return token.kind === "true";
  }
}

/** Checks of literals in a tree whose types are right: durations, timestamps, patterns, formats, and elements of one type. */
import { conversions } from "../library/conversions.ts";
import { FormatError, interpolate, wrongArgument, type ClauseKind } from "../library/format-text.ts";
import { isPattern } from "../library/patterns.ts";
import type { Call, Expression, ListLiteral, MapLiteral } from "../syntax/ast.ts";
import { childrenOf } from "../syntax/children.ts";
import { DYN, ERROR, formatType, isSameType, type CelType, type Kind } from "../types/type.ts";
import { CelError, type CelValue } from "../values/value.ts";
import type { Report } from "./checker.ts";

export function validateLiterals(expression: Expression, report: Report): void {
  visit(expression, false, report);
}

/** `isExempt`: within the arguments of format(), whose elements may have different types. */
function visit(expression: Expression, isExempt: boolean, report: Report): void {
  switch (expression.kind) {
    case "call":
      validateCall(expression, report);
      break;
    case "list":
      if (!isExempt) validateList(expression, report);
      break;
    case "map":
      if (!isExempt) validateMap(expression, report);
      break;
    default:
  }
  const isFormat = expression.kind === "call" && expression.name === "format";
  for (const child of childrenOf(expression)) visit(child, isExempt || isFormat, report);
}

function validateCall(call: Call, report: Report): void {
  const [argument] = call.args;
  if (argument?.kind === "literal" && !isValidArgument(call.name, argument.value))
    report(argument.position, `invalid ${call.name} argument`);
  if (call.name === "format" && call.target?.kind === "literal" && typeof call.target.value === "string" && argument?.kind === "list") {
    validateFormat(call, call.target.value, argument.elements, report);
  }
}

function isValidArgument(name: string, value: CelValue): boolean {
  switch (name) {
    case "matches":
      return typeof value !== "string" || isPattern(value);
    case "duration":
    case "timestamp":
      return !(convert(name, value) instanceof CelError);
    default:
      return true;
  }
}

function convert(name: string, value: CelValue) {
  const definition = conversions.functions.find((candidate) => candidate.name === name);
  const overload = definition?.overloads.find(({ id }) => id === `${typeof value === "bigint" ? "int64" : "string"}_to_${name}`);
  return overload?.call?.([value], { spend: () => undefined });
}

/** Types that each clause takes. */
const KINDS: Readonly<Record<ClauseKind, readonly Kind[]>> = {
  s: ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
  d: ["int", "uint"],
  f: ["double", "string"],
  e: ["double", "string"],
  b: ["int", "uint", "bool"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
  o: ["int", "uint"],
};

function validateFormat(call: Call, format: string, args: readonly Expression[], report: Report): void {
  let used = 0;
  try {
    interpolate(format, args.length, (kind, _, index) => {
      used++;
      const wrong = wrongPart(args[index] as Expression, kind);
      if (wrong !== undefined) throw wrongArgument(kind, (wrong.type ?? DYN).name, wrong.position);
      return "";
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    report(typeof error.cause === "number" ? error.cause : call.position, error.message);
    return;
  }
  if (args.length > used) {
    report(call.position, `too many arguments supplied to string.format (expected ${used}, got ${args.length})`);
  }
}

/** The argument, or the part of it, whose type the clause does not take. */
function wrongPart(argument: Expression, kind: ClauseKind): Expression | undefined {
  const type = argument.type ?? ERROR;
  if (type.kind === "dyn") return undefined;
  if (!KINDS[kind].includes(type.kind)) return argument;
  if (kind !== "s") return undefined;
  for (const part of argument.kind === "list" || argument.kind === "map" ? childrenOf(argument) : []) {
    const wrong = wrongPart(part, kind);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function validateList({ elements, optionals }: ListLiteral, report: Report): void {
  let first: CelType | undefined;
  for (const [index, element] of elements.entries()) {
    const type = valueType(element, optionals.has(index));
    first ??= type;
    if (isEquivalent(first, type)) continue;
    mismatch(element.position, first, type, report);
    return;
  }
}

function validateMap({ entries }: MapLiteral, report: Report): void {
  let keyType: CelType | undefined;
  let entryType: CelType | undefined;
  for (const { key, value, isOptional } of entries) {
    const ofKey = valueType(key, false);
    const ofValue = valueType(value, isOptional);
    keyType ??= ofKey;
    entryType ??= ofValue;
    if (!isEquivalent(keyType, ofKey)) mismatch(key.position, keyType, ofKey, report);
    if (!isEquivalent(entryType, ofValue)) mismatch(value.position, entryType, ofValue, report);
  }
}

function valueType({ type = ERROR }: Expression, isOptional: boolean): CelType {
  return isOptional ? (type.parameters[0] ?? ERROR) : type;
}

/** The same apart from names of type parameters. */
function isEquivalent(a: CelType, b: CelType): boolean {
  return isSameType(a, b);
}

function mismatch(position: number, expected: CelType, actual: CelType, report: Report): void {
  report(position, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
}

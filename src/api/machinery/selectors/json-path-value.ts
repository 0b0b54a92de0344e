/**
 * Evaluates JSONPath as kubectl and printer columns use it: fields, quoted names, indexes, slices, wildcards, unions, recursive descent and
 * filters with one comparison. A path is compiled once; missing members select nothing. Not here: texts with several paths in braces
 * (kubectl's templates), validation with upstream's messages (json-path.ts).
 */
import { isObject, type Json, type JsonObject } from "../object.ts";

/** Selects the values at the path in an object, in order. */
export type JsonPath = (value: Json) => readonly Json[];

type Step = (values: readonly Json[]) => readonly Json[];

/** Maximum number of selected values: recursive descent and wildcards can multiply them. */
const VALUES_MAX = 10_000;

const NAME = /^(?:[^.[\]\\\s]|\\.)+/;
const INDEX = /^-?\d+$/;
const SLICE = /^(-?\d*):(-?\d*)(?::(-?\d*))?$/;
const QUOTED_NAME = /^'([^']*)'$/;
const COMPARISON = /^(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/;

/** `text` is without braces: ".spec.ports[0].name". Undefined: it is not a path that can be evaluated. */
export function compileJsonPath(text: string): JsonPath | undefined {
  const steps = stepsOf(text.startsWith("$") ? text.slice(1) : text);
  if (steps === undefined) return undefined;
  return (value) => {
    let values: readonly Json[] = [value];
    for (const step of steps) values = step(values).slice(0, VALUES_MAX);
    return values;
  };
}

function stepsOf(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = text.trim(); rest !== "";) {
    const found = firstStep(rest);
    if (found === undefined) return undefined;
    steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return steps;
}

interface FoundStep {
  readonly step: Step;
  readonly length: number;
}

function firstStep(text: string): FoundStep | undefined {
  if (text.startsWith("[")) return bracketStep(text);
  if (text.startsWith("..")) return { step: descend, length: text[2] === "[" || text.length === 2 ? 2 : 1 };
  if (text === ".") return { step: (values) => values, length: 1 };
  if (!text.startsWith(".")) return undefined;
  if (text[1] === "*") return { step: allMembers, length: 2 };
  if (text[1] === "[") return { step: (values) => values, length: 1 };
  const name = NAME.exec(text.slice(1))?.[0];
  return name === undefined ? undefined : { step: memberStep(name.replaceAll(/\\(.)/g, "$1")), length: 1 + name.length };
}

function memberStep(name: string): Step {
  return (values) => values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name] ?? null] : []));
}

function allMembers(values: readonly Json[]): readonly Json[] {
  return values.flatMap(childrenOf);
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  return isObject(value) ? Object.values(value).map((member) => member ?? null) : [];
}

/** The values and everything below them. */
function descend(values: readonly Json[]): readonly Json[] {
  const found: Json[] = [];
  const visit = (value: Json): void => {
    if (found.length >= VALUES_MAX) return;
    found.push(value);
    for (const child of childrenOf(value)) if (typeof child === "object") visit(child);
  };
  for (const value of values) visit(value);
  return found;
}

function bracketStep(text: string): FoundStep | undefined {
  const end = closingBracket(text);
  if (end === undefined) return undefined;
  const inside = text.slice(1, end).trim();
  const length = end + 1;
  const filter = /^\?\((.*)\)$/s.exec(inside)?.[1];
  if (filter !== undefined) {
    const step = filterStep(filter.trim());
    return step === undefined ? undefined : { step, length };
  }
  const parts = inside.split(",").map((part) => selectorStep(part.trim()));
  if (parts.includes(undefined)) return undefined;
  return { step: (values) => values.flatMap((value) => parts.flatMap((part) => part?.([value]) ?? [])), length };
}

/** Index of the bracket that closes the first one, outside of quotes. */
function closingBracket(text: string): number | undefined {
  let depth = 0;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
    } else if (character === "'" || character === '"') quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return index;
  }
  return undefined;
}

function selectorStep(text: string): Step | undefined {
  if (text === "*") return allMembers;
  const name = QUOTED_NAME.exec(text)?.[1];
  if (name !== undefined) return memberStep(name);
  if (INDEX.test(text)) return indexStep(Number(text));
  const slice = SLICE.exec(text);
  return slice === null ? undefined : sliceStep(slice.slice(1));
}

function indexStep(index: number): Step {
  return (values) =>
    values.flatMap((value) => {
      const item = Array.isArray(value) ? (value as readonly Json[]).at(index) : undefined;
      return item === undefined ? [] : [item];
    });
}

function sliceStep([from = "", to = "", by = ""]: readonly (string | undefined)[]): Step {
  const step = Math.max(1, Number(by || "1"));
  return (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const part = (value as readonly Json[]).slice(from === "" ? 0 : Number(from), to === "" ? undefined : Number(to));
      return part.filter((_, index) => index % step === 0);
    });
}

/** Items for which the comparison holds, or the path selects something. */
function filterStep(text: string): Step | undefined {
  const [, left = text, operator = "", right = ""] = COMPARISON.exec(text) ?? [];
  const read = operandOf(left);
  const other = operator === "" ? undefined : operandOf(right);
  if (read === undefined || (operator !== "" && other === undefined)) return undefined;
  const holds = (item: Json): boolean => {
    const [value] = read(item);
    if (value === undefined) return false;
    if (other === undefined) return true;
    const [wanted] = other(item);
    return wanted !== undefined && compare(value, operator, wanted);
  };
  return (values) => values.flatMap((value) => childrenOf(value).filter(holds));
}

function operandOf(text: string): JsonPath | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith("@")) return compileJsonPath(trimmed.slice(1));
  const quoted = /^(['"])(.*)\1$/s.exec(trimmed)?.[2];
  if (quoted !== undefined) return () => [quoted];
  if (trimmed === "true" || trimmed === "false") return () => [trimmed === "true"];
  return trimmed === "" || Number.isNaN(Number(trimmed)) ? undefined : () => [Number(trimmed)];
}

function compare(left: Json, operator: string, right: Json): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const order = left < (right as typeof left) ? -1 : left > (right as typeof left) ? 1 : 0;
  switch (operator) {
    case "<":
      return order < 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    default:
      return order >= 0;
  }
}

/** The member at a path of names; undefined if it does not exist. */
export function memberAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

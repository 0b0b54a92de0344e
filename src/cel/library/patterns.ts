/** Regular expressions: matches(), find(), findAll(). Go's syntax in linear time; the steps count against the evaluation. */
import { findAllText, findText } from "../../base/regular-expression/find.ts";
import { matchesText } from "../../base/regular-expression/match.ts";
import { ExpressionError } from "../../base/regular-expression/parse.ts";
import { programOf, type Program } from "../../base/regular-expression/program.ts";
import { NO_SUCH_OVERLOAD } from "../values/compare.ts";
import { ArrayList } from "../values/containers.ts";
import { spend } from "../values/meter.ts";
import { CelError, type CelResult } from "../values/value.ts";
import { BOOL, INT, listOf, STRING } from "../types/type.ts";
import { member, overload, type Implementation, type Library } from "./library.ts";

/** A transition of an automaton takes as long as scanning so many characters. */
const TRANSITION_STEPS = 10;
const METER = { spend: (steps: number) => spend(steps * TRANSITION_STEPS) };

function readPattern(pattern: string): Program | CelError {
  const program = programOf(pattern, METER);
  return program instanceof ExpressionError ? new CelError(program.message) : program;
}

function illegal({ message }: CelError): CelError {
  return new CelError(`Illegal regex: ${message}`);
}

type Apply = (program: Program, text: string, limit: number) => CelResult;

const APPLY: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ["matches", (program, text) => matchesText(program, text, METER)],
  [
    "find",
    (program, text) => {
      const found = findText(program, text, 0, METER);
      return found === undefined ? "" : text.slice(found.start, found.end);
    },
  ],
  ["findAll", (program, text, limit) => new ArrayList(findAllText(program, text, limit, METER))],
]);

/** The implementation with a constant pattern; undefined: the function takes none. */
export function compiledPattern(name: string, pattern: string): Implementation | CelError | undefined {
  const apply = APPLY.get(name);
  if (apply === undefined) return undefined;
  const program = readPattern(pattern);
  if (program instanceof CelError) return program;
  return ([text, , limit = -1n]) => (typeof text === "string" ? apply(program, text, Number(limit)) : NO_SUCH_OVERLOAD);
}

export function isPattern(pattern: string): boolean {
  return !(readPattern(pattern) instanceof CelError);
}

function call(name: string, describe: (error: CelError) => CelError): Implementation {
  return ([text, pattern, limit = -1n]) => {
    if (typeof text !== "string" || typeof pattern !== "string") return NO_SUCH_OVERLOAD;
    const program = readPattern(pattern);
    if (program instanceof CelError) return describe(program);
    return APPLY.get(name)?.(program, text, Number(limit)) ?? NO_SUCH_OVERLOAD;
  };
}

const TEXTS = listOf(STRING);

export const patterns: Library = {
  functions: [
    {
      name: "matches",
      overloads: [overload("matches", [STRING, STRING], BOOL), member("matches_string", [STRING, STRING], BOOL)],
      call: call("matches", (error) => error),
    },
    { name: "find", overloads: [member("string_find_string", [STRING, STRING], STRING, call("find", illegal))] },
    {
      name: "findAll",
      overloads: [
        member("string_find_all_string", [STRING, STRING], TEXTS, call("findAll", illegal)),
        member("string_find_all_string_int", [STRING, STRING, INT], TEXTS, call("findAll", illegal)),
      ],
    },
  ],
};

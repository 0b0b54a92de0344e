/** Compiles an expression: parse, check types, check literals, plan. All problems are returned as upstream words them. */
import type { Compilation, Issue } from "./contract.ts";
import { Checker } from "./check/checker.ts";
import { TypeTooLarge } from "./check/substitutions.ts";
import { validateLiterals } from "./check/validators.ts";
import { estimateCost } from "./cost/estimate.ts";
import type { Environment } from "./environment.ts";
import { planProgram, PlanError, type Plan } from "./program/plan.ts";
import { createProgram } from "./program/program.ts";
import type { Expression } from "./syntax/ast.ts";
import { parse } from "./syntax/parser.ts";
import { NO_LINE, Source } from "./syntax/source.ts";
import { count, metered, OutOfSteps, SYNCHRONOUS_STEPS_MAX, TICK_STEPS } from "./values/meter.ts";
import type { CelType } from "./types/type.ts";

/** Steps of compiling an expression, and of each of its characters, besides those of its nodes: about 25 µs and 0.25 µs. */
const COMPILATION_STEPS = 10_000;
const CHARACTER_STEPS = 100;
/** Maximum steps of a compilation: about 20 ms, and twice that with the garbage that it leaves. It cannot be interrupted. */
const COMPILATION_STEPS_MAX = SYNCHRONOUS_STEPS_MAX / 2;
const TOO_MANY_STEPS = "expression takes too many steps to compile";

export function compile(environment: Environment, text: string): Compilation {
  const source = new Source(text);
  return compileWithin(COMPILATION_STEPS_MAX, environment, source) ?? failed(source, [source.issueAt(0, TOO_MANY_STEPS)]);
}

/** Undefined if it takes more steps than half of those of a tick: `compile` does it then, in a tick of its own. */
export function compileQuickly(environment: Environment, text: string): Compilation | undefined {
  return compileWithin(TICK_STEPS / 2, environment, new Source(text));
}

function compileWithin(steps: number, environment: Environment, source: Source): Compilation | undefined {
  count(COMPILATION_STEPS + source.text.length * CHARACTER_STEPS);
  try {
    return metered(steps, () => compileSource(environment, source));
  } catch (error) {
    if (error instanceof OutOfSteps) return undefined;
    throw error;
  }
}

function compileSource(environment: Environment, source: Source): Compilation {
  const { expression, issues } = parse(source, environment);
  if (expression === undefined) return failed(source, issues);
  const checked = check(environment, source, expression);
  if (checked.issues.length > 0) return failed(source, checked.issues);
  const plan = planOrMessage(environment, expression);
  if (typeof plan === "string")
    return { ok: false, stage: "program", issues: [{ message: plan, line: NO_LINE, column: -1 }], message: plan };
  const { outputType, references } = checked;
  const estimatedCost = () => estimateCost(expression, environment.sizes);
  return { ok: true, program: createProgram({ source: source.text, outputType, estimatedCost, references, plan }) };
}

function failed(source: Source, issues: readonly Issue[]): Compilation {
  return { ok: false, stage: "compile", issues, message: source.format(issues) };
}

interface Checked {
  readonly outputType: CelType;
  readonly references: ReadonlySet<string>;
  readonly issues: readonly Issue[];
}

function check(environment: Environment, source: Source, expression: Expression): Checked {
  const issues: Issue[] = [];
  const report = (position: number, message: string): void => {
    issues.push(source.issueAt(position, message));
  };
  const checker = new Checker(environment, report);
  try {
    const outputType = checker.check(expression);
    if (issues.length === 0) validateLiterals(expression, report);
    return { outputType, references: checker.references, issues };
  } catch (error) {
    if (!(error instanceof TypeTooLarge)) throw error;
    report(0, error.message);
    return { outputType: { kind: "error", name: "error", parameters: [] }, references: checker.references, issues };
  }
}

function planOrMessage(environment: Environment, expression: Expression): Plan | string {
  try {
    return planProgram(environment, expression);
  } catch (error) {
    if (error instanceof PlanError) return error.message;
    throw error;
  }
}

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
import { beginTick, count, isTickSpent, metered, OutOfSteps, stepsOfTick, SYNCHRONOUS_STEPS_MAX, TICK_STEPS } from "./values/meter.ts";
import type { CelType } from "./types/type.ts";

/** Steps of compiling an expression, and of each of its characters, besides those of its nodes: about 25 µs and 0.25 µs. */
const COMPILATION_STEPS = 10_000;
const CHARACTER_STEPS = 100;
/** Maximum steps of a compilation: about 20 ms, and twice that with the garbage that it leaves. */
const COMPILATION_STEPS_MAX = SYNCHRONOUS_STEPS_MAX / 2;
/** From here on each stage of a compilation has an event-loop tick of its own. */
const LONG_COMPILATION_STEPS = TICK_STEPS / 2;
const TOO_MANY_STEPS = "expression takes too many steps to compile";

/** For callers that cannot yield. */
export function compile(environment: Environment, text: string): Compilation {
  const source = new Source(text);
  return withinSteps(source, () => metered(COMPILATION_STEPS_MAX, () => finish(stagesOf(environment, source))));
}

/** Undefined if it takes more steps than half of those of a tick: `compileInStages` does it then. */
export function compileQuickly(environment: Environment, text: string): Compilation | undefined {
  try {
    return metered(TICK_STEPS / 2, () => finish(stagesOf(environment, new Source(text))));
  } catch (error) {
    if (error instanceof OutOfSteps) return undefined;
    throw error;
  }
}

/** Yields where the event loop should be yielded; a short compilation in a tick that has steps left does not. */
export function* compileInStages(environment: Environment, text: string): Generator<void, Compilation> {
  const source = new Source(text);
  const stages = stagesOf(environment, source);
  for (;;) {
    const compilation = withinSteps(source, () => {
      const { done, value } = stages.next();
      return done === true ? value : undefined;
    });
    if (compilation !== undefined) return compilation;
    yield;
    beginTick();
  }
}

function withinSteps<T>(source: Source, run: () => T): T | Compilation {
  try {
    return run();
  } catch (error) {
    if (error instanceof OutOfSteps) return failed(source, [source.issueAt(0, TOO_MANY_STEPS)]);
    throw error;
  }
}

function finish(stages: Generator<void, Compilation>): Compilation {
  for (;;) {
    const { done, value } = stages.next();
    if (done === true) return value;
  }
}

/** Steps of one compilation over all of its stages. */
class Allowance {
  #taken = 0;

  /** Throws OutOfSteps. Inside of another evaluation or compilation that one's allowance counts, too. */
  spend<T>(stage: () => T): T {
    const before = stepsOfTick();
    try {
      return metered(COMPILATION_STEPS_MAX - this.#taken, stage);
    } finally {
      this.#taken += stepsOfTick() - before;
    }
  }

  get wantsYield(): boolean {
    return isTickSpent() || this.#taken >= LONG_COMPILATION_STEPS;
  }
}

/** Throws OutOfSteps. Yields between stages that should not share an event-loop tick; the last one shares it with nothing either. */
function* stagesOf(environment: Environment, source: Source): Generator<void, Compilation> {
  const allowance = new Allowance();
  count(COMPILATION_STEPS + source.text.length * CHARACTER_STEPS);
  const { expression, issues } = allowance.spend(() => parse(source, environment));
  if (expression === undefined) return failed(source, issues);
  if (allowance.wantsYield) yield;
  const checked = allowance.spend(() => check(environment, source, expression));
  if (checked.issues.length > 0) return failed(source, checked.issues);
  if (allowance.wantsYield) yield;
  const plan = allowance.spend(() => planOrMessage(environment, expression));
  const { outputType, references } = checked;
  if (typeof plan === "string") {
    return { ok: false, stage: "program", issues: [{ message: plan, line: NO_LINE, column: -1 }], message: plan, outputType };
  }
  if (allowance.wantsYield) yield;
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

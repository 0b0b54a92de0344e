/**
 * Go's regular expressions as automata. All states are followed at once, character by character, so the time is bounded by states ×
 * characters, unlike that of JavaScript's backtracking. That is still too much for a large pattern and a long text, so every use is charged
 * in steps to the caller.
 */
import { Lru } from "../lru.ts";
import type { Characters } from "./characters.ts";
import { ExpressionError, parseExpression, type Expression, type Position } from "./parse.ts";

/** What the work is charged to; spend() throws if it is too much. */
export interface Steps {
  spend(steps: number): void;
}

/** Go's limit for the same. */
const STATES_MAX = 3_355_443;
/** Cache size of compiled expressions, which are matched for every object: far more than the patterns of one cluster. */
const KEPT_MAX = 1_000;
/** Maximum characters and states of the cache: at most about 30 MB. */
const KEPT_WEIGHT_MAX = 300_000;
/** Cost of a pattern in steps, and of each of its characters and states. */
const PATTERN_STEPS = 100;
const READING_STEPS = 10;
const COMPILING_STEPS = 5;

const kept = new Lru<string, Program>({
  max: KEPT_MAX,
  maxWeight: KEPT_WEIGHT_MAX,
  weigh: ({ states }, pattern) => states.length + pattern.length,
});

/** The automaton of a pattern, or what is wrong with it. Charged also if it is cached: the result must not depend on earlier uses. */
export function programOf(pattern: string, steps: Steps): Program | ExpressionError {
  steps.spend(PATTERN_STEPS + pattern.length * READING_STEPS);
  const before = kept.get(pattern);
  if (before !== undefined) {
    steps.spend(before.expectedStates * COMPILING_STEPS);
    return before;
  }
  try {
    const program = compile(pattern, steps);
    kept.set(pattern, program);
    return program;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** Condition of a transition. */
export type State =
  | { readonly needs: "characters"; readonly set: Characters; readonly steps: number; readonly next: number }
  | { readonly needs: "position"; readonly position: Position; readonly next: number }
  | { readonly needs: "nothing"; readonly next: number; readonly other: number };

export interface Program {
  /** Slightly more than the states, known before they are created. */
  readonly expectedStates: number;
  readonly states: readonly State[];
  readonly start: number;
}

/** The accepting state. */
export const MATCHED = -1;

function compile(pattern: string, steps: Steps): Program {
  const expression = parseExpression(pattern);
  const expectedStates = statesOf(expression);
  if (expectedStates > STATES_MAX) throw new ExpressionError("expression too large", pattern);
  steps.spend(expectedStates * COMPILING_STEPS);
  const states: State[] = [];
  const start = addStates(states, expression, MATCHED);
  return { expectedStates, states, start };
}

function statesOf(expression: Expression): number {
  switch (expression.is) {
    case "repeat":
      return (statesOf(expression.part) + 1) * Math.max(1, expression.max ?? expression.min);
    case "sequence":
    case "choice":
      return expression.parts.reduce((sum, part) => sum + statesOf(part), expression.parts.length);
    default:
      return 1;
  }
}

/** Compiles a node that continues at `next`; returns its start state. */
function addStates(states: State[], expression: Expression, next: number): number {
  switch (expression.is) {
    case "characters":
      return states.push({ needs: "characters", set: expression.set, steps: expression.steps, next }) - 1;
    case "position":
      return states.push({ needs: "position", position: expression.position, next }) - 1;
    case "sequence":
      return expression.parts.reduceRight((after, part) => addStates(states, part, after), next);
    case "choice":
      return expression.parts
        .map((part) => addStates(states, part, next))
        .reduceRight((other, branch) => states.push({ needs: "nothing", next: branch, other }) - 1);
    case "repeat":
      return addRepeat(states, expression, next);
  }
}

function addRepeat(states: State[], { part, min, max, isLazy }: Expression & { readonly is: "repeat" }, next: number): number {
  let start = next;
  let copies = min;
  if (max === undefined) {
    const loop = addLoop(states, part, isLazy, next);
    // The loop is a copy already, if one is needed at all.
    start = min > 0 ? loop.body : isNullable(part) ? fork(states, loop.body, next, isLazy) : loop.start;
    copies = Math.max(0, min - 1);
  } else {
    for (let extra = min; extra < max; extra++) start = fork(states, addStates(states, part, start), next, isLazy);
  }
  for (let copy = 0; copy < copies; copy++) start = addStates(states, part, start);
  return start;
}

/** A state that prefers the body, or, if lazy, what follows. */
function fork(states: State[], body: number, after: number, isLazy: boolean): number {
  return states.push({ needs: "nothing", next: isLazy ? after : body, other: isLazy ? body : after }) - 1;
}

function addLoop(states: State[], part: Expression, isLazy: boolean, after: number): { readonly start: number; readonly body: number } {
  const state: { needs: "nothing"; next: number; other: number } = { needs: "nothing", next: after, other: after };
  const start = states.push(state) - 1;
  const body = addStates(states, part, start);
  if (isLazy) state.other = body;
  else state.next = body;
  return { start, body };
}

/** True if it may match nothing. */
function isNullable(expression: Expression): boolean {
  switch (expression.is) {
    case "characters":
      return false;
    case "position":
      return true;
    case "sequence":
      return expression.parts.every(isNullable);
    case "choice":
      return expression.parts.some(isNullable);
    case "repeat":
      return expression.min === 0 || isNullable(expression.part);
  }
}

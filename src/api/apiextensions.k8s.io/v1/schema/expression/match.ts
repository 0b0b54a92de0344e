/**
 * Matches a text with a Go regular expression. All states of the automaton are followed at once, character by character, so the time is
 * bounded by states × characters, unlike that of JavaScript's backtracking. That is still too much for a large pattern and a long text, and
 * so are many patterns: both are charged to the budget of the validation.
 */
import { Lru } from "../../../../../base/lru.ts";
import type { Budget } from "../budget.ts";
import { isWordCharacter, NEW_LINE, type Characters } from "./characters.ts";
import { ExpressionError, parseExpression, type Expression, type Position } from "./parse.ts";

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

/**
 * The patterns of one validation. Each is charged once, also if it is cached: the result must not depend on earlier validations. Everything
 * here throws BudgetError.
 */
export class Patterns {
  readonly #budget: Budget;
  readonly #read = new Map<string, Program | ExpressionError>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get budget(): Budget {
    return this.#budget;
  }

  /** The error message of a pattern. */
  problemOf(pattern: string): string | undefined {
    const read = this.#readPattern(pattern);
    return read instanceof ExpressionError ? read.message : undefined;
  }

  /** True if a part of `text` matches. Throws ExpressionError if the pattern is malformed. */
  matches(pattern: string, text: string): boolean {
    const read = this.#readPattern(pattern);
    if (read instanceof ExpressionError) throw read;
    return new Run(read, text, this.#budget).matches();
  }

  #readPattern(pattern: string): Program | ExpressionError {
    const before = this.#read.get(pattern);
    if (before !== undefined) return before;
    const read = programOf(pattern, this.#budget);
    this.#read.set(pattern, read);
    return read;
  }
}

function programOf(pattern: string, budget: Budget): Program | ExpressionError {
  budget.spend(PATTERN_STEPS + pattern.length * READING_STEPS);
  const before = kept.get(pattern);
  if (before !== undefined) {
    budget.spend(before.expectedStates * COMPILING_STEPS);
    return before;
  }
  try {
    const program = compile(pattern, budget);
    kept.set(pattern, program);
    return program;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** Condition of a transition. */
type State =
  | { readonly needs: "characters"; readonly set: Characters; readonly steps: number; readonly next: number }
  | { readonly needs: "position"; readonly position: Position; readonly next: number }
  | { readonly needs: "nothing"; next: number; readonly other: number };

interface Program {
  /** Slightly more than the states, known before they are created. */
  readonly expectedStates: number;
  readonly states: readonly State[];
  readonly start: number;
}

/** The accepting state. */
const MATCHED = -1;

function compile(pattern: string, budget: Budget): Program {
  const expression = parseExpression(pattern);
  const expectedStates = statesOf(expression);
  if (expectedStates > STATES_MAX) throw new ExpressionError("expression too large", pattern);
  budget.spend(expectedStates * COMPILING_STEPS);
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

function addRepeat(states: State[], { part, min, max }: Expression & { readonly is: "repeat" }, next: number): number {
  let start = next;
  let copies = min;
  if (max === undefined) {
    const fork: State = { needs: "nothing", next: MATCHED, other: next };
    const forkIndex = states.push(fork) - 1;
    fork.next = addStates(states, part, forkIndex);
    // The loop is a copy already, if one is needed at all.
    start = min === 0 ? forkIndex : fork.next;
    copies = Math.max(0, min - 1);
  } else {
    for (let extra = min; extra < max; extra++)
      start = states.push({ needs: "nothing", next: addStates(states, part, start), other: next }) - 1;
  }
  for (let copy = 0; copy < copies; copy++) start = addStates(states, part, start);
  return start;
}

/** Before the first and after the last character. */
const NO_CHARACTER = -1;

class Run {
  readonly #program: Program;
  readonly #text: string;
  readonly #budget: Budget;
  /** Steps since the last charge. */
  #steps = 0;
  /** Work list; empty except within `#enter`. */
  readonly #open: number[] = [];
  /** The states that wait for a character. */
  #waiting: (State & { readonly needs: "characters" })[] = [];
  /** By state: the step in which it was last entered, so that none is entered twice per step. */
  readonly #enteredIn: Uint32Array;
  #step = 0;
  #matched = false;

  constructor(program: Program, text: string, budget: Budget) {
    this.#program = program;
    this.#text = text;
    this.#budget = budget;
    // Flags of the table below.
    budget.spend(program.states.length);
    this.#enteredIn = new Uint32Array(program.states.length);
  }

  matches(): boolean {
    let before = NO_CHARACTER;
    let moved: number[] = [];
    for (let at = 0; ;) {
      const point = this.#text.codePointAt(at) ?? NO_CHARACTER;
      this.#step++;
      this.#waiting = [];
      for (const state of moved) this.#enter(state, before, point);
      // A match may begin anywhere.
      this.#enter(this.#program.start, before, point);
      if (this.#matched) return true;
      if (point === NO_CHARACTER) return false;
      this.#budget.spend(this.#steps);
      this.#steps = 1;
      moved = [];
      for (const { set, next } of this.#waiting) if (set(point)) moved.push(next);
      at += point > 0xffff ? 2 : 1;
      before = point;
    }
  }

  /** Follows transitions that consume no character. */
  #enter(first: number, before: number, after: number): void {
    const open = this.#open;
    for (let index: number | undefined = first; index !== undefined; index = open.pop()) {
      if (index === MATCHED) this.#matched = true;
      const state = this.#program.states[index];
      if (state === undefined || this.#enteredIn[index] === this.#step) continue;
      this.#enteredIn[index] = this.#step;
      this.#steps++;
      if (state.needs === "characters") {
        this.#waiting.push(state);
        this.#steps += state.steps;
      } else if (state.needs === "nothing") open.push(state.other, state.next);
      else if (isAt(state.position, before, after)) open.push(state.next);
    }
  }
}

function isAt(position: Position, before: number, after: number): boolean {
  switch (position) {
    case "text start":
      return before === NO_CHARACTER;
    case "text end":
      return after === NO_CHARACTER;
    case "line start":
      return before === NO_CHARACTER || before === NEW_LINE;
    case "line end":
      return after === NO_CHARACTER || after === NEW_LINE;
    case "word boundary":
      return isWordCharacter(before) !== isWordCharacter(after);
    case "no word boundary":
      return isWordCharacter(before) === isWordCharacter(after);
  }
}

/**
 * Whether a text matches a Go regular expression, in time that grows with the text and not faster: all states in which the expression can
 * be are followed at once, character by character. A pattern of one user's schema can therefore not hold up the server, as one of
 * JavaScript's own expressions could. Compiled expressions are kept, because each is asked about every object.
 */
import { Lru } from "../../../../../base/lru.ts";
import { isWordCharacter, NEW_LINE, type Characters } from "./characters.ts";
import { ExpressionError, parseExpression, type Expression, type Position } from "./parse.ts";

/** As Go's limit for the same. */
const STATES_MAX = 3_355_443;
/** Far more than the patterns of the definitions of one cluster. Larger ones weigh more, so that memory stays bounded. */
const KEPT_MAX = 1_000;
const KEPT_STATES_MAX = STATES_MAX;

const kept = new Lru<string, Program>({ max: KEPT_MAX, maxWeight: KEPT_STATES_MAX, weigh: ({ states }) => states.length });

/** Whether a part of `text` matches. Throws ExpressionError if the pattern is none. */
export function matchesPattern(pattern: string, text: string): boolean {
  return new Run(programOf(pattern), text).matches();
}

/** The sentence that says what is wrong with a pattern. */
export function patternProblem(pattern: string): string | undefined {
  try {
    programOf(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

function programOf(pattern: string): Program {
  const before = kept.get(pattern);
  if (before !== undefined) return before;
  const program = compile(pattern);
  kept.set(pattern, program);
  return program;
}

/** What must hold to go on from a state. */
type State =
  | { readonly needs: "characters"; readonly set: Characters; readonly next: number }
  | { readonly needs: "position"; readonly position: Position; readonly next: number }
  | { readonly needs: "nothing"; next: number; readonly other: number };

interface Program {
  readonly states: readonly State[];
  readonly start: number;
}

/** The state in which all has matched. */
const MATCHED = -1;

function compile(pattern: string): Program {
  const expression = parseExpression(pattern);
  if (statesOf(expression) > STATES_MAX) throw new ExpressionError("expression too large", pattern);
  const states: State[] = [];
  const start = addStates(states, expression, MATCHED);
  return { states, start };
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

/** Adds what leads to `next`; gives where it begins. */
function addStates(states: State[], expression: Expression, next: number): number {
  switch (expression.is) {
    case "characters":
      return states.push({ needs: "characters", set: expression.set, next }) - 1;
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
  /** The states that wait for a character. */
  #waiting: (State & { readonly needs: "characters" })[] = [];
  /** By state: the number of the step in which it was entered last, so that none is entered twice in one. */
  readonly #enteredIn: Uint32Array;
  #step = 0;
  #matched = false;

  constructor(program: Program, text: string) {
    this.#program = program;
    this.#text = text;
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
      moved = this.#waiting.filter(({ set }) => set(point)).map(({ next }) => next);
      at += point > 0xffff ? 2 : 1;
      before = point;
    }
  }

  /** Goes on from a state for as long as that takes no character. */
  #enter(first: number, before: number, after: number): void {
    const open = [first];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (index === MATCHED) this.#matched = true;
      const state = this.#program.states[index];
      if (state === undefined || this.#enteredIn[index] === this.#step) continue;
      this.#enteredIn[index] = this.#step;
      if (state.needs === "characters") this.#waiting.push(state);
      else if (state.needs === "nothing") open.push(state.other, state.next);
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

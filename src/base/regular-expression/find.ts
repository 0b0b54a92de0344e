/**
 * Where a text matches: the leftmost match, and of those at one place the one that the pattern prefers, as in Go. States are followed in
 * the order of preference, each with the place where its match began.
 */
import { isAt, NO_CHARACTER } from "./position.ts";
import { MATCHED, type Program, type Steps } from "./program.ts";

export interface Found {
  readonly start: number;
  readonly end: number;
}

/** The first match at or after `from`; undefined: none. */
export function findText(program: Program, text: string, from: number, meter: Steps): Found | undefined {
  return new Search(program, text, meter).run(from);
}

/** All matches that do not overlap, at most `limit` (negative: all). An empty match right after another one does not count. */
export function findAllText(program: Program, text: string, limit: number, meter: Steps): string[] {
  const found: string[] = [];
  let previousEnd = -1;
  for (let at = 0; at <= text.length && (limit < 0 || found.length < limit);) {
    const match = findText(program, text, at, meter);
    if (match === undefined) break;
    const isEmpty = match.end === match.start;
    if (!isEmpty || match.start !== previousEnd) found.push(text.slice(match.start, match.end));
    previousEnd = match.end;
    at = isEmpty ? match.end + widthAt(text, match.end) : match.end;
  }
  return found;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

interface Thread {
  readonly state: number;
  readonly start: number;
}

/** Steps of starting a search. */
const SEARCH_STEPS = 20;

class Search {
  readonly #program: Program;
  readonly #text: string;
  readonly #meter: Steps;
  /** By state: the step in which it was last entered. */
  readonly #enteredIn: Uint32Array;
  #step = 0;
  #steps = 0;

  constructor(program: Program, text: string, meter: Steps) {
    this.#program = program;
    this.#text = text;
    this.#meter = meter;
    meter.spend(SEARCH_STEPS + program.states.length);
    this.#enteredIn = new Uint32Array(program.states.length);
  }

  run(from: number): Found | undefined {
    let best: Found | undefined;
    let threads: Thread[] = [];
    let before = from === 0 ? NO_CHARACTER : (this.#text.codePointAt(from - precedingWidth(this.#text, from)) ?? NO_CHARACTER);
    for (let at = from; ;) {
      const point = this.#text.codePointAt(at) ?? NO_CHARACTER;
      this.#step++;
      const waiting: Thread[] = [];
      // A later start is only tried while nothing matched.
      const entering = best === undefined ? [...threads, { state: this.#program.start, start: at }] : threads;
      for (const thread of entering) {
        if (!this.#enter(thread, before, point, waiting)) continue;
        best = { start: thread.start, end: at };
        break;
      }
      this.#meter.spend(this.#steps + 1);
      this.#steps = 0;
      if (point === NO_CHARACTER || (waiting.length === 0 && best !== undefined)) return best;
      threads = this.#advance(waiting, point);
      at += point > 0xffff ? 2 : 1;
      before = point;
    }
  }

  /** Follows a thread without consuming, in order of preference; true if it matched, and threads after it do not count. */
  #enter({ state: first, start }: Thread, before: number, after: number, waiting: Thread[]): boolean {
    const open = [first];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (index === MATCHED) return true;
      const state = this.#program.states[index];
      if (state === undefined || this.#enteredIn[index] === this.#step) continue;
      this.#enteredIn[index] = this.#step;
      this.#steps++;
      if (state.needs === "characters") waiting.push({ state: index, start });
      else if (state.needs === "nothing") open.push(state.other, state.next);
      else if (isAt(state.position, before, after)) open.push(state.next);
    }
    return false;
  }

  #advance(waiting: readonly Thread[], point: number): Thread[] {
    const moved: Thread[] = [];
    for (const { state: index, start } of waiting) {
      const state = this.#program.states[index];
      if (state?.needs !== "characters") continue;
      this.#steps += state.steps;
      if (state.set(point)) moved.push({ state: state.next, start });
    }
    return moved;
  }
}

/** Units of the character that ends before `at`. */
function precedingWidth(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 1 ? 2 : 1;
}

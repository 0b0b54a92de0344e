/** Whether a part of a text matches. */
import { isAt, NO_CHARACTER } from "./position.ts";
import { MATCHED, type Program, type State, type Steps } from "./program.ts";

export function matchesText(program: Program, text: string, meter: Steps): boolean {
  return new Run(program, text, meter).matches();
}

/** One search; answers only whether a part of the text matches. */
class Run {
  readonly #program: Program;
  readonly #text: string;
  readonly #meter: Steps;
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

  constructor(program: Program, text: string, meter: Steps) {
    this.#program = program;
    this.#text = text;
    this.#meter = meter;
    // Flags of the table below.
    meter.spend(program.states.length);
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
      this.#meter.spend(this.#steps);
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

/** Expressions that are compiled on first use, at most once, and in several ticks of the event loop if that takes long. */
import type { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import type { MaybePromise } from "../../framework/authentication.ts";

export class CompiledOnce<Compiled> {
  readonly #turns: EvaluationTurns;
  readonly #compile: () => Generator<void, Compiled>;
  #compiled: MaybePromise<Compiled> | undefined;

  constructor(turns: EvaluationTurns, compile: () => Generator<void, Compiled>) {
    this.#turns = turns;
    this.#compile = compile;
  }

  /** A promise only while it is being compiled. */
  get(): MaybePromise<Compiled> {
    return this.#compiled ?? this.#start();
  }

  #start(): MaybePromise<Compiled> {
    const compiled = this.#turns.run(this.#compile());
    this.#compiled = compiled;
    if (compiled instanceof Promise) void this.#keep(compiled);
    return compiled;
  }

  async #keep(compiled: Promise<Compiled>): Promise<void> {
    try {
      this.#compiled = await compiled;
    } catch {
      // A defect, which the requests that wait report. Later ones compile again.
      this.#compiled = undefined;
    }
  }
}

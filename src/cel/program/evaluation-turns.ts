/**
 * Completes evaluations that take longer than a tick of the event loop: each of their slices runs in a tick of its own, also if many
 * requests evaluate expressions at once. What is short is completed synchronously.
 */
import { Fifo } from "../../base/fifo.ts";
import type { Evaluation, SuspendedEvaluation } from "../contract.ts";

/** Runs work in a later tick, as Clock.soon does. */
export type Soon = (work: () => void) => void;

export class EvaluationTurns {
  readonly #soon: Soon | undefined;
  readonly #waiting = new Fifo<() => void>();

  /** Without `soon`, nothing yields: under virtual time only the owner of the clock advances anything. */
  constructor(soon?: Soon) {
    this.#soon = soon;
  }

  complete(pending: Evaluation | SuspendedEvaluation): Evaluation | Promise<Evaluation> {
    if (!("resume" in pending)) return pending;
    return this.#soon === undefined ? completeNow(pending) : this.#slowly(pending);
  }

  /** Runs steps to their end, each but the first in a turn of its own. */
  run<T>(steps: Generator<void, T>): T | Promise<T> {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      if (this.#soon !== undefined) return this.#runSlowly(steps);
    }
  }

  /** A turn for other work that is done in parts, such as the deletion of thousands of objects; undefined: nothing yields. */
  pause(): Promise<void> | undefined {
    return this.#soon === undefined ? undefined : this.#turn();
  }

  async #slowly(suspended: SuspendedEvaluation): Promise<Evaluation> {
    let pending: Evaluation | SuspendedEvaluation = suspended;
    while ("resume" in pending) {
      await this.#turn();
      pending = pending.resume();
    }
    return pending;
  }

  async #runSlowly<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      await this.#turn();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Resolves in a later tick, in which no other evaluation is resumed. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#soon?.(() => this.#next());
    });
  }

  #next(): void {
    const resolve = this.#waiting.shift();
    if (this.#waiting.length > 0) this.#soon?.(() => this.#next());
    resolve?.();
  }
}

/** Without yields. */
export function completeNow(started: Evaluation | SuspendedEvaluation): Evaluation {
  let pending = started;
  while ("resume" in pending) pending = pending.resume();
  return pending;
}

/** Runs operations of one key one after another, in the order of the calls; those of different keys at the same time. */
export class KeyedTurns {
  /** The end of the last operation of each key. Removed when it has ended. */
  readonly #last = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before === undefined ? work() : before.then(work);
    // The next operation does not depend on the result.
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, ended);
    void ended.then(() => this.#last.get(key) === ended && this.#last.delete(key));
    return turn;
  }

  /** Resolves when all current operations have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}

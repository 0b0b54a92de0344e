/**
 * What was started and must be stopped, in one place. Stops in the reverse order of starting, since what came later may use
 * what came before; one after the other; and all of it, even when some fail. Like the standard's AsyncDisposableStack, which
 * Node 20 does not have.
 */
import { assert } from "./assert.ts";

export class Disposables implements AsyncDisposable {
  #cleanUps: (() => unknown)[] = [];
  /** Set from the first call of dispose on; every later call waits for the same end. */
  #disposal: Promise<void> | undefined;

  get isDisposed(): boolean {
    return this.#disposal !== undefined;
  }

  /** Will dispose of `resource`; hands it back. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  /** Will call `cleanUp`, and wait for it if it returns a promise. */
  defer(cleanUp: () => void | PromiseLike<void>): void {
    assert(!this.isDisposed, "nothing is started under an owner that has stopped");
    this.#cleanUps.push(cleanUp);
  }

  /**
   * Gives all of it to a new owner and is left empty. For a start that may fail half-way: collect under `await using`, and only
   * at the end move to what the caller gets.
   */
  move(): Disposables {
    assert(!this.isDisposed, "what was stopped has nothing to give");
    const heir = new Disposables();
    heir.#cleanUps = this.#cleanUps;
    this.#cleanUps = [];
    return heir;
  }

  /** Rejects with the one error, or with all of them as an AggregateError, after everything was tried. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#runAll();
    return this.#disposal;
  }

  async #runAll(): Promise<void> {
    const total = this.#cleanUps.length;
    const errors: unknown[] = [];
    for (let cleanUp = this.#cleanUps.pop(); cleanUp !== undefined; cleanUp = this.#cleanUps.pop()) {
      try {
        await cleanUp();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `Cannot stop everything: ${errors.length} of ${total} failed`);
  }
}

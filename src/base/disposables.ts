/**
 * Owns what was started and must be stopped. Disposes in reverse order of registration, since later resources may use earlier ones;
 * sequentially; and completely, even if some fail. Like the standard's AsyncDisposableStack, which Node 20 does not have.
 */
import { assert } from "./assert.ts";

export class Disposables implements AsyncDisposable {
  #cleanUps: (() => unknown)[] = [];
  /** Set by the first call of dispose; later calls wait for the same promise. */
  #disposal: Promise<void> | undefined;

  get isDisposed(): boolean {
    return this.#disposal !== undefined;
  }

  /** Registers `resource` for disposal and returns it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  /** Registers `cleanUp`, which is awaited if it returns a promise. */
  defer(cleanUp: () => void | PromiseLike<void>): void {
    assert(!this.isDisposed, "a disposed owner accepts no resources");
    this.#cleanUps.push(cleanUp);
  }

  /**
   * Moves everything to a new owner and leaves this one empty. For a start that may fail half-way: collect under `await using`, and move to
   * the caller's object at the end.
   */
  move(): Disposables {
    assert(!this.isDisposed, "a disposed owner has nothing to move");
    const heir = new Disposables();
    heir.#cleanUps = this.#cleanUps;
    this.#cleanUps = [];
    return heir;
  }

  /** Rejects with the single error, or with an AggregateError of all, after every cleanup was attempted. */
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

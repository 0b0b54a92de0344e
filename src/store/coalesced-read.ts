/**
 * Coalesces concurrent reads. The result is never older than the call: a read in flight may already have been executed, so that callers
 * meanwhile share the next one.
 */
export class CoalescedRead<T> {
  readonly #look: () => Promise<T>;
  #underWay: Promise<unknown> | undefined;
  #next: Promise<T> | undefined;

  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  read(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#underWay === undefined) return this.#begin();
    this.#next = this.#underWay.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const look = this.#look();
    // However it ends, callers that wait for the next read get theirs.
    const over = look.then(ignore, ignore);
    this.#underWay = over;
    void over.then(() => {
      if (this.#underWay === over) this.#underWay = undefined;
    });
    return look;
  }
}

function ignore(): void {}

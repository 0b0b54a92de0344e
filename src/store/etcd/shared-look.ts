/**
 * One look at something for all who ask for it at the same time. What is answered was never seen before it was asked for:
 * a look that is under way may already have been taken, so whoever comes meanwhile waits for the next one, together.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  #underWay: Promise<unknown> | undefined;
  #next: Promise<T> | undefined;

  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#underWay === undefined) return this.#begin();
    this.#next = this.#underWay.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const look = this.#look();
    // However it ends, those who wait for the next look get theirs.
    const over = look.then(ignore, ignore);
    this.#underWay = over;
    void over.then(() => {
      if (this.#underWay === over) this.#underWay = undefined;
    });
    return look;
  }
}

function ignore(): void {}

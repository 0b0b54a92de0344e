/** Limits the number of sockets that several relays open together: a flood of connections must not use up the process's file descriptors. */
export class SocketBudget {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** False if the limit is reached. Each success needs one `release`. */
  tryTake(): boolean {
    if (this.#used >= this.#max) return false;
    this.#used++;
    return true;
  }

  release(): void {
    this.#used--;
  }
}

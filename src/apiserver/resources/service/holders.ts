/** Tracks holders of addresses and ports: writes in progress, and Services. */
export class Holders<Item> {
  /** An item has several holders while a write that replaces its holder is in progress. */
  readonly #counts = new Map<Item, number>();

  isHeld(item: Item): boolean {
    return this.#counts.has(item);
  }

  count(item: Item): number {
    return this.#counts.get(item) ?? 0;
  }

  hold(item: Item): void {
    this.#counts.set(item, this.count(item) + 1);
  }

  release(item: Item): void {
    const count = this.count(item);
    if (count > 1) this.#counts.set(item, count - 1);
    else this.#counts.delete(item);
  }
}

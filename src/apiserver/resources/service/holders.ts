/** Who holds what is counted: an address or a port is held while a write that asks for it is on its way, and by the Service that has it. */
export class Holders<Item> {
  /** More than one can hold an item, while a write that replaces its holder is on its way. */
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

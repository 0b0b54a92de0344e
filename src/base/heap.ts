/**
 * Binary heap with O(log n) removal of any item, since every item knows its index. Items that compare equal are popped in no particular
 * order: add a sequence number if order matters.
 */
import { assert } from "./assert.ts";

/** Handle of an item, for removing it early. */
export interface HeapEntry<T> {
  readonly item: T;
}

interface Seat<T> extends HeapEntry<T> {
  /** Index in the array; -1 once removed. */
  index: number;
}

export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  /** The children of index i are 2i+1 and 2i+2, and neither is less than i. */
  readonly #seats: Seat<T>[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#seats.length;
  }

  /** The least item, without removing it. */
  peek(): T | undefined {
    return this.#seats[0]?.item;
  }

  push(item: T): HeapEntry<T> {
    const seat: Seat<T> = { item, index: this.#seats.length };
    this.#seats.push(seat);
    this.#rise(seat);
    return seat;
  }

  /** Removes and returns the least item. */
  pop(): T | undefined {
    const least = this.#seats[0];
    if (least !== undefined) this.#takeOut(least);
    return least?.item;
  }

  /** Removes one item at any position. `false`: it was already removed. */
  remove(handle: HeapEntry<T>): boolean {
    const seat = handle as Seat<T>;
    if (seat.index < 0) return false;
    assert(this.#seats[seat.index] === seat, "a seat belongs to the heap that gave it");
    this.#takeOut(seat);
    return true;
  }

  #takeOut(seat: Seat<T>): void {
    const last = this.#seats.pop() as Seat<T>;
    if (last !== seat) {
      // The last item fills the gap, from which it may have to move up or down.
      this.#place(last, seat.index);
      this.#rise(last);
      this.#sink(last);
    }
    seat.index = -1;
  }

  #rise(seat: Seat<T>): void {
    while (seat.index > 0) {
      const parent = this.#seats[(seat.index - 1) >> 1] as Seat<T>;
      if (this.#compare(parent.item, seat.item) <= 0) return;
      this.#swap(parent, seat);
    }
  }

  #sink(seat: Seat<T>): void {
    for (;;) {
      const left = this.#seats[2 * seat.index + 1];
      const right = this.#seats[2 * seat.index + 2];
      if (left === undefined) return;
      const lesser = right !== undefined && this.#compare(right.item, left.item) < 0 ? right : left;
      if (this.#compare(seat.item, lesser.item) <= 0) return;
      this.#swap(seat, lesser);
    }
  }

  #swap(a: Seat<T>, b: Seat<T>): void {
    const indexOfA = a.index;
    this.#place(a, b.index);
    this.#place(b, indexOfA);
  }

  #place(seat: Seat<T>, index: number): void {
    this.#seats[index] = seat;
    seat.index = index;
  }
}

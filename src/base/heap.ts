/**
 * A binary heap: the least item is always at hand, and any item can be taken out early at the same cost, O(log n), since every
 * item knows its place. Items that compare as equal come out in no particular order: give them a sequence number if it matters.
 */
import { assert } from "./assert.ts";

/** An item's seat in a heap, for taking it out early. */
export interface HeapSeat<T> {
  readonly item: T;
}

interface Seat<T> extends HeapSeat<T> {
  /** Where in the array; -1 once it is out. */
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

  /** The least item, left where it is. */
  peek(): T | undefined {
    return this.#seats[0]?.item;
  }

  push(item: T): HeapSeat<T> {
    const seat: Seat<T> = { item, index: this.#seats.length };
    this.#seats.push(seat);
    this.#rise(seat);
    return seat;
  }

  /** Takes the least item out. */
  pop(): T | undefined {
    const least = this.#seats[0];
    if (least !== undefined) this.#takeOut(least);
    return least?.item;
  }

  /** Takes one item out, wherever it is. `false`: it is out already. */
  remove(handle: HeapSeat<T>): boolean {
    const seat = handle as Seat<T>;
    if (seat.index < 0) return false;
    assert(this.#seats[seat.index] === seat, "a seat belongs to the heap that gave it");
    this.#takeOut(seat);
    return true;
  }

  #takeOut(seat: Seat<T>): void {
    const last = this.#seats.pop() as Seat<T>;
    if (last !== seat) {
      // The last takes the empty place, from which it may have to go either way.
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

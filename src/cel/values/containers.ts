/** Lists and maps that expressions create. */
import { ELEMENT_STEPS, NO_SUCH_OVERLOAD, numberOf } from "./compare.ts";
import { describe } from "./describe.ts";
import { spend } from "./meter.ts";
import { CelError, ListValue, MapValue, type CelResult, type CelValue } from "./value.ts";

/** A list of values. */
export class ArrayList extends ListValue {
  readonly #elements: readonly CelValue[];

  constructor(elements: readonly CelValue[]) {
    super();
    this.#elements = elements;
  }

  get size(): number {
    return this.#elements.length;
  }

  at(index: number): CelResult {
    return this.#elements[index] as CelValue;
  }

  concat(other: ListValue): ListValue {
    return other.size === 0 ? this : this.size === 0 ? other : new ConcatList(this, other);
  }
}

export const EMPTY_LIST = new ArrayList([]);

/** Two lists as one, without copying. */
export class ConcatList extends ListValue {
  readonly #first: ListValue;
  readonly #second: ListValue;
  readonly size: number;
  #flat: CelResult[] | undefined;

  constructor(first: ListValue, second: ListValue) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
  }

  at(index: number): CelResult {
    return (this.#flat ??= this.#flatten())[index] as CelValue;
  }

  concat(other: ListValue): ListValue {
    return other.size === 0 ? this : new ConcatList(this, other);
  }

  /** Iterative: chains of concatenations may be deep. */
  #flatten(): CelResult[] {
    spend(this.size * ELEMENT_STEPS);
    const flat: CelResult[] = [];
    const pending: ListValue[] = [this];
    for (let list = pending.pop(); list !== undefined; list = pending.pop()) {
      if (list instanceof ConcatList && list.#flat === undefined) pending.push(list.#second, list.#first);
      else for (let index = 0; index < list.size; index++) flat.push(list.at(index));
    }
    return flat;
  }
}

/** The accumulator of a loop: appending changes it, since nothing else refers to it. */
export class GrowingList extends ListValue {
  readonly #elements: CelResult[] = [];
  #isFrozen = false;

  /** The loop has ended: others may refer to the list now. */
  freeze(): void {
    this.#isFrozen = true;
  }

  get size(): number {
    return this.#elements.length;
  }

  at(index: number): CelResult {
    return this.#elements[index] as CelValue;
  }

  concat(other: ListValue): ListValue {
    if (this.#isFrozen) return other.size === 0 ? this : this.size === 0 ? other : new ConcatList(this, other);
    for (let index = 0; index < other.size; index++) this.#elements.push(other.at(index));
    return this;
  }
}

/** Equal keys have the same text; undefined: the value cannot be a key. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  const number = numberOf(key);
  if (number === undefined) return undefined;
  return typeof number === "number" && Number.isInteger(number) ? `n${BigInt(number)}` : `n${number}`;
}

interface Entry {
  readonly key: CelValue;
  readonly value: CelValue;
}

/** A map of values. */
export class EntryMap extends MapValue {
  readonly #entries: Map<string, Entry>;

  private constructor(entries: Map<string, Entry>) {
    super();
    this.#entries = entries;
  }

  static of(entries: Iterable<readonly [CelValue, CelValue]>): EntryMap | CelError {
    const map = new Map<string, Entry>();
    for (const [key, value] of entries) {
      const text = keyText(key);
      if (text === undefined) return new CelError("unsupported key type");
      map.set(text, { key, value });
    }
    return new EntryMap(map);
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: CelValue): CelResult | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.#entries.get(text)?.value;
  }

  keys(): readonly CelValue[] {
    return Array.from(this.#entries.values(), ({ key }) => key);
  }

  override anyKey(): CelValue | undefined {
    for (const { key } of this.#entries.values()) return key;
    return undefined;
  }
}

/** The accumulator of a loop that builds a map. */
export class GrowingMap extends MapValue {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  find(key: CelValue): CelResult | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.#entries.get(text)?.value;
  }

  keys(): readonly CelValue[] {
    return Array.from(this.#entries.values(), ({ key }) => key);
  }

  override anyKey(): CelValue | undefined {
    for (const { key } of this.#entries.values()) return key;
    return undefined;
  }

  /** An error if the key exists. */
  insert(key: CelValue, value: CelValue): GrowingMap | CelError {
    const text = keyText(key);
    if (text === undefined) return NO_SUCH_OVERLOAD;
    if (this.#entries.has(text)) return new CelError(`insert failed: key ${describe(key)} already exists`);
    this.#entries.set(text, { key, value });
    return this;
  }
}

export function elementsOf(list: ListValue): CelValue[] | CelError {
  const elements: CelValue[] = [];
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (element instanceof CelError) return element;
    elements.push(element);
  }
  return elements;
}

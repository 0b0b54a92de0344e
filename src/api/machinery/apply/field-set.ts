/**
 * An immutable set of field paths, as a tree of path elements. Every operation returns a new set that shares unchanged parts with the old
 * one, and the old one itself if nothing changed. A set from text is parsed lazily, level by level, and keeps the text of every part, so
 * that serializing a set of which one path changed costs one path. Not here: the fields of an object (fields-of.ts), the owner of a set
 * (owner.ts).
 */
import type { JsonObject } from "../object.ts";
import { readLevel } from "./field-text.ts";
import { canonicalElement, compareElements, quoted, sortByElement, type FieldPath, type PathElement } from "./field-path.ts";

export interface FieldItem {
  readonly element: PathElement;
  /** True if the path that ends here is in the set. */
  readonly member: boolean;
  /** The set below. Never empty. */
  readonly children: FieldSet | undefined;
}

/** Up to this many items a linear search is faster than a map. */
const SEARCHED_MAX = 8;

export class FieldSet {
  static readonly empty = new FieldSet([], "{}");

  #items: readonly FieldItem[] | undefined;
  #text: string | undefined;
  #index: ReadonlyMap<PathElement, FieldItem> | undefined;

  private constructor(items: readonly FieldItem[] | undefined, text: string | undefined) {
    this.#items = items;
    this.#text = text;
  }

  /** Builds a set from items with different elements, in any order; empty items are dropped. */
  static of(items: readonly FieldItem[]): FieldSet {
    const some = items.filter(holds);
    return some.length === 0 ? FieldSet.empty : new FieldSet(sortByElement(some), undefined);
  }

  /** From stored FieldsV1. Throws a SyntaxError on first use if the text is malformed. */
  static fromText(text: string): FieldSet {
    return text === "{}" ? FieldSet.empty : new FieldSet(undefined, text);
  }

  /** From FieldsV1 of a client. Throws a SyntaxError if a path element is malformed; unknown kinds are skipped. */
  static fromJson(json: JsonObject): FieldSet {
    const items = new Map<PathElement, FieldItem>();
    for (const [key, below] of Object.entries(json)) {
      if (key === "." || below === undefined) continue;
      const element = canonicalElement(key);
      if (element === undefined) continue;
      if (typeof below !== "object" || below === null || Array.isArray(below)) {
        throw new SyntaxError(`expected an object after ${JSON.stringify(key)}, got ${JSON.stringify(below)}`);
      }
      const children = FieldSet.fromJson(below as JsonObject);
      const leaf = children.isEmpty;
      items.set(element, { element, member: leaf || Object.hasOwn(below, "."), children: leaf ? undefined : children });
    }
    return FieldSet.of([...items.values()]);
  }

  static fromPaths(paths: readonly FieldPath[]): FieldSet {
    return paths.reduce((set, path) => set.union(singlePath(path)), FieldSet.empty);
  }

  /** Union of many sets. Divide and conquer, so that a path is visited at most log(n) times. */
  static unionOf(sets: readonly FieldSet[]): FieldSet {
    const [first, second] = sets;
    if (first === undefined) return FieldSet.empty;
    if (second === undefined) return first;
    const middle = sets.length >> 1;
    return FieldSet.unionOf(sets.slice(0, middle)).union(FieldSet.unionOf(sets.slice(middle)));
  }

  /** Items in upstream's order. */
  get items(): readonly FieldItem[] {
    return (this.#items ??= itemsOfText(this.#text ?? "{}"));
  }

  get isEmpty(): boolean {
    return this.items.length === 0;
  }

  /** Serializes as FieldsV1. */
  text(): string {
    if (this.#text !== undefined) return this.#text;
    const parts = this.items.map((item) => `${quoted(item.element)}:${textOfItem(item)}`);
    return (this.#text = `{${parts.join(",")}}`);
  }

  get(element: PathElement): FieldItem | undefined {
    const { items } = this;
    if (items.length <= SEARCHED_MAX) {
      for (const item of items) if (item.element === element) return item;
      return undefined;
    }
    return (this.#index ??= new Map(items.map((item) => [item.element, item]))).get(element);
  }

  has(path: FieldPath): boolean {
    const [first, ...rest] = path;
    if (first === undefined) return false;
    const item = this.get(first);
    return rest.length === 0 ? item?.member === true : item?.children?.has(rest) === true;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty || other === this) return this;
    if (this.isEmpty) return other;
    const merged = this.mapItems((item) => {
      const theirs = other.get(item.element);
      return theirs === undefined ? item : unitedItem(item, theirs);
    });
    const added = other.items.filter(({ element }) => this.get(element) === undefined);
    return added.length === 0 ? merged : new FieldSet(withItems(merged.items, added), undefined);
  }

  /** The paths that are here and not in `other`. Removing a path keeps those below it. */
  difference(other: FieldSet): FieldSet {
    return without(this, other, { recursive: false });
  }

  /** The paths that are here and neither in `other` nor below a path of `other`. */
  recursiveDifference(other: FieldSet): FieldSet {
    return without(this, other, { recursive: true });
  }

  /** The intersection. */
  intersection(other: FieldSet): FieldSet {
    if (other === this) return this;
    return this.mapItems((item) => {
      const theirs = other.get(item.element);
      if (theirs === undefined) return undefined;
      const children = theirs.children === undefined ? undefined : item.children?.intersection(theirs.children);
      return itemWith(item, item.member && theirs.member, children);
    });
  }

  /** The items that `change` keeps or changes; this very set if it changes none. Elements must not change. */
  mapItems(change: (item: FieldItem) => FieldItem | undefined): FieldSet {
    const { items } = this;
    let kept: FieldItem[] | undefined;
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as FieldItem;
      const changed = change(item);
      if (kept === undefined) {
        if (changed === item) continue;
        kept = items.slice(0, index);
      }
      if (changed !== undefined && holds(changed)) kept.push(changed);
    }
    if (kept === undefined) return this;
    return kept.length === 0 ? FieldSet.empty : new FieldSet(kept, undefined);
  }

  equals(other: FieldSet): boolean {
    return this === other || this.text() === other.text();
  }

  /** All paths of the set: those that end at a level before deeper ones, as upstream lists them. */
  *paths(prefix: FieldPath = []): Generator<FieldPath> {
    for (const { element, member } of this.items) if (member) yield [...prefix, element];
    for (const { element, children } of this.items) if (children !== undefined) yield* children.paths([...prefix, element]);
  }
}

function without(set: FieldSet, other: FieldSet, options: { readonly recursive: boolean }): FieldSet {
  if (other.isEmpty || set.isEmpty) return set;
  return set.mapItems((item) => {
    const theirs = other.get(item.element);
    if (theirs === undefined) return item;
    if (options.recursive && theirs.member) return undefined;
    const { children } = item;
    const left = children === undefined || theirs.children === undefined ? children : without(children, theirs.children, options);
    return itemWith(item, item.member && !theirs.member, left);
  });
}

function holds({ member, children }: FieldItem): boolean {
  return member || children !== undefined;
}

/** The item with another content; itself if that is equal. */
export function itemWith(item: FieldItem, member: boolean, children: FieldSet | undefined): FieldItem {
  const below = children?.isEmpty === true ? undefined : children;
  return item.member === member && item.children === below ? item : { element: item.element, member, children: below };
}

function unitedItem(item: FieldItem, theirs: FieldItem): FieldItem {
  const children = theirs.children === undefined ? item.children : (item.children?.union(theirs.children) ?? theirs.children);
  return itemWith(item, item.member || theirs.member, children);
}

function singlePath(path: FieldPath): FieldSet {
  return path.reduceRight<FieldSet>((children, element, index) => {
    return FieldSet.of([{ element, member: index === path.length - 1, children: children.isEmpty ? undefined : children }]);
  }, FieldSet.empty);
}

/** Merges two sorted, disjoint lists. Uses binary search, because comparing list keys costs more than copying items. */
function withItems(items: readonly FieldItem[], added: readonly FieldItem[]): readonly FieldItem[] {
  const all: FieldItem[] = [];
  let next = 0;
  for (const item of added) {
    const place = placeOf(items, item.element, next);
    for (; next < place; next++) all.push(items[next] as FieldItem);
    all.push(item);
  }
  for (; next < items.length; next++) all.push(items[next] as FieldItem);
  return all;
}

/** Insertion index of a new element among sorted items, from a given index on. */
function placeOf(items: readonly FieldItem[], element: PathElement, start: number): number {
  let low = start;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareElements(items[middle]?.element ?? "", element) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function textOfItem({ member, children }: FieldItem): string {
  const text = children?.text() ?? "{}";
  if (children === undefined || !member) return text;
  return `{".":{},${text.slice(1)}`;
}

function itemsOfText(text: string): readonly FieldItem[] {
  const items = readLevel(text).map(({ element, member, text: below }): FieldItem => {
    return { element, member, children: below === undefined ? undefined : childrenOfText(below, member) };
  });
  return isOrdered(items) ? items : sortByElement(items);
}

const DOT_FIRST = '{".":{},';

/** The text of a set has no "." of its own: its parent holds whether its path is a member. */
function childrenOfText(text: string, member: boolean): FieldSet {
  if (!member) return FieldSet.fromText(text);
  if (text.startsWith(DOT_FIRST)) return FieldSet.fromText(`{${text.slice(DOT_FIRST.length)}`);
  return FieldSet.fromJson(JSON.parse(text) as JsonObject);
}

/** Stored text is sorted unless another program wrote it. List keys are assumed sorted, since parsing them is expensive. */
function isOrdered(items: readonly FieldItem[]): boolean {
  for (let index = 1; index < items.length; index++) {
    const before = items[index - 1]?.element ?? "";
    const element = items[index]?.element ?? "";
    if (before[0] === "f" && element[0] === "f" && before >= element) return false;
  }
  return true;
}

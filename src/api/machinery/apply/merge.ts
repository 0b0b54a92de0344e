/**
 * Merges an applied object into a live one. Nothing is removed: remove.ts does that, depending on ownership. Where both have a value the
 * applied one wins; equal values keep the identity of the live one.
 *
 * List items of the live object alone keep their position; shared and applied ones follow the applied order.
 */
import { deepEqual } from "../../../base/deep.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import type { PathElement } from "./field-path.ts";
import { elementOf, isEmptyObject, isList, memberOf, memberSlot, rootSlot, unnamedSlot, type Slot } from "./shape.ts";

export function mergeObjects(schema: ObjectSchema, live: JsonObject, applied: JsonObject): JsonObject {
  return mergeValues(rootSlot(schema), live, applied) as JsonObject;
}

function mergeValues(slot: Slot, live: Json | undefined, applied: Json): Json {
  if (live === undefined || live === applied) return applied;
  const { schema } = slot;
  if (!slot.atomic && schema.type === "list") {
    const isFilled = isList(live) && live.length > 0;
    if (isFilled && isList(applied)) return mergeLists(schema, live, applied);
    if (isFilled && applied === null) return live;
  } else if (!slot.atomic && isObject(live) && !isEmptyObject(live)) {
    if (isObject(applied)) return mergeMembers(schema, live, applied);
    // Null means that the map is wanted, not that it should be empty.
    if (applied === null) return live;
  }
  return deepEqual(live, applied) ? live : applied;
}

function mergeMembers(schema: Schema, live: JsonObject, applied: JsonObject): JsonObject {
  const changes: [string, Json][] = [];
  for (const [name, value] of Object.entries(applied)) {
    if (value === undefined) continue;
    const before = memberOf(live, name);
    const merged = mergeValues(memberSlot(schema, name), before, value);
    if (merged !== before) changes.push([name, merged]);
  }
  return changes.length === 0 ? live : { ...live, ...Object.fromEntries(changes) };
}

function mergeLists(schema: ListSchema, live: readonly Json[], applied: readonly Json[]): readonly Json[] {
  const merged = new ListMerge(schema, live, applied).run();
  return merged.length === live.length && merged.every((item, index) => item === live[index]) ? live : merged;
}

interface Named {
  readonly element: PathElement;
  readonly item: Json;
}

/** Walks both lists in parallel. */
class ListMerge {
  readonly #slot: Slot;
  readonly #live: readonly Named[];
  readonly #applied: readonly Named[];
  /** Live items by path element; null for an element with duplicates, which cannot be merged into. */
  readonly #liveItems = new Map<PathElement, Json>();
  readonly #appliedElements: ReadonlySet<PathElement>;
  /** Path elements in both lists, in the applied order. */
  readonly #shared: readonly PathElement[];
  /** Index of the next one to be written. */
  #next = 0;
  readonly #written = new Set<PathElement>();
  readonly #merged: Json[] = [];

  constructor(schema: ListSchema, live: readonly Json[], applied: readonly Json[]) {
    const named = (item: Json): Named => ({ element: elementOf(schema, item), item });
    this.#slot = unnamedSlot(schema.items);
    this.#live = live.map(named);
    this.#applied = applied.map(named);
    for (const { element, item } of this.#live) this.#liveItems.set(element, this.#liveItems.has(element) ? null : item);
    this.#appliedElements = new Set(this.#applied.map(({ element }) => element));
    this.#shared = [...this.#appliedElements].filter((element) => this.#liveItems.has(element));
  }

  run(): readonly Json[] {
    let applied = 0;
    for (const { element, item } of this.#live) {
      if (!this.#appliedElements.has(element)) {
        this.#merged.push(item);
        continue;
      }
      // The next shared item is preceded by all applied items before it; one that the applied list has later is written there.
      if (this.#shared[this.#next] === element) while (!this.#written.has(element)) this.#write(this.#applied[applied++]);
      // A duplicate of a written item is replaced by a remaining one.
      else if (this.#next === this.#shared.length) this.#write(this.#applied[applied++]);
    }
    while (applied < this.#applied.length) this.#write(this.#applied[applied++]);
    return this.#merged;
  }

  #write(named: Named | undefined): void {
    if (named === undefined) return;
    const { element, item } = named;
    this.#merged.push(mergeValues(this.#slot, this.#liveItems.get(element) ?? undefined, item));
    this.#written.add(element);
    if (this.#shared[this.#next] === element) this.#next++;
  }
}

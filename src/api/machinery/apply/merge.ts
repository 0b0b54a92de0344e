/**
 * Lays an applied object over a live one. Nothing is removed: that is remove.ts's, and depends on who owns what. Where both have a value
 * the applied one wins; what is equal keeps the identity of the live one.
 *
 * Items of a list that only the live object has stay where they are; those that both or only the applied one have come in its order.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { Json, JsonObject } from "../object.ts";
import type { ListSchema, ObjectSchema, Schema } from "../schema.ts";
import type { PathElement } from "./field-path.ts";
import { elementOf, isEmptyObject, isList, isObject, memberOf, memberSlot, rootSlot, unnamedSlot, type Slot } from "./shape.ts";

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
    // Null says that the map is wanted, not that it should be empty.
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

/** Walks both lists at once. */
class ListMerge {
  readonly #slot: Slot;
  readonly #live: readonly Named[];
  readonly #applied: readonly Named[];
  /** Live items by their step; null for a step that several share, which cannot be merged into. */
  readonly #liveItems = new Map<PathElement, Json>();
  readonly #appliedElements: ReadonlySet<PathElement>;
  /** Steps that both lists have, in the order of the applied one. */
  readonly #shared: readonly PathElement[];
  /** Which of them is the next to be written. */
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
      // The next shared item brings all applied items up to it; one that the applied list has later is written there.
      if (this.#shared[this.#next] === element) while (!this.#written.has(element)) this.#write(this.#applied[applied++]);
      // A duplicate of what is written already gives way to what is left, one each.
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

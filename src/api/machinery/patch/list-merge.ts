/**
 * Strategic merge of two lists: scalars as a set, objects by their merge key, with `$patch: delete` for one item and `$patch: replace` for
 * the whole list. Not here: which strategy applies where (strategic-merge.ts), the order of the result (list-order.ts).
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import { isJsonList, memberOf, sameOr } from "./edit.ts";
import { inOrder, keyBy, requireKeys } from "./list-order.ts";
import { cannotMerge, doesNotFit, goText, goType, noMergeKey, unknownDirective, wrongArgument } from "./patch-error.ts";
import { goKind, type ListRule } from "./patch-schema.ts";

export interface MergedList {
  readonly list: readonly Json[];
  /**
   * The server's list as upstream has it when `$setElementOrder` is applied afterwards: new items occupy the positions at its end that
   * deleted ones left. (Upstream deletes and appends in the same array.)
   */
  readonly serverOrder: readonly Json[];
}

export type MergeItem = (original: JsonObject, patch: JsonObject) => JsonObject;

export function mergeLists(original: readonly Json[], patch: readonly Json[], rule: ListRule, mergeItem: MergeItem): MergedList {
  if (original.length === 0 && patch.length === 0) return { list: original, serverOrder: original };
  if (!hasObjects(original, patch)) return { list: mergeScalars(original, patch, rule), serverOrder: original };
  if (rule.mergeKey === undefined) throw cannotMerge(`cannot merge lists without merge key for ${goKind(rule.items)}`);
  return mergeByKey(
    { original: original as readonly JsonObject[], patch: patch as readonly JsonObject[], mergeKey: rule.mergeKey },
    mergeItem,
  );
}

/** `$deleteFromPrimitiveList`. */
export function deleteScalars(original: readonly Json[], unwanted: readonly Json[]): readonly Json[] {
  const keys = new Set(unwanted);
  return sameOr(
    original,
    original.filter((item) => !keys.has(item)),
  );
}

/** True if the items are objects. They must all be of one type, and none a list. */
export function hasObjects(...lists: readonly (readonly Json[])[]): boolean {
  const first = lists.find((list) => list.length > 0)?.[0];
  if (first === undefined) throw cannotMerge("no elements in any of the given slices");
  if (isJsonList(first)) throw doesNotFit("lists of lists are not supported");
  const type = goType(first);
  if (first === null || lists.some((list) => list.some((item) => goType(item) !== type))) {
    throw cannotMerge(`list element types are not identical: ${goText(lists)}`);
  }
  return isObject(first);
}

function mergeScalars(original: readonly Json[], patch: readonly Json[], { mergeKey }: ListRule): readonly Json[] {
  if (mergeKey !== undefined) throw wrongArgument("map", original[0] ?? patch[0] ?? null);
  const all = [...new Set([...original, ...patch])];
  return sameOr(original, inOrder(all, { patchOrder: patch, serverOrder: original, keyOf: keyBy(undefined) }));
}

interface KeyedLists {
  readonly original: readonly JsonObject[];
  readonly patch: readonly JsonObject[];
  readonly mergeKey: string;
}

function mergeByKey({ original, patch, mergeKey }: KeyedLists, mergeItem: MergeItem): MergedList {
  const { deleted, isReplaced, plain } = directivesIn(patch, mergeKey);
  const remaining = original.filter((item) => !deleted.has(memberOf(item, mergeKey)));
  const { items, added } = isReplaced
    ? { items: plain, added: [] }
    : mergeItems({ original: remaining, patch: plain, mergeKey }, mergeItem);
  requireKeys(items, mergeKey);
  const orders = isReplaced ? { patchOrder: [], serverOrder: plain } : { patchOrder: plain, serverOrder: remaining };
  const list = inOrder(items, { ...orders, keyOf: keyBy(mergeKey) });
  const freed = original.length - remaining.length;
  return { list: sameOr(original, list), serverOrder: [...remaining, ...added.slice(0, freed)] };
}

interface Directives {
  /** The keys of deleted items. */
  readonly deleted: ReadonlySet<Json | undefined>;
  /** The patch's items replace the list. */
  readonly isReplaced: boolean;
  /** The items without a directive. */
  readonly plain: readonly JsonObject[];
}

function directivesIn(patch: readonly JsonObject[], mergeKey: string): Directives {
  const deleted = new Set<Json | undefined>();
  const plain: JsonObject[] = [];
  let isReplaced = false;
  for (const item of patch) {
    const directive = memberOf(item, "$patch");
    if (directive === undefined) plain.push(item);
    else if (directive === "delete") deleted.add(keyOrFail(item, mergeKey));
    else if (directive === "replace") isReplaced = true;
    else if (directive === "merge") throw cannotMerge("merging lists cannot yet be specified in the patch");
    else throw unknownDirective(directive, item);
  }
  return { deleted, isReplaced, plain };
}

/** Each item of the patch is merged into the first with its key, which the patch itself may have added. */
function mergeItems({ original, patch, mergeKey }: KeyedLists, mergeItem: MergeItem): { items: JsonObject[]; added: JsonObject[] } {
  const items = [...original];
  const places = new Map<Json | undefined, number>();
  for (const [place, item] of items.entries()) {
    const key = memberOf(item, mergeKey);
    if (!places.has(key)) places.set(key, place);
  }
  for (const item of patch) {
    const key = keyOrFail(item, mergeKey);
    const place = places.get(key) ?? items.length;
    const existing = items[place];
    items[place] = existing === undefined ? item : mergeItem(existing, item);
    places.set(key, place);
  }
  return { items, added: items.slice(original.length) };
}

function keyOrFail(item: JsonObject, mergeKey: string): Json {
  const key = memberOf(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

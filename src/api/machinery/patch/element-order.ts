/**
 * `$setElementOrder/<list>`: the order that the patch's author wants for the items that they know. `kubectl apply` sends it with every list
 * that is merged. list-order.ts places the items of the server alone between them.
 */
import { isObject, type Json } from "../object.ts";
import { badRequest } from "../status-error.ts";
import { memberOf } from "./edit.ts";
import { hasObjects, type MergedList } from "./list-merge.ts";
import { inOrder, keyBy, requireKeys } from "./list-order.ts";
import { cannotMerge, goText, noMergeKey, wrongArgument } from "./patch-error.ts";
import { goKind, type ListRule } from "./patch-schema.ts";

export const ORDER_DIRECTIVE = "$setElementOrder";

/** "$setElementOrder/finalizers" → "finalizers". */
export function orderedListName(directive: string): string {
  const [prefix, name] = splitOnce(directive);
  if (prefix !== ORDER_DIRECTIVE || name === undefined) throw badRequest("invalid patch format of setElementOrder list");
  return name;
}

/** At the first slash only: a name may contain more. */
export function splitOnce(directive: string): [prefix: string, name: string | undefined] {
  const slash = directive.indexOf("/");
  return slash < 0 ? [directive, undefined] : [directive.slice(0, slash), directive.slice(slash + 1)];
}

export interface ListsToOrder extends MergedList {
  /** The lists in the object and in the patch: empty if absent. */
  readonly original: readonly Json[];
  readonly patch: readonly Json[];
  readonly wanted: readonly Json[];
}

export function orderElements(
  { list, serverOrder, original, patch, wanted }: ListsToOrder,
  { mergeKey, items }: ListRule,
): readonly Json[] {
  if (mergeKey !== undefined) requireKeys(list, mergeKey);
  if (hasObjects(original, patch)) {
    if (mergeKey === undefined) throw cannotMerge(`cannot merge lists without merge key for ${goKind(items)}`);
    requireKeys(wanted, mergeKey);
  }
  return inOrder(list, { patchOrder: wanted, serverOrder, keyOf: keyBy(mergeKey) });
}

/** The patch's own items must all be listed in the element order, and follow it. */
export function checkWantedOrder(patch: readonly Json[], wanted: readonly Json[], mergeKey: string | undefined): void {
  if (wanted.length === 0 || patch.length === 0) return;
  const expected = mergeKey === undefined ? patch : patch.filter((item) => !isDeletion(item));
  let found = 0;
  for (let place = 0; place < wanted.length && found < expected.length;) {
    const item = expected[found] as Json;
    if (isObject(item) && memberOf(item, "$patch") !== undefined) {
      found++;
      continue;
    }
    if (keyIn(item, mergeKey) === keyIn(wanted[place] as Json, mergeKey)) found++;
    place++;
  }
  if (found < expected.length) {
    throw cannotMerge(`The order in patch list:\n${goText(patch)}\n doesn't match ${ORDER_DIRECTIVE} list:\n${goText(wanted)}\n`);
  }
}

function isDeletion(item: Json): boolean {
  if (!isObject(item)) throw wrongArgument("map", item);
  return memberOf(item, "$patch") === "delete";
}

function keyIn(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  if (!isObject(item)) throw wrongArgument("map", item);
  const key = memberOf(item, mergeKey);
  if (key === undefined) throw noMergeKey(item, mergeKey);
  return key;
}

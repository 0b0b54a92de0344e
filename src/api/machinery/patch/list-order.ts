/**
 * The order of merged lists. Items of the patch have the patch's order; items of the server alone keep the server's order; between the two,
 * the server's old order decides, and a new item precedes those of the server alone.
 */
import { isObject, type Json } from "../object.ts";
import { memberOf } from "./edit.ts";
import { noMergeKey, wrongArgument } from "./patch-error.ts";

/** Identity of an item: its merge key, or the scalar itself. */
export type KeyOf = (item: Json) => Json | undefined;

export function keyBy(mergeKey: string | undefined): KeyOf {
  if (mergeKey === undefined) return (item) => item;
  return (item) => (isObject(item) ? memberOf(item, mergeKey) : undefined);
}

/** Every item must be an object with its merge key. */
export function requireKeys(list: readonly Json[], mergeKey: string): void {
  for (const item of list) {
    if (!isObject(item)) throw wrongArgument("map", item);
    if (memberOf(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
  }
}

export interface Orders {
  /** Items of the patch, in its order. */
  readonly patchOrder: readonly Json[];
  /** The server's previous list. */
  readonly serverOrder: readonly Json[];
  readonly keyOf: KeyOf;
}

export function inOrder(items: readonly Json[], { patchOrder, serverOrder, keyOf }: Orders): readonly Json[] {
  const patchRank = ranks(patchOrder, keyOf);
  const serverRank = ranks(serverOrder, keyOf);
  const patched: Json[] = [];
  const serverOnly: Json[] = [];
  for (const item of items) (patchRank.has(keyOf(item)) ? patched : serverOnly).push(item);
  return interleave({
    patched: sortedBy(patchRank, patched, keyOf),
    serverOnly: sortedBy(serverRank, serverOnly, keyOf),
    rankOf: (item) => serverRank.get(keyOf(item)),
  });
}

type Ranks = ReadonlyMap<Json | undefined, number>;

/** Of duplicate keys the first position counts: hence from the end. */
function ranks(list: readonly Json[], keyOf: KeyOf): Ranks {
  const places = new Map<Json | undefined, number>();
  for (let place = list.length - 1; place >= 0; place--) places.set(keyOf(list[place] as Json), place);
  return places;
}

/** Items without a rank come first: upstream's comparison is inconsistent for them, so any order is valid. */
function sortedBy(rank: Ranks, items: readonly Json[], keyOf: KeyOf): readonly Json[] {
  return items.toSorted((a, b) => (rank.get(keyOf(a)) ?? -1) - (rank.get(keyOf(b)) ?? -1));
}

interface Halves {
  readonly serverOnly: readonly Json[];
  readonly patched: readonly Json[];
  /** The item's previous index on the server. */
  rankOf(item: Json): number | undefined;
}

/** Both halves keep their order. An item of the server alone precedes a patched one if it did before. */
function interleave({ serverOnly, patched, rankOf }: Halves): readonly Json[] {
  const result: Json[] = [];
  let next = 0;
  for (const item of patched) {
    const rank = rankOf(item);
    for (; rank !== undefined && next < serverOnly.length; next++) {
      const candidate = serverOnly[next] as Json;
      const candidateRank = rankOf(candidate);
      if (candidateRank === undefined || candidateRank >= rank) break;
      result.push(candidate);
    }
    result.push(item);
  }
  return [...result, ...serverOnly.slice(next)];
}

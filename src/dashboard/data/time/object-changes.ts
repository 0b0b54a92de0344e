/** What changed between two revisions, object by object, from the recorded writes. Pure. Not here: the fields (the API's diff). */
import type { CauseItem } from "../../../explain/explain-api.ts";

export interface ObjectChange {
  /** "deployments.apps". */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly means: "created" | "changed" | "removed" | "created and removed";
  readonly writes: number;
  /** Components and users that wrote it, in order of their first write. */
  readonly writers: readonly string[];
  readonly last: CauseItem;
}

export interface RangeChanges {
  readonly changes: readonly ObjectChange[];
  /** False if writes at the start of the range are no longer recorded. The first record of a server has the id 1. */
  readonly isComplete: boolean;
}

/** After `from`, up to and with `to`. `items`: all that are recorded, oldest first. */
export function changesBetween(items: readonly CauseItem[], { from, to }: { readonly from: number; readonly to: number }): RangeChanges {
  const byObject = new Map<string, CauseItem[]>();
  const revisions = items.flatMap(({ resourceVersion }) => (resourceVersion === undefined ? [] : [Number(resourceVersion)]));
  for (const item of items) {
    const revision = Number(item.resourceVersion ?? 0);
    if (revision <= from || revision > to) continue;
    const key = `${item.resource} ${item.namespace ?? ""}/${item.name ?? ""}`;
    const own = byObject.get(key);
    if (own === undefined) byObject.set(key, [item]);
    else own.push(item);
  }
  const oldest = revisions.reduce((least, revision) => Math.min(least, revision), Infinity);
  return { changes: [...byObject.values()].map(changeOf), isComplete: items[0]?.id === 1 || oldest <= from + 1 };
}

function changeOf(items: readonly CauseItem[]): ObjectChange {
  const ordered = items.toSorted((a, b) => Number(a.resourceVersion) - Number(b.resourceVersion));
  const [first, last] = [ordered[0] as CauseItem, ordered.at(-1) as CauseItem];
  const { resource, namespace = "", name = "" } = last;
  const isCreated = isCreation(first);
  const means = last.deleted === true ? (isCreated ? "created and removed" : "removed") : isCreated ? "created" : "changed";
  return { resource, namespace, name, means, writes: items.length, writers: [...new Set(ordered.map(writerOf))], last };
}

/** Server-side apply creates with the verb "patch", which the record cannot distinguish from a change. */
function isCreation({ verb, subresource }: CauseItem): boolean {
  return verb === "create" && subresource === undefined;
}

export function writerOf({ cause, user }: CauseItem): string {
  return cause?.controller ?? user;
}

/**
 * What a write set in motion: the tree of all recorded writes whose cause leads back to it. A write follows from another one if its cause
 * names the other one's revision.
 */
import type { CauseItem } from "./explain-api.ts";
import type { Subject } from "./why/cluster-view.ts";

export interface TracedWrite {
  readonly item: CauseItem;
  readonly depth: number;
}

/** The last write of the object that a user made; else the first that is kept. */
export function traceRoot(items: readonly CauseItem[], { resource, namespace, name }: Subject): CauseItem | undefined {
  const own = items.filter(
    (item) => item.refusal === undefined && item.resource === resource && (item.namespace ?? "") === namespace && item.name === name,
  );
  return own.findLast(({ cause, subresource }) => cause === undefined && subresource === undefined) ?? own[0];
}

/** Collects writes as they are recorded. */
export class Trace {
  readonly #depths = new Map<string, number>();
  readonly #waiting = new Map<string, CauseItem[]>();

  constructor(root: CauseItem) {
    this.#depths.set(root.resourceVersion ?? "", 0);
  }

  /** The writes that this one adds to the trace: itself, and those that were recorded before it though they follow from it. */
  add(item: CauseItem): readonly TracedWrite[] {
    const { resourceVersion, cause } = item;
    if (resourceVersion === undefined || cause?.revision === undefined || this.#depths.has(resourceVersion)) return [];
    const parent = this.#depths.get(cause.revision);
    if (parent === undefined) {
      this.#waiting.set(cause.revision, [...(this.#waiting.get(cause.revision) ?? []), item]);
      return [];
    }
    this.#depths.set(resourceVersion, parent + 1);
    const followers = this.#waiting.get(resourceVersion) ?? [];
    this.#waiting.delete(resourceVersion);
    return [{ item, depth: parent + 1 }, ...followers.flatMap((follower) => this.add(follower))];
  }
}

/** All writes of a trace in the order of a tree: each after the one that it follows from. */
export function traceTree(items: readonly CauseItem[], root: CauseItem): readonly TracedWrite[] {
  const byCause = new Map<string, CauseItem[]>();
  for (const item of items) {
    const revision = item.cause?.revision;
    if (item.resourceVersion !== undefined && revision !== undefined && revision !== item.resourceVersion)
      byCause.set(revision, [...(byCause.get(revision) ?? []), item]);
  }
  const seen = new Set<CauseItem>();
  const visit = (item: CauseItem, depth: number): readonly TracedWrite[] => {
    if (seen.has(item)) return [];
    seen.add(item);
    return [{ item, depth }, ...(byCause.get(item.resourceVersion ?? "") ?? []).flatMap((next) => visit(next, depth + 1))];
  };
  return visit(root, 0);
}

/** "13:00:01.123    pods default/web-x created by replicaset-controller (Added)". */
export function traceLine({ item, depth }: TracedWrite): string {
  const { time, verb, deleted, resource, subresource, namespace, name = "", user, cause, resourceVersion } = item;
  const what = `${resource}${subresource === undefined ? "" : `/${subresource}`} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const who = cause === undefined ? user : `${cause.controller}${cause.reason === undefined ? "" : ` (${cause.reason})`}`;
  return `${time.slice(11, 23)} ${"  ".repeat(depth)}${deleted === true ? "removed" : verb} ${what} by ${who}, revision ${resourceVersion ?? ""}`;
}

/**
 * What a write set in motion: the tree of all recorded writes whose cause leads back to it. A write follows from another one if its cause
 * names the other one's revision.
 */
import { escapeControls } from "../base/text.ts";
import type { CauseItem } from "./explain-api.ts";
import type { Subject } from "./why/cluster-view.ts";

export interface TracedWrite {
  readonly item: CauseItem;
  readonly depth: number;
}

/** The last write of the object that a user made, `kubectl scale` for instance; else the first that is kept. */
export function traceRoot(items: readonly CauseItem[], subject: Subject): CauseItem | undefined {
  return items.findLast((item) => isStart(item, subject)) ?? items.find((item) => isOf(item, subject));
}

function isOf(item: CauseItem, { resource, namespace, name }: Subject): boolean {
  return item.refusal === undefined && item.resource === resource && (item.namespace ?? "") === namespace && item.name === name;
}

/** A user wrote what they want. A status without a cause is a report of a component that states none. */
function isStart(item: CauseItem, subject: Subject): boolean {
  return isOf(item, subject) && item.cause === undefined && item.subresource !== "status";
}

/** Maximum revisions whose followers wait for them: a write is recorded before the one that it follows from by a few others at most. */
export const WAITING_MAX = 1_000;

/** Collects writes as they are recorded. */
export class Trace {
  readonly #depths = new Map<string, number>();
  readonly #waiting = new Map<string, CauseItem[]>();

  readonly #subject: Subject | undefined;

  /** `subject`: further writes of users to it start trees of their own. Absent: they do not belong to the trace. */
  constructor(root: CauseItem, subject?: Subject) {
    this.#depths.set(root.resourceVersion ?? "", 0);
    this.#subject = subject;
  }

  /** The writes that this one adds to the trace: itself, and those that were recorded before it though they follow from it. */
  add(item: CauseItem): readonly TracedWrite[] {
    const { resourceVersion, cause } = item;
    if (resourceVersion === undefined || this.#depths.has(resourceVersion)) return [];
    if (this.#subject !== undefined && isStart(item, this.#subject)) return this.#place(item, { resourceVersion, depth: 0 });
    if (cause?.revision === undefined) return [];
    const parent = this.#depths.get(cause.revision);
    if (parent !== undefined) return this.#place(item, { resourceVersion, depth: parent + 1 });
    this.#wait(cause.revision, item);
    return [];
  }

  #place(
    item: CauseItem,
    { resourceVersion, depth }: { readonly resourceVersion: string; readonly depth: number },
  ): readonly TracedWrite[] {
    this.#depths.set(resourceVersion, depth);
    const followers = this.#waiting.get(resourceVersion) ?? [];
    this.#waiting.delete(resourceVersion);
    return [{ item, depth }, ...followers.flatMap((follower) => this.add(follower))];
  }

  /** Most writes of a cluster belong to no trace: the oldest are dropped. */
  #wait(revision: string, item: CauseItem): void {
    const others = this.#waiting.get(revision) ?? [];
    this.#waiting.delete(revision);
    this.#waiting.set(revision, [...others, item].slice(-WAITING_MAX));
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > WAITING_MAX && oldest !== undefined) this.#waiting.delete(oldest);
  }
}

/** All writes of a trace in the order of a tree: each after the one that it follows from. A chain may be as long as the record. */
export function traceTree(items: readonly CauseItem[], root: CauseItem): readonly TracedWrite[] {
  const byCause = new Map<string, CauseItem[]>();
  for (const item of items) {
    const revision = item.cause?.revision;
    if (item.resourceVersion === undefined || revision === undefined) continue;
    const known = byCause.get(revision);
    if (known === undefined) byCause.set(revision, [item]);
    else known.push(item);
  }
  const seen = new Set<CauseItem>();
  const traced: TracedWrite[] = [];
  const waiting: TracedWrite[] = [{ item: root, depth: 0 }];
  for (let write = waiting.pop(); write !== undefined; write = waiting.pop()) {
    const { item, depth } = write;
    if (seen.has(item)) continue;
    seen.add(item);
    traced.push(write);
    const followers = item.resourceVersion === undefined ? [] : (byCause.get(item.resourceVersion) ?? []);
    for (const follower of followers.toReversed()) waiting.push({ item: follower, depth: depth + 1 });
  }
  return traced;
}

/** "13:00:01.123    pods default/web-x created by replicaset-controller (Added)". */
export function traceLine({ item, depth }: TracedWrite): string {
  const { time, verb, deleted, resource, subresource, namespace, name = "", user, cause, resourceVersion } = item;
  const what = `${resource}${subresource === undefined ? "" : `/${subresource}`} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const who = cause === undefined ? user : `${cause.controller}${cause.reason === undefined ? "" : ` (${cause.reason})`}`;
  const line = `${time.slice(11, 23)} ${"  ".repeat(depth)}${deleted === true ? "removed" : verb} ${what} by ${who}, revision ${resourceVersion ?? ""}`;
  return escapeControls(line);
}

/** The objects of a recording at any of its revisions, and the versions of one object. Pure; the last states are kept, since pages read lists in pages. */
import type { CauseItem } from "../../../explain/explain-api.ts";
import type { ObjectContent } from "../../../explain/field-changes.ts";
import { kindId } from "../kinds.ts";
import type { RecordedItem, RecordedVersion, Recording } from "./recording.ts";

export interface RecordedName {
  /** "deployments.apps". */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** States that are kept: a page of the dashboard reads a few kinds. */
const KEPT_MAX = 16;

export class RecordedStates {
  readonly #base = new Map<string, ReadonlyMap<string, RecordedItem>>();
  readonly #versions = new Map<string, RecordedVersion[]>();
  readonly #kept = new Map<string, readonly RecordedItem[]>();
  readonly #causes = new Map<string, CauseItem>();
  readonly #from: number;

  constructor(recording: Recording) {
    this.#from = Number(recording.from.revision);
    for (const kind of recording.kinds) this.#base.set(kindId(kind), new Map(kind.items.map((item) => [keyOfItem(item), item])));
    for (const version of recording.versions) {
      const own = this.#versions.get(version.resource);
      if (own === undefined) this.#versions.set(version.resource, [version]);
      else own.push(version);
    }
    for (const own of this.#versions.values()) own.sort((a, b) => Number(a.revision) - Number(b.revision));
    for (const cause of recording.causes) if (cause.resourceVersion !== undefined) this.#causes.set(cause.resourceVersion, cause);
  }

  /** Ordered by namespace and name, as a server lists them. */
  at(resource: string, revision: number): readonly RecordedItem[] {
    const key = `${resource} ${revision}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const state = new Map(this.#base.get(resource));
    for (const { namespace, name, revision: changed, item } of this.#versions.get(resource) ?? []) {
      if (Number(changed) > revision) break;
      if (item === undefined) state.delete(`${namespace}/${name}`);
      else state.set(`${namespace}/${name}`, item);
    }
    const items = [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
    this.#kept.set(key, items);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return items;
  }

  /** Newest first, from `to` back to the state at `from`, which is the last. */
  versionsOf({ resource, namespace, name }: RecordedName, { from, to }: { readonly from: number; readonly to: number }): ObjectContent[] {
    const own = (this.#versions.get(resource) ?? []).filter((version) => version.namespace === namespace && version.name === name);
    const base = this.#base.get(resource)?.get(`${namespace}/${name}`);
    const all = [{ revision: String(this.#from), ...(base === undefined ? {} : { item: base }) }, ...own];
    const between = all.filter(({ revision }) => Number(revision) > from && Number(revision) <= to);
    const before = all.findLast(({ revision }) => Number(revision) <= from);
    return [...between.toReversed(), ...(before === undefined ? [{ revision: "" }] : [before])].map((version) => this.#contentOf(version));
  }

  #contentOf({ revision, item }: Pick<RecordedVersion, "revision" | "item">): ObjectContent {
    return {
      ...(item === undefined ? {} : { content: item.object }),
      managedFields: () => item?.object.metadata.managedFields ?? [],
      write: () => this.#causes.get(revision),
    };
  }
}

function keyOfItem({ object: { metadata } }: RecordedItem): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/**
 * Ownership of kubeconfig entries. Two clusters of the same name differ permanently only in their data directories: ports change,
 * certificates are renewed, and one CA may serve several. So each entry that k8ts writes is marked with that directory, in an `extensions`
 * element, which the format provides for such data and kubectl keeps.
 *
 * An entry without a mark belongs to another tool, or to a k8ts that wrote none: it is ours if it refers to a cluster with our CA. Pure.
 * Not here: adding and removing entries (merge-kubeconfig.ts).
 */
import type { TextMap, YamlDraft } from "../../api/machinery/codec/yaml/edit.ts";

export interface Owner {
  /** Name of its entries, with a number appended if another owner uses it. */
  readonly context: string;
  /** Data directory, unique per cluster. */
  readonly directory: string;
  /** PEM. Absent: unknown; then only marks identify entries. */
  readonly authority?: string;
}

export type EntryList = "clusters" | "users" | "contexts";

/** Content of an entry besides its name. */
export const INNER = { clusters: "cluster", users: "user", contexts: "context" } as const;

const EXTENSION = "k8ts";
const DIRECTORY = "data-directory";

/** Mark of an entry of this owner. */
export function markFor({ directory }: Pick<Owner, "directory">): TextMap {
  return { extensions: [{ name: EXTENSION, extension: { [DIRECTORY]: directory } }] };
}

/** Data directory of the cluster that marked the entry. */
export function markOf(draft: YamlDraft, list: EntryList, name: string): string | undefined {
  const { extensions } = (draft.namedValue(list, name, INNER[list]) ?? {}) as { readonly extensions?: unknown };
  if (!Array.isArray(extensions)) return undefined;
  const ours = (extensions as readonly unknown[]).find((one) => memberOf(one, "name") === EXTENSION);
  const directory = memberOf(memberOf(ours, "extension"), DIRECTORY);
  return typeof directory === "string" ? directory : undefined;
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[member] : undefined;
}

/** "k8ts", "k8ts-2", "k8ts-3". */
export function isNumbered(candidate: string, name: string): boolean {
  return candidate === name || (candidate.startsWith(`${name}-`) && /^[1-9]\d*$/.test(candidate.slice(name.length + 1)));
}

/** Contexts of the same file that use it. */
export function contextsUsing(draft: YamlDraft, list: "clusters" | "users", name: string): readonly string[] {
  return draft.names("contexts").filter((context) => draft.named("contexts", context, "context")?.[INNER[list]] === name);
}

/** Entries of one owner in files that kubectl merges. */
export class Ownership {
  readonly #drafts: readonly YamlDraft[];
  readonly #owner: Owner;
  readonly #authority: string | undefined;

  /** `drafts`: entries of an earlier file hide those of the same name in a later one. */
  constructor(drafts: readonly YamlDraft[], owner: Owner) {
    this.#drafts = drafts;
    this.#owner = owner;
    this.#authority = owner.authority === undefined ? undefined : base64(owner.authority);
  }

  isMarked(draft: YamlDraft, list: EntryList, name: string): boolean {
    return markOf(draft, list, name) === this.#owner.directory;
  }

  /** For an entry that exists. */
  isOurs(draft: YamlDraft, list: EntryList, name: string): boolean {
    const mark = markOf(draft, list, name);
    if (mark !== undefined) return mark === this.#owner.directory;
    if (list === "clusters") return this.#authority !== undefined && this.#authorityOf(draft, name) === this.#authority;
    if (list === "contexts") return this.#leadsToUs(draft, name);
    const users = this.#drafts.map((one) => ({ draft: one, contexts: contextsUsing(one, "users", name) }));
    const isUsed = users.some(({ contexts }) => contexts.length > 0);
    return isUsed && users.every((one) => one.contexts.every((context) => this.isOurs(one.draft, "contexts", context)));
  }

  /** True if an entry of this name neither hides nor is hidden by another owner's. */
  mayHave(list: EntryList, name: string): boolean {
    return this.#drafts.every((draft) => !draft.names(list).includes(name) || this.isOurs(draft, list, name));
  }

  #leadsToUs(draft: YamlDraft, context: string): boolean {
    const cluster = draft.named("contexts", context, "context")?.["cluster"];
    const place = cluster === undefined ? undefined : this.#drafts.find((one) => one.names("clusters").includes(cluster));
    return cluster !== undefined && place !== undefined && this.isOurs(place, "clusters", cluster);
  }

  #authorityOf(draft: YamlDraft, cluster: string): string | undefined {
    return draft.named("clusters", cluster, "cluster")?.["certificate-authority-data"];
  }
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

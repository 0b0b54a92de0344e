/**
 * Adds the cluster's entry to the user's kubeconfig and removes it, keeping everything else. Text in, text out; the file is handled by
 * user-kubeconfig.ts. A text that cannot be parsed is rejected, never overwritten.
 *
 * kubectl merges several files, and the first entry of a name hides the others. So a name that another owner uses in any of them, for a
 * context, a cluster or a user, is left to them, and ours gets a number. Ownership is defined in kubeconfig-owner.ts.
 */
import { YamlDraft } from "../../api/machinery/codec/yaml/edit.ts";
import { YamlError } from "../../api/machinery/codec/yaml/scalar.ts";
import { base64, contextsUsing, type EntryList, isNumbered, markFor, Ownership, type Owner } from "./kubeconfig-owner.ts";

export interface KubeconfigEntry extends Owner {
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** PEM, like the following. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export interface Merged {
  readonly text: string;
  /** Context name in the file. */
  readonly context: string;
}

/**
 * The text with the entry as its current context. `others`: the texts of the other files that kubectl merges; unparsable ones, which
 * kubectl rejects as well, count as empty. Throws a YamlError.
 */
export function mergeEntry(text: string, entry: KubeconfigEntry, others: readonly string[] = []): Merged {
  const { server, authority, certificate, key } = entry;
  const draft = new YamlDraft(text);
  checkIsKubeconfig(draft);
  const ownership = new Ownership([draft, ...others.flatMap(understood)], entry);
  const nameIn = (list: EntryList): string => ownName(draft, list, ownership, entry);
  const [cluster, user, context] = [nameIn("clusters"), nameIn("users"), nameIn("contexts")];
  draft.setTextIfMissing("apiVersion", "v1");
  draft.setTextIfMissing("kind", "Config");
  const mark = markFor(entry);
  draft.putNamed("clusters", cluster, "cluster", { "certificate-authority-data": base64(authority), server, ...mark });
  draft.putNamed("users", user, "user", {
    ...{ "client-certificate-data": base64(certificate), "client-key-data": base64(key) },
    ...mark,
  });
  // The user's namespace of this context is kept.
  draft.putNamed("contexts", context, "context", { cluster, user, ...mark }, { keep: ["namespace"] });
  draft.setText("current-context", context);
  removeFormer(draft, { contexts: context, clusters: cluster, users: user }, ownership, entry);
  return { text: draft.toString(), context };
}

export interface RemovedEntry {
  readonly text: string;
  /** Names of the removed entries. */
  readonly contexts: readonly string[];
}

/**
 * The text without this owner's entries, and without a current context if that was one; undefined if there is nothing to remove. Entries
 * used by other contexts are kept. Throws a YamlError.
 */
export function removeEntry(text: string, owner: Owner): RemovedEntry | undefined {
  const draft = new YamlDraft(text);
  const ownership = new Ownership([draft], owner);
  const own = ownEntries(draft, ownership, owner);
  for (const context of own.contexts) draft.removeNamed("contexts", context);
  const unused = removeUnused(draft, "clusters", own.clusters) + removeUnused(draft, "users", own.users);
  if (own.contexts.length + unused === 0) return undefined;
  if (own.contexts.includes(draft.text("current-context") ?? "")) draft.setText("current-context", "");
  return { text: draft.toString(), contexts: own.contexts };
}

/** kubectl rejects a file of another kind. */
function checkIsKubeconfig(draft: YamlDraft): void {
  for (const [member, expected] of [
    ["apiVersion", "v1"],
    ["kind", "Config"],
  ] as const) {
    const found = draft.text(member) ?? "";
    if (found !== "" && found !== expected) throw new YamlError(`its ${member} must be "${expected}", is "${found}"`);
  }
}

function understood(text: string): readonly YamlDraft[] {
  try {
    return [new YamlDraft(text)];
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw error;
  }
}

/**
 * Name of our entry in a list: the previous one if it hides no other owner's, otherwise the first free one. A context that the user renamed
 * belongs to the user, and ours is added.
 */
function ownName(draft: YamlDraft, list: EntryList, ownership: Ownership, { context: name }: Owner): string {
  const before = draft
    .names(list)
    .filter((one) => isNumbered(one, name) || (list !== "contexts" && ownership.isMarked(draft, list, one)))
    .filter((one) => ownership.isOurs(draft, list, one) && ownership.mayHave(list, one));
  if (before.includes(name)) return name;
  const [first] = before;
  if (first !== undefined) return first;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (ownership.mayHave(list, candidate)) return candidate;
  }
}

/** Removes our entries of other names, so that they no longer hide another owner's. */
function removeFormer(draft: YamlDraft, now: Readonly<Record<EntryList, string>>, ownership: Ownership, { context: name }: Owner): void {
  const former = (list: EntryList): readonly string[] =>
    draft.names(list).filter((one) => one !== now[list] && ownership.isMarked(draft, list, one));
  for (const one of former("contexts")) if (isNumbered(one, name)) draft.removeNamed("contexts", one);
  for (const list of ["clusters", "users"] as const) removeUnused(draft, list, former(list));
}

/** Returns the number of removed entries. Entries used by a context are kept. */
function removeUnused(draft: YamlDraft, list: "clusters" | "users", names: readonly string[]): number {
  const unused = names.filter((name) => contextsUsing(draft, list, name).length === 0);
  for (const name of unused) draft.removeNamed(list, name);
  return unused.length;
}

/** All marked entries; of the unmarked ones, the context of our name if it is ours, and what it uses. */
function ownEntries(draft: YamlDraft, ownership: Ownership, { context: name }: Owner): Readonly<Record<EntryList, readonly string[]>> {
  const { cluster = name, user = name } = draft.named("contexts", name, "context") ?? {};
  const ownOr = (list: EntryList, isOwnToo: (one: string) => boolean): readonly string[] =>
    draft.names(list).filter((one) => ownership.isMarked(draft, list, one) || isOwnToo(one));
  const contexts = ownOr("contexts", (one) => one === name && ownership.isOurs(draft, "contexts", one));
  const clusters = ownOr("clusters", (one) => one === cluster && ownership.isOurs(draft, "clusters", one));
  // The context may have been changed to another user.
  const users = ownOr("users", (one) => one === user && isNumbered(one, name) && ownership.isOurs(draft, "users", one));
  return { contexts, clusters, users };
}

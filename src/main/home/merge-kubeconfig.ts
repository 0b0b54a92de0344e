/**
 * The cluster's entry in the user's own kubeconfig: put beside whatever else is there, and taken out again, with everything else as it
 * was. Texts in, texts out; the file itself is kubeconfig-place.ts's. A text that is not understood is refused, never overwritten.
 *
 * The context of the cluster's name is k8ts's. A `clusters` or `users` entry of that name may be somebody else's: it is ours if it has our
 * authority, or if no context uses it but ours and those that lead to our cluster. What is not ours stays, and ours gets a number.
 */
import { YamlDraft } from "../../api/machinery/codec/edit-yaml.ts";
import { YamlError } from "../../api/machinery/codec/yaml-scalar.ts";

export interface KubeconfigEntry {
  /** Of the context; also of the cluster and the user, unless others have these. */
  readonly context: string;
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** PEM, as all of these. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

type Whose = Pick<KubeconfigEntry, "context" | "authority">;

/** The text with the entry in it, which is the current one from now on. Throws a YamlError. */
export function withEntry(text: string, entry: KubeconfigEntry): string {
  const { context: name, server, authority, certificate, key } = entry;
  const draft = new YamlDraft(text);
  checkIsKubeconfig(draft);
  draft.setTextIfMissing("apiVersion", "v1");
  draft.setTextIfMissing("kind", "Config");
  const [cluster, user] = [ownName(draft, "cluster", entry), ownName(draft, "user", entry)];
  draft.putNamed("clusters", cluster, "cluster", { "certificate-authority-data": base64(authority), server });
  draft.putNamed("users", user, "user", { "client-certificate-data": base64(certificate), "client-key-data": base64(key) });
  // The namespace is what the user chose for this context, and holds for the next start, too.
  draft.putNamed("contexts", name, "context", { cluster, user }, { keep: ["namespace"] });
  draft.setText("current-context", name);
  return draft.toString();
}

/**
 * The text without the entry, and with no current context if it was that; undefined if there is nothing to take out: none of this name, or
 * one that leads to a cluster with another authority. What other contexts use stays. Throws a YamlError.
 */
export function withoutEntry(text: string, { context: name, authority }: Whose): string | undefined {
  const draft = new YamlDraft(text);
  const { cluster = name, user = name } = draft.named("contexts", name, "context") ?? {};
  if (draft.named("clusters", cluster, "cluster")?.["certificate-authority-data"] !== base64(authority)) return undefined;
  draft.removeNamed("contexts", name);
  if (contextsWith(draft, "cluster", cluster).length === 0) draft.removeNamed("clusters", cluster);
  // The context may have been given another user since.
  if (isNumbered(user, name) && contextsWith(draft, "user", user).length === 0) draft.removeNamed("users", user);
  if (draft.text("current-context") === name) draft.setText("current-context", "");
  return draft.toString();
}

/** kubectl refuses what says that it is something else. */
function checkIsKubeconfig(draft: YamlDraft): void {
  for (const [member, expected] of [
    ["apiVersion", "v1"],
    ["kind", "Config"],
  ] as const) {
    const found = draft.text(member) ?? "";
    if (found !== "" && found !== expected) throw new YamlError(`its ${member} must be "${expected}", is "${found}"`);
  }
}

type Kind = "cluster" | "user";

/** What our cluster or user is called: as the last time, if that is still ours; otherwise the first that is ours or nobody's. */
function ownName(draft: YamlDraft, kind: Kind, whose: Whose): string {
  const { context: name } = whose;
  const before = draft.named("contexts", name, "context")?.[kind];
  if (before !== undefined && isNumbered(before, name) && isOurs(draft, kind, before, whose)) return before;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (isOurs(draft, kind, candidate, whose)) return candidate;
  }
}

/** Also one that is not there. */
function isOurs(draft: YamlDraft, kind: Kind, name: string, whose: Whose): boolean {
  if (!draft.names(`${kind}s`).includes(name)) return true;
  if (kind === "cluster" && hasAuthority(draft, name, whose)) return true;
  const contexts = contextsWith(draft, kind, name);
  return contexts.length > 0 && contexts.every((context) => context === whose.context || leadsToUs(draft, context, whose));
}

function leadsToUs(draft: YamlDraft, context: string, whose: Whose): boolean {
  const cluster = draft.named("contexts", context, "context")?.["cluster"];
  return cluster !== undefined && hasAuthority(draft, cluster, whose);
}

function hasAuthority(draft: YamlDraft, cluster: string, { authority }: Whose): boolean {
  return draft.named("clusters", cluster, "cluster")?.["certificate-authority-data"] === base64(authority);
}

/** The contexts that use it. */
function contextsWith(draft: YamlDraft, kind: Kind, name: string): readonly string[] {
  return draft.names("contexts").filter((context) => draft.named("contexts", context, "context")?.[kind] === name);
}

/** "k8ts", "k8ts-2", "k8ts-3". */
function isNumbered(candidate: string, name: string): boolean {
  return candidate === name || (candidate.startsWith(`${name}-`) && /^[1-9]\d*$/.test(candidate.slice(name.length + 1)));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** `kubectl apply`, `create -f` and `replace`, with manifests of a file of the prompt or of a here-document. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { kindOfReference, pathOf, type Kind } from "../../../dashboard/data/kinds.ts";
import { objectsOf } from "../../../embedded/manifests.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { FILE_FLAG, NAMESPACE_FLAG, parseArguments, UsageError } from "../flags.ts";
import { shownName } from "../resources.ts";

const FLAGS = {
  ...FILE_FLAG,
  ...NAMESPACE_FLAG,
  "dry-run": {},
  "server-side": { isSwitch: true },
  "force-conflicts": { isSwitch: true },
} as const;

/** kubectl's field managers. */
const CLIENT_SIDE_MANAGER = "kubectl-client-side-apply";
const SERVER_SIDE_MANAGER = "kubectl";

export function manifestText({ files, input }: CommandContext, filename: string | undefined, verb: string): string {
  if (filename === undefined) throw new UsageError(`must specify one of -f and -k`);
  if (filename === "-") {
    if (input !== undefined) return input;
    throw new UsageError(`no objects passed to ${verb}`);
  }
  const text = files.get(filename);
  if (text === undefined) throw new UsageError(`the path ${JSON.stringify(filename)} does not exist`);
  return text;
}

interface Manifest {
  readonly object: KubeObject;
  readonly kind: Kind;
  readonly path: string;
}

async function manifestsOf(context: CommandContext, text: string): Promise<readonly Manifest[]> {
  const kinds = await context.kinds();
  return objectsOf(text).map((object) => {
    const kind = kindOfReference(kinds, object.apiVersion, object.kind);
    if (kind === undefined) {
      const problem = `no matches for kind "${object.kind}" in version "${object.apiVersion}"`;
      throw new Error(`resource mapping not found for name: "${object.metadata.name}": ${problem}\nensure CRDs are installed first`);
    }
    const namespace = object.metadata.namespace ?? context.namespace;
    const placed = kind.isNamespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
    return { object: placed, kind, path: pathOf(kind, kind.isNamespaced ? { namespace } : {}) };
  });
}

export const apply: Command = {
  name: ["apply"],
  usage: "-f FILE|- [-n NAMESPACE] [--dry-run=server] [--server-side [--force-conflicts]]",
  summary: "Create or change objects by a manifest",
  async run(words, given) {
    const { flags } = parseArguments(words, FLAGS);
    const context = within(given, flags);
    for (const manifest of await manifestsOf(context, manifestText(context, flags["filename"], "apply")))
      await applyOne(context, manifest, flags);
  },
};

async function applyOne(context: CommandContext, { object, kind, path }: Manifest, flags: Readonly<Record<string, string>>): Promise<void> {
  const isServerSide = flags["server-side"] !== undefined;
  const { name } = object.metadata;
  if ((name ?? "") === "") throw new UsageError(`resource name may not be empty`);
  const before = await context.api.get<KubeObject>(`${path}/${encodeURIComponent(name)}`, context.signal).catch((error: unknown) => {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  });
  const query = new URLSearchParams({
    fieldManager: isServerSide ? SERVER_SIDE_MANAGER : CLIENT_SIDE_MANAGER,
    // As client-side apply of kubectl, which takes over what others have set.
    force: String(!isServerSide || flags["force-conflicts"] !== undefined),
    fieldValidation: "Strict",
    ...(flags["dry-run"] === undefined || flags["dry-run"] === "none" ? {} : { dryRun: "All" }),
  });
  const after = await context.api.json<KubeObject>({
    method: "PATCH",
    path: `${path}/${encodeURIComponent(name)}?${query.toString()}`,
    contentType: "application/apply-patch+yaml",
    body: JSON.stringify(object),
    signal: context.signal,
  });
  // A dry run has no new resource version.
  const isChanged = before?.metadata.resourceVersion !== after.metadata.resourceVersion || contentOf(before) !== contentOf(after);
  const word = isServerSide ? "serverside-applied" : before === undefined ? "created" : isChanged ? "configured" : "unchanged";
  context.out(`${shownName({ kind, name })} ${word}${query.has("dryRun") ? " (server dry run)" : ""}`);
}

/** Without what only records who wrote when. */
function contentOf(object: KubeObject | undefined): string {
  if (object === undefined) return "";
  const { managedFields: _fields, ...metadata } = object.metadata as KubeObject["metadata"] & { readonly managedFields?: unknown };
  return JSON.stringify({ ...object, metadata });
}

/** `kubectl create -f`. */
export async function createFromFile(given: CommandContext, flags: Readonly<Record<string, string>>): Promise<void> {
  const context = within(given, flags);
  for (const { object, kind, path } of await manifestsOf(context, manifestText(context, flags["filename"], "create"))) {
    const created = await postObject(context, path, object);
    context.out(`${shownName({ kind, name: created.metadata.name })} created`);
  }
}

export function postObject({ api, signal }: CommandContext, path: string, object: object): Promise<KubeObject> {
  const body = JSON.stringify(object);
  return api.json<KubeObject>({
    method: "POST",
    path: `${path}?fieldManager=kubectl-create`,
    contentType: "application/json",
    body,
    signal,
  });
}

export const replace: Command = {
  name: ["replace"],
  usage: "-f FILE|- [-n NAMESPACE]",
  summary: "Replace objects; with a resourceVersion, only if they have not changed since",
  async run(words, given) {
    const { flags } = parseArguments(words, FLAGS);
    const context = within(given, flags);
    for (const { object, kind, path } of await manifestsOf(context, manifestText(context, flags["filename"], "replace"))) {
      const { name } = object.metadata;
      const body = JSON.stringify(object);
      const address = `${path}/${encodeURIComponent(name)}?fieldManager=kubectl-replace`;
      await context.api.json({ method: "PUT", path: address, contentType: "application/json", body, signal: context.signal });
      context.out(`${shownName({ kind, name })} replaced`);
    }
  },
};

/** Finds the objects that a command names, by kubectl's rules: `TYPE NAME…`, `TYPE/NAME…`, `TYPE1,TYPE2`, and short names. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { kindId, pathOf, type Kind } from "../../dashboard/data/kinds.ts";
import type { CommandContext } from "./command.ts";
import { UsageError } from "./flags.ts";

export interface Target {
  readonly kind: Kind;
  /** Absent: all of the kind. */
  readonly name?: string;
}

/** `kubectl get all` of upstream. */
const ALL = ["pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets", "statefulsets", "jobs", "cronjobs"];

/** "pod", "pods", "po", "Pod", "deployments.apps"; undefined if the cluster has no such kind. */
export function findResource(kinds: readonly Kind[], word: string): Kind | undefined {
  const wanted = word.toLowerCase();
  const isCalled = (kind: Kind) =>
    [kind.plural, kind.kind.toLowerCase(), ...kind.shortNames].some((name) => name === wanted || `${name}.${kind.group}` === wanted);
  return kinds.find((kind) => kindId(kind) === wanted) ?? kinds.find(isCalled);
}

export function resourceOf(kinds: readonly Kind[], word: string): Kind {
  const found = findResource(kinds, word);
  if (found === undefined) throw new UsageError(`the server doesn't have a resource type ${JSON.stringify(word)}`);
  return found;
}

export function targetsOf(kinds: readonly Kind[], words: readonly string[]): readonly Target[] {
  const [first, ...rest] = words;
  if (first === undefined) throw new UsageError('You must specify the type of resource to get. Use "kubectl api-resources" for a list');
  if (first.includes("/")) return words.map((word) => slashed(kinds, word));
  const types = (first === "all" ? ALL : first.split(",")).map((word) => resourceOf(kinds, word));
  if (rest.some((word) => word.includes("/")))
    throw new UsageError(
      "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form " +
        "(e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
    );
  return types.flatMap((kind) => (rest.length === 0 ? [{ kind }] : rest.map((name) => ({ kind, name }))));
}

function slashed(kinds: readonly Kind[], word: string): Target {
  const [type = "", name = "", ...more] = word.split("/");
  if (type === "" || name === "" || more.length > 0)
    throw new UsageError("arguments in resource/name form may not have more than one slash");
  return { kind: resourceOf(kinds, type), name };
}

/** Objects that must be named. */
export async function namedTargets(context: CommandContext, words: readonly string[]): Promise<readonly Required<Target>[]> {
  if (words.length === 0) throw new UsageError("resource(s) were provided, but no name was specified");
  return targetsOf(await context.kinds(), words).map(({ kind, name }) => {
    if (name === undefined) throw new UsageError("resource(s) were provided, but no name was specified");
    return { kind, name };
  });
}

export function objectPath(target: Required<Target>, { namespace }: CommandContext): string {
  const { kind, name } = target;
  return pathOf(kind, kind.isNamespaced ? { namespace, name } : { name });
}

export function listPath(kind: Kind, { namespace }: Pick<CommandContext, "namespace">, isAll: boolean): string {
  return pathOf(kind, kind.isNamespaced && !isAll ? { namespace } : {});
}

/** "deployment.apps/web", as kubectl prints what it has changed. */
export function shownName({ kind, name }: Required<Target>): string {
  const lower = kind.kind.toLowerCase();
  return `${kind.group === "" ? lower : `${lower}.${kind.group}`}/${name}`;
}

export function getObject(context: CommandContext, target: Required<Target>): Promise<KubeObject> {
  return context.api.get<KubeObject>(objectPath(target, context), context.signal);
}

const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
} as const;
export type PatchName = keyof typeof PATCH_TYPES;

export function isPatchName(text: string): text is PatchName {
  return Object.hasOwn(PATCH_TYPES, text);
}

/** `manager`: as kubectl names the owner of the changed fields. */
export function patchObject(
  context: CommandContext,
  target: Required<Target>,
  value: unknown,
  { type = "merge", manager }: { readonly type?: PatchName; readonly manager: string },
): Promise<KubeObject> {
  return context.api.json<KubeObject>({
    method: "PATCH",
    path: `${objectPath(target, context)}?fieldManager=${manager}`,
    contentType: PATCH_TYPES[type],
    body: JSON.stringify(value),
    signal: context.signal,
  });
}

export function selectorQuery(flags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { selector, "field-selector": fieldSelector } = flags;
  return {
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Names, or all that a selector chooses. */
export async function chosenTargets(
  context: CommandContext,
  words: readonly string[],
  flags: Readonly<Record<string, string>>,
): Promise<readonly Required<Target>[]> {
  if (flags["selector"] === undefined && flags["all"] === undefined) return namedTargets(context, words);
  const found: Required<Target>[] = [];
  for (const { kind } of targetsOf(await context.kinds(), words)) {
    const list = await context.api.get<{ readonly items: readonly KubeObject[] }>(
      withQuery(listPath(kind, context, false), selectorQuery(flags)),
      context.signal,
    );
    found.push(...list.items.map(({ metadata }) => ({ kind, name: metadata.name })));
  }
  return found;
}

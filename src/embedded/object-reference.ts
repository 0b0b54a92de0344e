/** Parses object references: "deployment/web", "deploy/web", "pods", "deployments.apps/web", like kubectl. */
import { all } from "../api/all.ts";
import { parseApiVersion, type KubeObject } from "../api/machinery/object.ts";
import type { Resource } from "../api/machinery/resource.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { discover, findKind } from "../client/discovery.ts";

export interface ObjectReference {
  readonly kind: ResourceKind;
  /** Absent: all of the kind. */
  readonly name?: string;
}

/** Rejects with a message that describes valid references. */
export async function resolveReference(reference: string, client: Client): Promise<ObjectReference> {
  const [word = "", name, ...rest] = reference.split("/");
  if (word === "" || name === "" || rest.length > 0)
    throw new Error(`Invalid object reference "${reference}": it must be kind/name ("deployment/web") or a kind ("pods")`);
  const kind = await kindByName(word, client);
  return name === undefined ? { kind } : { kind, name };
}

/** "deployment", "deployments", "deploy", "Deployment", "deployments.apps". Built-in kinds first, without a request; then discovery. */
async function kindByName(word: string, client: Client): Promise<ResourceKind> {
  const wanted = word.toLowerCase();
  const known =
    all.find((resource) => isCalled(resource, wanted)) ?? (await discover(client)).preferred.find((kind) => isCalled(kind, wanted));
  if (known === undefined) throw new Error(`The server has no resource type "${word}"`);
  return known;
}

function isCalled({ kind, plural, singular, shortNames, storage }: Named, wanted: string): boolean {
  const names = [kind.toLowerCase(), plural, singular, ...shortNames];
  return names.some((name) => name === wanted || `${name}.${storage.group}` === wanted);
}

type Named = Pick<Resource, "kind" | "plural" | "singular" | "shortNames" | "storage">;

/** By apiVersion and kind of an object. */
export async function kindOfObject({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">, client: Client): Promise<ResourceKind> {
  const version = parseApiVersion(apiVersion);
  const builtIn = all.find(
    ({ kind: name, served }) => name === kind && served.some(({ group, version: v }) => group === version?.group && v === version.version),
  );
  if (builtIn !== undefined && version !== undefined) {
    const { plural, scope } = builtIn;
    return { kind, plural, scope, storage: { group: version.group, version: version.version } };
  }
  const found = findKind(await discover(client), apiVersion, kind);
  if (found === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  return found;
}

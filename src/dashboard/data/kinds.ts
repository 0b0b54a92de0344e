/**
 * All kinds that the cluster serves, custom ones included, from aggregated discovery: two requests. Pages know kinds only from here, so a
 * CustomResourceDefinition gets its pages like a built-in kind. Pure but for the requests.
 */
import type { ClusterApi } from "./cluster-api.ts";

export interface Kind {
  /** "" is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** In the server's order of groups; of each kind the preferred version only. */
export async function fetchKinds(api: ClusterApi): Promise<readonly Kind[]> {
  const documents = await Promise.all(["/api", "/apis"].map((path) => api.json<Discovery>({ path, accept: AGGREGATED })));
  return documents.flatMap(kindsOf);
}

interface Discovery {
  readonly items?: readonly GroupDiscovery[];
}

interface GroupDiscovery {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope: string;
      readonly verbs?: readonly string[];
      readonly shortNames?: readonly string[];
      readonly subresources?: readonly { readonly subresource: string }[];
    }[];
  }[];
}

function kindsOf({ items = [] }: Discovery): readonly Kind[] {
  return items.flatMap(({ metadata, versions = [] }) => {
    const seen = new Set<string>();
    return versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap(({ resource: plural, responseKind, scope, verbs = [], shortNames = [], subresources = [] }) => {
        if (seen.has(plural)) return [];
        seen.add(plural);
        const names = { group: metadata?.name ?? "", version, kind: responseKind?.kind ?? plural, plural };
        const nested = subresources.map(({ subresource }) => subresource);
        return [{ ...names, isNamespaced: scope === "Namespaced", verbs, shortNames, subresources: nested }];
      }),
    );
  });
}

/** Finds by plural name and group. Events of the core group and of events.k8s.io are the same objects. */
export function findKind(kinds: readonly Kind[], plural: string, group = ""): Kind | undefined {
  return kinds.find((kind) => kind.plural === plural && kind.group === group);
}

/** The kind of an owner or another reference: by apiVersion and kind. */
export function kindOfReference(kinds: readonly Kind[], apiVersion: string, name: string): Kind | undefined {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return kinds.find((kind) => kind.kind === name && kind.group === group);
}

/** "deployments.apps", "pods": the name by which kubectl finds the kind, too. */
export function kindId({ plural, group }: Pick<Kind, "plural" | "group">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

export function kindOfId(kinds: readonly Kind[], id: string): Kind | undefined {
  const dot = id.indexOf(".");
  return dot < 0 ? findKind(kinds, id) : findKind(kinds, id.slice(0, dot), id.slice(dot + 1));
}

/** The path of all objects of a kind, in one namespace or in all; of one object if `name` is given. */
export function pathOf(
  { group, version, plural }: Kind,
  { namespace, name }: { readonly namespace?: string; readonly name?: string } = {},
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${within}/${plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}

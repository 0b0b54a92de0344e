/**
 * Finds objects of all kinds by name. The API has no search, so the names of each kind are read, a few kinds at a time, up to a limit; an
 * object whose name is exactly the text is found in any number of them, since the server selects by name.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { mayDo } from "./access.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { pathOf, type Kind } from "./kinds.ts";

export interface Found {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** Kinds that are read concurrently: browsers have six connections per server with HTTP/1.1. */
const CONCURRENT = 4;
/** Objects of a kind whose names are read. */
export const SEARCHED_MAX = 2_000;

const METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

interface MetadataList {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly Pick<KubeObject, "metadata">[] | null;
}

export interface SearchProgress {
  readonly found: readonly Found[];
  /** Kinds that have more objects than were read. */
  readonly truncated: readonly Kind[];
  /** Kinds that the user may not list. */
  readonly unread: readonly Kind[];
  /** Kinds whose list failed for another reason, such as an aggregated API or a conversion webhook that does not answer. */
  readonly failed: readonly FailedKind[];
  readonly isDone: boolean;
}

export interface FailedKind {
  readonly kind: Kind;
  readonly message: string;
}

export interface SearchOptions {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  readonly text: string;
  /** "": all. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Kinds that the user may not list, or whose list fails, have no results, and are named. */
export async function searchAll(options: SearchOptions, changed: (progress: SearchProgress) => void): Promise<void> {
  const { api, kinds, namespace, signal } = options;
  const waiting = kinds.filter(({ verbs, plural }) => verbs.includes("list") && plural !== "events");
  const mayAll = await mayList(api, { group: "*", plural: "*" }, namespace);
  const found: Found[] = [];
  const truncated: Kind[] = [];
  const unread: Kind[] = [];
  const failed: FailedKind[] = [];
  const progress = (isDone: boolean): SearchProgress => ({
    found: [...found],
    truncated: [...truncated],
    unread: [...unread],
    failed: [...failed],
    isDone,
  });
  const work = async (): Promise<void> => {
    for (let kind = waiting.shift(); kind !== undefined && !signal.aborted; kind = waiting.shift()) {
      if (!mayAll && !(await mayList(api, kind, kind.isNamespaced ? namespace : ""))) {
        unread.push(kind);
        continue;
      }
      try {
        const result = await searchKind(options, kind);
        found.push(...result.found);
        if (result.isTruncated) truncated.push(kind);
      } catch (error) {
        if (isReason(error, "Forbidden")) unread.push(kind);
        // A definition that was deleted since the kinds were read has no objects.
        else if (!isReason(error, "NotFound")) failed.push({ kind, message: (error as Error).message });
      }
      if (!signal.aborted) changed(progress(false));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  if (!signal.aborted) changed(progress(true));
}

/** No request is made that is refused. */
function mayList(api: ClusterApi, { group, plural: resource }: Pick<Kind, "group" | "plural">, namespace: string): Promise<boolean> {
  return mayDo(api, { verb: "list", group, resource, namespace }).catch(() => true);
}

async function searchKind({ api, text, namespace, signal }: SearchOptions, kind: Kind) {
  const path = pathOf(kind, kind.isNamespaced ? { namespace } : {});
  const read = (query: Readonly<Record<string, string>>) =>
    api.json<MetadataList>({ path: `${path}?${new URLSearchParams(query).toString()}`, accept: METADATA, signal });
  const page = await read({ limit: String(SEARCHED_MAX) });
  const isTruncated = (page.metadata?.continue ?? "") !== "";
  const exact = isTruncated ? ((await read({ fieldSelector: `metadata.name=${text}` })).items ?? []) : [];
  const wanted = text.toLowerCase();
  const names = new Map<string, Found>();
  for (const { metadata } of [...exact, ...(page.items ?? [])]) {
    const { name, namespace = "" } = metadata;
    if (name.toLowerCase().includes(wanted)) names.set(`${namespace}/${name}`, { kind, namespace, name });
  }
  return { found: [...names.values()], isTruncated };
}

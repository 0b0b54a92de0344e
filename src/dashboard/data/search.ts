/**
 * Finds objects of all kinds by name. The API has no search, so the names of each kind are read, a few kinds at a time, up to a limit; an
 * object whose name is exactly the text is found in any number of them, since the server selects by name.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
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
  readonly isDone: boolean;
}

/** Kinds that the user must not list, or that fail, have no results. */
export async function searchAll(
  {
    api,
    kinds,
    text,
    signal,
  }: { readonly api: ClusterApi; readonly kinds: readonly Kind[]; readonly text: string; readonly signal: AbortSignal },
  changed: (progress: SearchProgress) => void,
): Promise<void> {
  const waiting = kinds.filter(({ verbs, plural }) => verbs.includes("list") && plural !== "events");
  const found: Found[] = [];
  const truncated: Kind[] = [];
  const work = async (): Promise<void> => {
    for (let kind = waiting.shift(); kind !== undefined && !signal.aborted; kind = waiting.shift()) {
      const result = await searchKind(api, kind, text, signal).catch(() => undefined);
      if (signal.aborted || result === undefined) continue;
      found.push(...result.found);
      if (result.isTruncated) truncated.push(kind);
      changed({ found: [...found], truncated: [...truncated], isDone: false });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  if (!signal.aborted) changed({ found: [...found], truncated: [...truncated], isDone: true });
}

async function searchKind(api: ClusterApi, kind: Kind, text: string, signal: AbortSignal) {
  const read = (query: Readonly<Record<string, string>>) =>
    api.json<MetadataList>({ path: `${pathOf(kind)}?${new URLSearchParams(query).toString()}`, accept: METADATA, signal });
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

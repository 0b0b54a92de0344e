/** Addresses of views that other views link to. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { kindId, kindOfReference, type Kind } from "../../data/kinds.ts";
import { addressOf } from "../route.ts";

/** Stands for the namespace of cluster-scoped objects. */
const NO_NAMESPACE = "-";

export function objectAddress(
  kind: Pick<Kind, "plural" | "group">,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  tab?: string,
): string {
  return addressOf("object", [kindId(kind), namespace === "" ? NO_NAMESPACE : namespace, name], { tab });
}

export function namespaceOfSegment(segment: string): string {
  return segment === NO_NAMESPACE ? "" : segment;
}

export function listAddress(kind: Pick<Kind, "plural" | "group">, query: Readonly<Record<string, string | undefined>> = {}): string {
  return addressOf("list", [kindId(kind)], query);
}

/** Undefined: the cluster does not serve the kind. */
export function referenceAddress(
  kinds: readonly Kind[],
  { apiVersion, kind: name, metadata }: Pick<KubeObject, "apiVersion" | "kind" | "metadata">,
): string | undefined {
  const kind = kindOfReference(kinds, apiVersion, name);
  if (kind === undefined) return undefined;
  return objectAddress(kind, { namespace: kind.isNamespaced ? (metadata.namespace ?? "") : "", name: metadata.name ?? "" });
}

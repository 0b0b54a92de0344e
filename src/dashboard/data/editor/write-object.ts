/** Writes of the editor: an update of the version that was read, or a server-side apply; each with a dry run before. */
import { JSON_TYPE } from "../../../api/machinery/codec/media-type.ts";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { isStatusError } from "../../../api/machinery/status-error.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { textAt } from "../fields.ts";
import { kindOfReference, pathOf, type Kind } from "../kinds.ts";

const APPLY_TYPE = "application/apply-patch+yaml";

/** Owner of the fields that the dashboard writes. */
export const FIELD_MANAGER = "k8ts-dashboard";

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Takes over fields that other managers own. */
  readonly isForced?: boolean;
}

export interface Written {
  readonly object: KubeObject;
  readonly isNew: boolean;
}

/** A field that another manager owns. */
export interface FieldConflict {
  readonly field: string;
  readonly message: string;
}

/** Fails with a Conflict if the object is no longer the version that `value` names. */
export async function updateObject(api: ClusterApi, kind: Kind, value: JsonObject, { isDryRun }: WriteOptions): Promise<KubeObject> {
  const { namespace, name } = namesOf(value);
  return api.json<KubeObject>({
    method: "PUT",
    path: `${pathOf(kind, { namespace, name })}?${query(isDryRun)}`,
    contentType: JSON_TYPE,
    body: JSON.stringify(value),
  });
}

/** Creates or changes the object of a document. Documents without a namespace are written to `namespace`. */
export async function applyDocument(
  api: ClusterApi,
  kinds: readonly Kind[],
  value: JsonObject,
  { namespace: fallback, isDryRun, isForced = false }: WriteOptions & { readonly namespace: string },
): Promise<Written> {
  const kind = kindOfDocument(kinds, value);
  const { namespace: given, name } = namesOf(value);
  const namespace = kind.isNamespaced ? given || fallback : "";
  const isNamed = name !== "";
  const response = await api.send({
    method: isNamed ? "PATCH" : "POST",
    path: `${pathOf(kind, isNamed ? { namespace, name } : { namespace })}?${query(isDryRun)}${isForced && isNamed ? "&force=true" : ""}`,
    contentType: isNamed ? APPLY_TYPE : JSON_TYPE,
    body: JSON.stringify(value),
  });
  const object = JSON.parse(new TextDecoder().decode(await response.bytes())) as KubeObject;
  return { object, isNew: response.code === 201 };
}

/** With the version of the document, which need not be the preferred one. */
export function kindOfDocument(kinds: readonly Kind[], value: JsonObject): Kind {
  const [apiVersion, name] = [textAt(value, "apiVersion"), textAt(value, "kind")];
  const kind = kindOfReference(kinds, apiVersion, name);
  if (kind === undefined) throw new Error(`The cluster serves no kind ${name} of ${apiVersion}`);
  return { ...kind, version: apiVersion.slice(apiVersion.indexOf("/") + 1) };
}

function namesOf(value: JsonObject): { readonly namespace: string; readonly name: string } {
  return { namespace: textAt(value, "metadata", "namespace"), name: textAt(value, "metadata", "name") };
}

function query(isDryRun: boolean): string {
  return new URLSearchParams({ fieldManager: FIELD_MANAGER, fieldValidation: "Strict", ...(isDryRun ? { dryRun: "All" } : {}) }).toString();
}

/** Fields of a failed server-side apply that others own. Empty for any other error. */
export function conflictsOf(error: unknown): readonly FieldConflict[] {
  if (!isStatusError(error) || error.reason !== "Conflict") return [];
  return (error.details?.causes ?? [])
    .filter(({ reason }) => reason === "FieldManagerConflict")
    .map(({ field = "", message = "" }) => ({ field, message }));
}

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeleteOptions {
  readonly propagationPolicy: Propagation;
  /** Deletes only this object, not one of the same name that came after it. */
  readonly uid: string;
}

export async function deleteObject(
  api: ClusterApi,
  kind: Kind,
  object: KubeObject,
  { propagationPolicy, uid }: DeleteOptions,
): Promise<void> {
  const { namespace = "", name } = object.metadata;
  await api.send({
    method: "DELETE",
    path: pathOf(kind, { namespace, name }),
    contentType: JSON_TYPE,
    body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy, preconditions: { uid } }),
  });
}

/** Preconditions of a write: the uid and resourceVersion that the client expects. Messages are upstream's. */
import { conflict, type ResourceName } from "../../../api/machinery/status-error.ts";
import type { Endpoint } from "../endpoints.ts";
import type { DeleteOptions } from "./delete-options.ts";
import type { StoredObject } from "./storage.ts";

export function checkPreconditions(
  { resource: { kind, deletion, storage }, name: resourceName }: Endpoint,
  name: string,
  { preconditions }: DeleteOptions,
  current: StoredObject,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const found = current.object.metadata;
  // Upstream has two code paths for deletion, each with its own message.
  if (deletion !== undefined) {
    checkUid(resourceName, name, { wanted: uid, found: found.uid });
    if (resourceVersion === undefined || resourceVersion === String(current.revision)) return;
    throw conflict(
      resourceName,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.revision}`,
    );
  }
  const resource = { group: storage.group, plural: kind };
  if (uid !== undefined && uid !== found.uid) {
    throw conflict(
      resource,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${found.uid ?? ""}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion === undefined || resourceVersion === String(current.revision)) return;
  throw conflict(
    resource,
    name,
    `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${current.revision}). The object might have been modified`,
  );
}

/** The uid in the request must be that of the object. */
export function checkUid(
  resource: ResourceName,
  name: string,
  { wanted, found }: { readonly wanted: string | undefined; readonly found: string | undefined },
): void {
  if (wanted === undefined || wanted === "" || wanted === found) return;
  throw conflict(resource, name, `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ""}`);
}

/** Metadata that the server sets, and that clients may omit. As upstream's BeforeCreate and BeforeUpdate. */
import { replaceMetadata } from "../../api/changes.ts";
import { badRequest } from "../../api/machinery/status-error.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { RequestContext } from "../framework/request.ts";
import { newUid } from "../../base/uuid.ts";

/** The object gets the namespace of the path; a body with another one is rejected, unless the resource is cluster-scoped. */
export function inNamespace<T extends KubeObject>(object: T, namespace: string): T {
  const sent = object.metadata.namespace ?? "";
  if (sent === namespace) return object;
  if (namespace === "") {
    const { namespace: _namespace, ...metadata } = object.metadata;
    return replaceMetadata(object, metadata);
  }
  if (sent !== "") throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  return replaceMetadata(object, { ...object.metadata, namespace });
}

/** The name of the object must be that of the path. */
export function checkName({ metadata }: KubeObject, name: string): void {
  const sent = metadata.name ?? "";
  if (sent === name) return;
  if (sent === "") throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
}

/** Removes duplicate owner references, with a warning. `isPatched`: they are detected only after admission. */
export function withoutRepeatedOwners<T extends KubeObject>(object: T, { warn }: RequestContext, isPatched = false): T {
  const owners = object.metadata.ownerReferences ?? [];
  // One owner, the usual case, needs no comparison.
  if (owners.length < 2) return object;
  const kept: OwnerReference[] = [];
  const repeated: string[] = [];
  const seen = new Set<string>();
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (seen.has(key)) repeated.push(uid);
    else kept.push(owner);
    seen.add(key);
  }
  if (repeated.length === 0) return object;
  const when = isPatched ? " after mutating admission happens" : "";
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`,
  );
  return replaceMetadata(object, { ...object.metadata, ownerReferences: kept });
}

/** Metadata of an object to be created, with all fields that only the server sets. */
export function metadataForCreate(
  { clock, random }: Pick<ServerContext, "clock" | "random">,
  metadata: ObjectMeta,
  { name, hasGeneration }: { readonly name: string; readonly hasGeneration: boolean },
): ObjectMeta {
  const { resourceVersion, ...kept } = metadata;
  const added = { name, uid: newUid(random), creationTimestamp: formatTime(clock.now()), ...(hasGeneration ? { generation: 1 } : {}) };
  // As `withChanges`: faster than members after a spread.
  return Object.assign(resourceVersion === undefined ? { ...metadata } : kept, added);
}

/** Metadata of an update: fields that the client omitted and may not change are taken from the stored object. */
export function metadataForUpdate(next: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const { selfLink: _selfLink, generation: _generation, deletionGracePeriodSeconds, ...kept } = next;
  const grace = deletionGracePeriodSeconds ?? previous.deletionGracePeriodSeconds;
  return {
    ...kept,
    // Keeps the stored string, so that an unchanged object is recognised by identity.
    ...(previous.resourceVersion === undefined ? {} : { resourceVersion: previous.resourceVersion }),
    ...given("uid", next.uid, previous.uid),
    ...given("creationTimestamp", previous.creationTimestamp, next.creationTimestamp),
    ...given("deletionTimestamp", previous.deletionTimestamp, next.deletionTimestamp),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
    ...(previous.generation === undefined ? {} : { generation: previous.generation }),
  };
}

/** The first value that is not empty. */
function given(key: keyof ObjectMeta, first: string | undefined, second: string | undefined): Partial<ObjectMeta> {
  const value = first === undefined || first === "" ? second : first;
  return value === undefined ? {} : { [key]: value };
}

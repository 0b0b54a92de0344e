/** Objects that the server writes itself, along with a client's request: complete and valid, in the storage version. */
import { ManagedFields, trackUpdate } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { otherVersions } from "./field-manager.ts";
import { metadataForCreate } from "./metadata.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import { ignoredFields } from "../framework/storage/ignored-fields.ts";

/** Field manager of these objects: upstream's name for the API server. */
const MANAGER = "kube-apiserver";

export function ownObject(server: ServerContext, endpoint: Endpoint, object: KubeObject): StoredObject {
  const { resource, apiVersion, schema, storage } = endpoint;
  const managed = trackUpdate({
    schema,
    previous: undefined,
    previousManaged: ManagedFields.none,
    next: object,
    writer: { manager: MANAGER, apiVersion, time: formatTime(server.clock.now()) },
    ignore: ignoredFields(endpoint, ""),
    ...otherVersions(endpoint),
  });
  const { name } = object.metadata;
  const hasGeneration = resource.changesGeneration !== undefined;
  const complete = { ...object, metadata: metadataForCreate(server, object.metadata, { name, hasGeneration }) };
  return storage.newObject(complete, managed);
}

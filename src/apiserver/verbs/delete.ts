/** DELETE of one object and of a collection. Options come in the body or, if there is none, in the query. */
import type { JsonObject } from "../../api/machinery/object.ts";
import { invalidObject, isReason, type Status } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../endpoints.ts";
import type { ObjectList, Outcome } from "../outcome.ts";
import type { ApiRequest } from "../request.ts";
import type { ServerContext } from "../server-context.ts";
import type { StoredObject } from "../storage/stored-object.ts";
import { decodeBody } from "../write/decode-body.ts";
import { deleteObject, type DeleteResult } from "../write/delete.ts";
import { deleteOptionsErrors, type DeleteOptions } from "../write/deletion.ts";
import { listObjects } from "./list.ts";

const STATUS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const DELETE_OPTIONS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/** Deletions of one collection that are under way at once: enough to share commits, few enough to leave room for others. */
const COLLECTION_WORKERS = 16;

export async function deleteOne(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
  const options = deleteOptionsOf(server, endpoint, request);
  const name = { namespace: request.namespace, name: request.name };
  const result = await deleteObject(server, { endpoint, request, name, options });
  if (!result.gone || endpoint.resource.returnsDeletedObject === true) {
    return { is: "object", code: 200, endpoint, object: result.object };
  }
  return { is: "value", code: 200, schema: STATUS_SCHEMA, value: successOf(endpoint, result) as unknown as JsonObject };
}

function successOf({ name }: Endpoint, { object }: DeleteResult): Status {
  const { metadata } = object.object;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: metadata.name,
      ...(name.group === "" ? {} : { group: name.group }),
      kind: name.plural,
      ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
    },
  };
}

export async function deleteCollection(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
  const options = deleteOptionsOf(server, endpoint, request);
  const list = await listObjects(endpoint, request);
  const deleted = await deleteAll(list, (object) => {
    const { namespace = "", name } = object.object.metadata;
    return deleteObject(server, { endpoint, request, name: { namespace, name }, options });
  });
  return { is: "list", endpoint, list: { ...list, objects: deleted } };
}

async function deleteAll({ objects }: ObjectList, remove: (object: StoredObject) => Promise<DeleteResult>): Promise<StoredObject[]> {
  const waiting = objects.values();
  const deleted: StoredObject[] = [];
  const work = async () => {
    for (const object of waiting) {
      try {
        await remove(object);
        deleted.push(object);
      } catch (error) {
        // Somebody else was first, which is what was wanted.
        if (!isReason(error, "NotFound")) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: COLLECTION_WORKERS }, work));
  return deleted;
}

function deleteOptionsOf(server: ServerContext, { served }: Endpoint, request: ApiRequest): DeleteOptions {
  const options = { ...queryOptions(request), ...bodyOptions(server, served.group, request) };
  const errors = [...deleteOptionsErrors(options)];
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  return options;
}

function queryOptions({ options }: ApiRequest): DeleteOptions {
  const { gracePeriodSeconds, orphanDependents, propagationPolicy, dryRun } = options;
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun === undefined ? {} : { dryRun }),
  };
}

/** The body may call itself meta.k8s.io/v1, v1 or a version of the group of the path, as clients of all ages do. */
function bodyOptions(server: ServerContext, group: string, request: ApiRequest): DeleteOptions {
  const { body } = request;
  if (body === undefined || (body.form === "bytes" && body.bytes.length === 0)) return {};
  const schema = server.schemas.get(DELETE_OPTIONS_SCHEMA);
  if (schema?.type !== "object") return {};
  const expected = { schema, kind: { group, version: request.version, kind: "DeleteOptions" } };
  const { object } = decodeBody({ ...expected, alsoAccepts: ["meta.k8s.io/v1", "v1"] }, body, request);
  return object as unknown as DeleteOptions;
}

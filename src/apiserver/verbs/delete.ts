/** DELETE of one object and of a collection. Options are in the body or, without a body, in the query; never in both. */
import type { GroupVersion } from "../../api/machinery/object.ts";
import { forbiddenError, internalError, invalidObject, isReason, type Status } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ObjectList, Outcome } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { ObjectName } from "../framework/storage/object-key.ts";
import { decodeOptions } from "../write/decode-body.ts";
import { deleteObject } from "../write/delete.ts";
import type { DeleteOptions } from "../framework/storage/delete-options.ts";
import { deleteOptionsErrors } from "../shared/deletion.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import { listObjects } from "./list.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import type { DeleteResult } from "../framework/storage/writes.ts";

const STATUS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const DELETE_OPTIONS_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/** Concurrent deletions of one deletecollection: enough to share commits, few enough not to starve other requests. */
const COLLECTION_WORKERS = 16;

/** About 3 ms. A store in memory never waits, so that a large collection would hold the event loop to its end. */
const DELETIONS_PER_TICK = 32;

export async function deleteOne(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
  const options = deleteOptionsOf(server, endpoint, request);
  const name = { namespace: request.namespace, name: request.name };
  warnOfDefault(endpoint, options, request);
  await checkRefusal(endpoint, name);
  const result = await deleteObject(server, { endpoint, request, name, options });
  if (!result.removed || endpoint.resource.returnsDeletedObject === true) {
    const preparing = prepareObjects(endpoint, [result.object]);
    if (preparing !== undefined) await preparing;
    const isAccepted = !result.removed && options.orphanDependents === false;
    return { is: "object", code: isAccepted ? 202 : 200, endpoint, object: result.object };
  }
  const value = successOf(endpoint, result);
  return { is: "value", code: 200, schema: STATUS_SCHEMA, value };
}

async function checkRefusal({ resource, storage, name: resourceName }: Endpoint, name: ObjectName): Promise<void> {
  if (resource.refusesDeletion === undefined) return;
  const found = await storage.get(name);
  const why = found === undefined ? undefined : resource.refusesDeletion(found.object);
  if (why !== undefined) throw forbiddenError(resourceName, name.name, why);
}

function warnOfDefault({ resource }: Endpoint, { propagationPolicy, orphanDependents }: DeleteOptions, { context }: ApiRequest): void {
  const { defaultPropagationWarning } = resource;
  if (defaultPropagationWarning === undefined || propagationPolicy !== undefined || orphanDependents !== undefined) return;
  context.warn(defaultPropagationWarning);
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
  warnOfDefault(endpoint, options, request);
  const list = await listObjects(endpoint, request);
  await deleteAll(server, list, (object) => {
    const { namespace = "", name } = object.object.metadata;
    return deleteObject(server, { endpoint, request, name: { namespace, name }, options });
  });
  return { is: "list", endpoint, list };
}

async function deleteAll(
  { evaluations }: ServerContext,
  { objects }: ObjectList,
  remove: (object: StoredObject) => Promise<DeleteResult>,
): Promise<void> {
  const waiting = objects.values();
  let started = 0;
  let pause: Promise<void> | undefined;
  const work = async () => {
    for (const object of waiting) {
      if (++started % DELETIONS_PER_TICK === 0) pause = evaluations.pause();
      await pause;
      try {
        await remove(object);
      } catch (error) {
        // Another client deleted it first, which is the desired result.
        if (!isReason(error, "NotFound")) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: COLLECTION_WORKERS }, work));
}

function deleteOptionsOf(server: ServerContext, { served }: Endpoint, request: ApiRequest): DeleteOptions {
  const options = bodyOptions(server, served, request) ?? queryOptions(request);
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

/** undefined: no body. */
function bodyOptions(server: ServerContext, { group, version }: GroupVersion, { body, context }: ApiRequest): DeleteOptions | undefined {
  if (body === undefined || (body.form === "bytes" && body.bytes.length === 0)) return undefined;
  const schema = server.schemas.get(DELETE_OPTIONS_SCHEMA);
  if (schema?.type !== "object") throw internalError(new Error(`Schema ${DELETE_OPTIONS_SCHEMA} does not exist`));
  const options = decodeOptions({ schema, kind: { group, version, kind: "DeleteOptions" } }, body);
  context.trail?.audit?.received(options);
  return options;
}

/** Reads the parameters of a request for history, checks the permission for the object, and resolves times to revisions. */
import { parseTime } from "../../../api/machinery/time.ts";
import { badRequest, expired } from "../../../api/machinery/status-error.ts";
import { isStoreError } from "../../../store/store-error.ts";
import { mustHaveAccess } from "../../framework/access/access.ts";
import type { DocumentDependencies } from "../../framework/document.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { RequestContext } from "../../framework/request.ts";
import type { ObjectName } from "../../framework/storage/object-key.ts";
import { statusOfFailure } from "../../framework/storage/store-failure.ts";

export type HistoryDependencies = Pick<DocumentDependencies, "server" | "endpoints" | "causes">;

/** What is requested: an object, or a list if the name is "". */
export interface HistorySubject extends ObjectName {
  readonly endpoint: Endpoint;
}

/** Throws BadRequest or Forbidden. */
export function historySubject(
  { server, endpoints }: HistoryDependencies,
  parameters: URLSearchParams,
  { user }: RequestContext,
): HistorySubject {
  const [plural = "", ...groupParts] = (parameters.get("resource") ?? "").split(".");
  const group = groupParts.join(".");
  const endpoint = endpoints.stored(group, plural);
  if (endpoint === undefined)
    throw badRequest(
      `The parameter "resource" must name a resource, as in ?resource=deployments.apps, is ${JSON.stringify(parameters.get("resource"))}`,
    );
  const namespace = parameters.get("namespace") ?? "";
  const name = parameters.get("name") ?? "";
  const isNamespaced = endpoint.resource.scope === "Namespaced";
  if (name !== "" && isNamespaced !== (namespace !== ""))
    throw badRequest(`The parameter "namespace" is ${isNamespaced ? "required" : "not allowed"} for an object of ${plural}`);
  const { version } = endpoint.served;
  const resource = { group, version, plural, subresource: "", namespace, name };
  mustHaveAccess(server.authorizer, { user, verb: name === "" ? "list" : "get", resource, path: "" });
  return { endpoint, namespace, name };
}

/** The revision of a parameter: a revision, a time, or the newest if it is absent. Throws BadRequest or Expired. */
export async function revisionOf({ server, causes }: HistoryDependencies, parameters: URLSearchParams, name: string): Promise<number> {
  const text = parameters.get(name) ?? "";
  const newest = await server.store.currentRevision();
  if (text === "") return newest;
  if (/^\d{1,15}$/.test(text)) {
    const revision = Number(text);
    if (revision > newest) throw badRequest(`Revision ${text} has not been reached: the newest is ${newest}`);
    return revision;
  }
  const timeMs = parseTime(text);
  if (timeMs === undefined)
    throw badRequest(
      `The parameter "${name}" must be a revision or a time, as in 4711 or 2026-11-17T13:00:00Z, is ${JSON.stringify(text)}`,
    );
  if (timeMs >= server.clock.now()) return newest;
  const revision = causes.revisionAt(timeMs);
  if (revision === undefined) throw expired(`No write at or before ${text} is recorded any more`);
  return revision;
}

/** The store's errors as those of the API: a compacted revision is Expired. */
export async function kept<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isStoreError(error, "Compacted")) throw expired("The store no longer has this revision: it is compacted");
    throw statusOfFailure(error);
  }
}

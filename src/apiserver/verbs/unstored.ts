/** Reads a kind that is not stored: its extension returns the current objects, and everything else is as for all other kinds. */
import { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { EVERYTHING, parseLabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { notFound, noSuchPath } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { selectionOf } from "../watch/selection.ts";
import type { StoredObject } from "../framework/storage/storage.ts";

export async function getUnstored(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
  const { namespace, name } = request;
  const object = (await objectsOf(server, endpoint, request)).find((candidate) => candidate.object.metadata.name === name);
  // Upstream, metrics-server included, uses the singular and the full name here.
  const full = namespace === "" ? name : `${namespace}/${name}`;
  if (object === undefined) throw notFound({ group: endpoint.name.group, plural: endpoint.resource.singular }, full);
  return { is: "object", code: 200, endpoint, object };
}

export async function listUnstored(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<Outcome> {
  const selection = selectionOf(endpoint, request);
  const objects = (await objectsOf(server, endpoint, request)).filter((object) => selection.matches(object));
  return { is: "list", endpoint, list: { objects, revision: 0 } };
}

async function objectsOf(server: ServerContext, endpoint: Endpoint, request: ApiRequest): Promise<readonly StoredObject[]> {
  const { name, storage } = endpoint;
  // A read by name has no selector.
  const labels = request.name === "" ? parseLabelSelector(request.options.labelSelector ?? "") : EVERYTHING;
  const selects = ({ name: own, labels: its }: KubeObject["metadata"]): boolean =>
    (request.name === "" || request.name === own) && (labels.isEverything || labels.matches(its ?? {}));
  const objects = await server.extension(name.group, name.plural)?.objects?.({ namespace: request.namespace, selects });
  if (objects === undefined) throw noSuchPath();
  return objects.map((object) => storage.newObject(object, ManagedFields.none));
}

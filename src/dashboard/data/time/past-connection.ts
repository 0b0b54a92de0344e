/**
 * A connection to the cluster as it was at a revision: lists and objects are read with `resourceVersionMatch=Exact`, so that the server
 * decides what the user may see, as always. Watches have no events, and nothing can be changed. Discovery is that of now.
 */
import { badRequest, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import { isObject, type JsonObject } from "../../../api/machinery/object.ts";
import { parseApiPath, type ApiPath } from "../api-path.ts";
import type { ClusterConnection, ConnectionRequest, ConnectionResponse } from "../connection.ts";
import { textAt } from "../fields.ts";
import { errorResponse, jsonResponse, silentResponse } from "../fixed-response.ts";

/** A state of the cluster that the store still has. */
export interface Instant {
  readonly revision: string;
  readonly timeMs: number;
}

/** Reviews are created, and change nothing. */
const REVIEW_GROUPS = ["authentication.k8s.io", "authorization.k8s.io"];

export function pastConnection(connection: ClusterConnection, { revision }: Pick<Instant, "revision">): ClusterConnection {
  return {
    async send(request) {
      const [path = "", query = ""] = request.path.split("?");
      const named = parseApiPath(path);
      if (named === undefined || REVIEW_GROUPS.includes(named.group)) return connection.send(request);
      if (request.method !== undefined && request.method !== "GET") return errorResponse(READ_ONLY);
      if (named.group.endsWith("metrics.k8s.io")) return errorResponse(notFound(named, named.name));
      if (named.subresource !== "") return errorResponse(badRequest(`The ${named.subresource} of an object in the past is not kept`));
      const parameters = new URLSearchParams(query);
      if (parameters.has("watch") && parameters.get("watch") !== "false" && parameters.get("watch") !== "0")
        return silentResponse(request.signal);
      if (named.name !== "") return oneOf(connection, { ...request, path: exactPath(named, onlyName(named), revision) }, named);
      return connection.send({ ...request, path: exactPath(named, parameters, revision) });
    },
    open(_path, _protocols, listener) {
      listener.closed(READ_ONLY.message);
      return { send: () => undefined, close: () => undefined };
    },
  };
}

const READ_ONLY = new StatusError("MethodNotAllowed", "The page shows the past, which cannot be changed: return to now first");

function onlyName({ name }: ApiPath): URLSearchParams {
  return new URLSearchParams({ fieldSelector: `metadata.name=${name}` });
}

/** A continue token has the revision of its first page. */
function exactPath({ listPath }: ApiPath, parameters: URLSearchParams, revision: string): string {
  const exact = new URLSearchParams(parameters);
  exact.delete("resourceVersion");
  exact.delete("resourceVersionMatch");
  if ((exact.get("continue") ?? "") === "") {
    exact.set("resourceVersion", revision);
    exact.set("resourceVersionMatch", "Exact");
  }
  return `${listPath}?${exact.toString()}`;
}

async function oneOf(connection: ClusterConnection, request: ConnectionRequest, named: ApiPath): Promise<ConnectionResponse> {
  const response = await connection.send(request);
  if (response.code !== 200) return response;
  const list = JSON.parse(new TextDecoder().decode(await response.bytes())) as JsonObject;
  const { apiVersion, items } = list;
  // A Table of one object has the form of one of a list.
  if (list["kind"] === "Table") return jsonResponse(list);
  const [object] = Array.isArray(items) ? items : [];
  if (!isObject(object)) return errorResponse(notFound(named, named.name));
  return jsonResponse({ apiVersion, kind: textAt(list, "kind").replace(/List$/, ""), ...object });
}

/** Resolves a path to what serves it, once per exchange: a document, a resource, or a connection to where an object runs. */
import type { Aggregation, RemoteApi } from "../framework/apis/aggregation.ts";
import { parsePath, type DocumentPath, type RequestPath, type ResourcePath } from "../framework/access/request-path.ts";
import type { Document } from "../framework/document.ts";
import type { Endpoints } from "../framework/endpoints.ts";
import { resolveResource, type ResolvedResource } from "../framework/access/resolved-resource.ts";
import { connectionAt, type Connection } from "./connection-path.ts";

export type Route = DocumentRoute | ResourceRoute | RemoteRoute;

export interface DocumentRoute {
  readonly is: "document";
  readonly path: DocumentPath;
  /** Absent: no document has this path. */
  readonly document: Document | undefined;
}

export interface ResourceRoute {
  readonly is: "resource";
  readonly path: ResourcePath;
  readonly resolved: ResolvedResource;
  /** Absent: the request is not for a connection. */
  readonly connection: Connection | undefined;
}

/** Another API server serves it: a resource, or the discovery document of a group and version. */
export interface RemoteRoute {
  readonly is: "remote";
  readonly path: RequestPath;
  readonly remote: RemoteApi;
}

export interface RouteTable {
  readonly aggregation: Pick<Aggregation, "remote">;
  readonly endpoints: Pick<Endpoints, "find">;
  readonly documents: readonly Document[];
}

/** Throws BadRequest if the path cannot be decoded. */
export function routeOf({ endpoints, documents, aggregation }: RouteTable, encoded: string): Route {
  const path = parsePath(encoded);
  const remote = remoteOf(aggregation, path);
  if (remote !== undefined) return { is: "remote", path, remote };
  if (path.is === "document") return documentRoute(documents, path);
  const resolved = resolveResource(endpoints, path);
  return { is: "resource", path, resolved, connection: connectionAt(resolved, path) };
}

const DISCOVERY = /^\/(?:api|apis\/([^/]+))\/([^/]+)$/;

export function remoteOf(aggregation: Pick<Aggregation, "remote">, path: RequestPath): RemoteApi | undefined {
  if (path.is === "resource") return aggregation.remote(path.group, path.version);
  const [, group = "", version] = DISCOVERY.exec(path.path) ?? [];
  return version === undefined ? undefined : aggregation.remote(group, version);
}

export function documentRoute(documents: readonly Document[], path: DocumentPath): DocumentRoute {
  return { is: "document", path, document: documents.find((candidate) => candidate.answers(path.path)) };
}

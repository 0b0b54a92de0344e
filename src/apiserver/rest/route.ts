/** Resolves a path to what serves it, once per exchange: a document, a resource, or a connection to where an object runs. */
import { parsePath, type DocumentPath, type ResourcePath } from "../framework/access/request-path.ts";
import type { Document } from "../framework/document.ts";
import type { Endpoints } from "../framework/endpoints.ts";
import { resolveResource, type ResolvedResource } from "../framework/access/resolved-resource.ts";
import { connectionAt, type Connection } from "./connection-path.ts";

export type Route = DocumentRoute | ResourceRoute;

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

export interface RouteTable {
  readonly endpoints: Pick<Endpoints, "find">;
  readonly documents: readonly Document[];
}

/** Throws BadRequest if the path cannot be decoded. */
export function routeOf({ endpoints, documents }: RouteTable, encoded: string): Route {
  const path = parsePath(encoded);
  if (path.is === "document") return documentRoute(documents, path);
  const resolved = resolveResource(endpoints, path);
  return { is: "resource", path, resolved, connection: connectionAt(resolved, path) };
}

export function documentRoute(documents: readonly Document[], path: DocumentPath): DocumentRoute {
  return { is: "document", path, document: documents.find((candidate) => candidate.answers(path.path)) };
}

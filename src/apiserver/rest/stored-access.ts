/** Recognises requests that only concern stored objects: any API server of the same store can answer those that read. */
import type { ExchangeRequest } from "../framework/exchange.ts";
import { routeOf, type RouteTable } from "./route.ts";

/** Undefined for paths that cannot be decoded, for documents, connections, other API servers, and objects that are computed. */
export function storedAccess(table: RouteTable, { method, path }: Pick<ExchangeRequest, "method" | "path">): "read" | "write" | undefined {
  try {
    const route = routeOf(table, path);
    const isStored = route.is === "resource" && route.connection === undefined && route.resolved.endpoint?.resource.stored === true;
    if (!isStored) return undefined;
    return method === "GET" ? "read" : WRITES.has(method) ? "write" : undefined;
  } catch {
    return undefined;
  }
}

const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

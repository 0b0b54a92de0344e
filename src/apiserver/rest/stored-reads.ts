/** Recognises requests that only read stored objects: any API server of the same store can answer them. */
import type { ExchangeRequest } from "../framework/exchange.ts";
import { routeOf, type RouteTable } from "./route.ts";

/** False for paths that cannot be decoded, for documents, connections, other API servers, and objects that are computed. */
export function readsStoredObjects(table: RouteTable, { method, path }: Pick<ExchangeRequest, "method" | "path">): boolean {
  if (method !== "GET") return false;
  try {
    const route = routeOf(table, path);
    return route.is === "resource" && route.connection === undefined && route.resolved.endpoint?.resource.stored === true;
  } catch {
    return false;
  }
}

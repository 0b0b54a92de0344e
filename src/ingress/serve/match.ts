/**
 * Finds the route of a request: the exact host before its wildcard before rules without a host; within a host the longest path, and an exact
 * path before a prefix. Hot path: the cost depends on the number of elements of the longest prefix, not on the number of routes or on what
 * a client sends.
 */
import type { HostRoutes, Route, RoutingTable } from "../model.ts";

export interface MatchedRoute {
  readonly route: Route;
  /** What of the path matched, for rewrites: "/api" of "/api/v1". */
  readonly matched: string;
}

/** `path`: as received. Undefined: no rule matches, and there is no default backend. */
export function matchRoute(table: RoutingTable, host: string, path: string): MatchedRoute | undefined {
  const routes = hostRoutes(table, host);
  return (
    (routes === undefined ? undefined : matchPath(routes, path)) ??
    (table.anyHost === undefined || table.anyHost === routes ? undefined : matchPath(table.anyHost, path)) ??
    fallback(routes?.fallback ?? table.anyHost?.fallback ?? table.fallback)
  );
}

function hostRoutes({ hosts, wildcards, anyHost }: RoutingTable, host: string): HostRoutes | undefined {
  const exact = hosts.get(host);
  if (exact !== undefined) return exact;
  // A wildcard is one label.
  const dot = host.indexOf(".");
  return (dot <= 0 ? undefined : wildcards.get(host.slice(dot))) ?? anyHost;
}

function fallback(route: Route | undefined): MatchedRoute | undefined {
  return route === undefined ? undefined : { route, matched: "/" };
}

function matchPath({ exact, prefixes, prefixElementsMax }: HostRoutes, path: string): MatchedRoute | undefined {
  const same = exact.get(path);
  if (same !== undefined) return { route: same, matched: path };
  if (prefixes.size === 0) return undefined;
  // The ends of the first elements, up to as many as the longest prefix has.
  let end = 0;
  const ends: number[] = [];
  for (let count = 0; count < prefixElementsMax && end < path.length; count++) {
    const slash = path.indexOf("/", end + 1);
    end = slash === -1 ? path.length : slash;
    ends.push(end);
  }
  for (let index = ends.length - 1; index >= 0; index--) {
    const prefix = path.slice(0, ends[index]);
    const route = prefixes.get(prefix);
    if (route !== undefined) return { route, matched: prefix };
  }
  const every = prefixes.get("");
  return every === undefined ? undefined : { route: every, matched: "" };
}

/** Where a path could mean another one than it says. */
const AMBIGUOUS = /%2[ef]|%5c|\\|\/\.{1,2}(?:\/|$)/i;

/**
 * The path that servers see after they have resolved "." and ".." and decoded dots, for matching: what "/public/../admin" reaches is decided
 * by the route of "/admin". Undefined: it leaves the root, or has an encoded slash or a backslash beside such an element, which servers read
 * differently.
 */
export function resolvedPath(path: string): string | undefined {
  if (!AMBIGUOUS.test(path)) return path;
  const decoded = path.replaceAll(/%2e/gi, ".");
  const elements: string[] = [];
  for (const element of decoded.split("/").slice(1)) {
    // "a%2F..%2Fb" and "..\\": decoded by some servers only.
    if (/(?:^|%2f|%5c|\\)\.{1,2}(?:%2f|%5c|\\|$)/i.test(element) && element !== "." && element !== "..") return undefined;
    if (element === "..") {
      if (elements.pop() === undefined) return undefined;
    } else if (element !== ".") elements.push(element);
  }
  const isFolder = /\/\.{1,2}$/.test(decoded);
  return `/${elements.join("/")}${isFolder && elements.length > 0 ? "/" : ""}`;
}

/** The path for the endpoint: the matched part is replaced by `by`. Nothing in either is interpreted. */
export function rewrittenPath(path: string, matched: string, by: string): string {
  const rest = path.slice(matched.length);
  if (rest === "") return by;
  const base = by.endsWith("/") ? by.slice(0, -1) : by;
  return rest.startsWith("/") ? base + rest : `${base}/${rest}`;
}

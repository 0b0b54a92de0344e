/**
 * Finds the route of a request: the exact host before its wildcard before rules without a host; within a host the longest path, and an exact
 * path before a prefix. Hot path: the cost depends on the number of elements of the longest prefix, not on the number of routes or on what
 * a client sends.
 */
import { comparablePath } from "../comparable-path.ts";
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
const AMBIGUOUS = /%|\\|\/\/|\/\.{1,2}(?:\/|$)/;

/** An element that is "." or ".." for servers that decode slashes or read a backslash as one. */
const HIDDEN_DOTS = /(?:^|%2F|%5C|\\)\.{1,2}(?:%2F|%5C|\\|$)/;

/**
 * The path that servers see after they have decoded letters and dots, resolved "." and ".." and merged slashes, for matching: what
 * "/public/../admin", "//admin" and "/%61dmin" reach is decided by the route of "/admin". Undefined: it leaves the root, or has an encoded
 * slash, a backslash or an empty element beside "..", which servers read differently.
 */
export function resolvedPath(path: string): string | undefined {
  if (!AMBIGUOUS.test(path)) return path;
  const received = comparablePath(path).split("/").slice(1);
  const last = received.length - 1;
  const elements: string[] = [];
  let [hasEmpty, hasParent] = [false, false];
  for (const [index, element] of received.entries()) {
    if (element === "..") {
      if (elements.pop() === undefined) return undefined;
      hasParent = true;
    } else if (element === "" && index < last) hasEmpty = true;
    else if (HIDDEN_DOTS.test(element) && element !== ".") return undefined;
    else if (element !== ".") elements.push(element);
  }
  if (hasEmpty && hasParent) return undefined;
  const isFolder = /^\.{1,2}$/.test(received[last] ?? "") && elements.length > 0;
  return `/${elements.join("/")}${isFolder ? "/" : ""}`;
}

/**
 * The path for the endpoint: the matched part is replaced by `by`. Nothing in either is interpreted. The rest is as the client wrote it,
 * unless the path had to be resolved to find it.
 */
export function rewrittenPath(paths: { readonly received: string; readonly resolved: string }, matched: string, by: string): string {
  const { received, resolved } = paths;
  const isAsWritten = received.startsWith(matched) && !DOTS.test(received);
  const rest = (isAsWritten ? received : resolved).slice(matched.length);
  if (rest === "") return by;
  const base = by.endsWith("/") ? by.slice(0, -1) : by;
  return `${base}/${rest.replace(/^\/+/, "")}`;
}

const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Recognises paths of connections, and maps their methods and the path after the subresource. */
import type { Subresource, Verb } from "../../api/machinery/resource.ts";
import type { ResourcePath } from "../framework/access/request-path.ts";
import type { ResolvedResource } from "../framework/access/resolved-resource.ts";

export type Connection = Extract<Subresource, { readonly of: "connection" }>;

export function connectionAt({ subresource }: ResolvedResource, { name, isWatchPath, rest }: ResourcePath): Connection | undefined {
  if (name === "" || isWatchPath || subresource?.of !== "connection") return undefined;
  return rest.length === 0 || subresource.forwards === true ? subresource : undefined;
}

const VERBS: Readonly<Record<string, Verb>> = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** A proxy accepts these methods, too. */
const FORWARDED = ["HEAD", "OPTIONS"];

export function connectionVerb(method: string, { verbs, forwards }: Connection): Verb | undefined {
  const verb = Object.hasOwn(VERBS, method) ? VERBS[method] : undefined;
  if (verb !== undefined) return verbs.includes(verb) ? verb : undefined;
  return forwards === true && FORWARDED.includes(method) ? "get" : undefined;
}

/** Decoded, beginning with a slash and ending as the client's path does; "" if nothing follows, not even a slash. */
export function pathBehind({ rest }: ResourcePath, encoded: string): string {
  const path = rest.length === 0 ? "" : `/${rest.join("/")}`;
  return /(?:\/|%2f)$/i.test(encoded) && !path.endsWith("/") ? `${path}/` : path;
}

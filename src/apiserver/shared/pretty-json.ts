/** Decides which clients get indented JSON: those that request it by `?pretty=`, and by default command-line tools and browsers. */
import type { ExchangeRequest } from "../framework/exchange.ts";

/** As upstream: prefixes of the user agents of curl, wget and all browsers. */
const HUMAN_USER_AGENTS = ["curl", "Wget", "Mozilla/5.0"];

/** What Go's strconv.ParseBool parses as true; every other value means false. */
const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Hot path (called per request): the query is parsed only if it can matter. */
export function isPretty(request: Pick<ExchangeRequest, "query" | "header">): boolean {
  const given = request.query.includes("pretty") ? new URLSearchParams(request.query).get("pretty") : null;
  if (given !== null && given !== "") return TRUE.has(given);
  const userAgent = request.header("user-agent") ?? "";
  return HUMAN_USER_AGENTS.some((beginning) => userAgent.startsWith(beginning));
}

/** Placeholder before the digits of a number that JSON.stringify rejects, until they are inserted; does not occur in requests. */
const DIGITS = "\u0001k8ts digits \u0001";
const DIGITS_IN_TEXT = /"\\u0001k8ts digits \\u0001(-?\d+)"/g;

/** As upstream's: kind and apiVersion first and, unlike JSON on one line, no trailing line break. */
export function prettyJson({ kind, apiVersion, ...members }: { readonly kind?: unknown; readonly apiVersion?: unknown }): string {
  const value = { ...(kind === undefined ? {} : { kind }), ...(apiVersion === undefined ? {} : { apiVersion }), ...members };
  const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? `${DIGITS}${member}` : member), 2);
  return text.replaceAll(DIGITS_IN_TEXT, "$1");
}

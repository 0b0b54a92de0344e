/** Who gets JSON that is indented for people: whoever asks for it by `?pretty=`, and by default command-line tools and browsers. */
import type { ExchangeRequest } from "./exchange.ts";

/** As upstream: the beginnings of the user agents of curl, wget and all browsers. */
const PEOPLE = ["curl", "Wget", "Mozilla/5.0"];

/** What Go's strconv.ParseBool takes for true; everything else that is given means no. */
const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Called per request: the query is parsed only if it can matter. */
export function isPretty(request: Pick<ExchangeRequest, "query" | "header">): boolean {
  const given = request.query.includes("pretty") ? new URLSearchParams(request.query).get("pretty") : null;
  if (given !== null && given !== "") return TRUE.has(given);
  const userAgent = request.header("user-agent") ?? "";
  return PEOPLE.some((beginning) => userAgent.startsWith(beginning));
}

/** Stands before the digits of a number that JSON.stringify refuses, until they are put in; nobody sends such a text. */
const DIGITS = "\u0001k8ts digits \u0001";
const DIGITS_IN_TEXT = /"\\u0001k8ts digits \\u0001(-?\d+)"/g;

/** As upstream's, which has kind and apiVersion first and, unlike JSON in one line, no line break at the end. */
export function prettyJson({ kind, apiVersion, ...members }: { readonly kind?: unknown; readonly apiVersion?: unknown }): string {
  const value = { ...(kind === undefined ? {} : { kind }), ...(apiVersion === undefined ? {} : { apiVersion }), ...members };
  const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? `${DIGITS}${member}` : member), 2);
  return text.replaceAll(DIGITS_IN_TEXT, "$1");
}

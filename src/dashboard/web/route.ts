/** The address of a view inside the page: `#/VIEW/SEGMENT/…?name=value`. Pure. */

export interface Route {
  /** "" is the first view. */
  readonly view: string;
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(address: string): Route {
  const [path = "", query = ""] = address.split("?");
  const [view = "", ...segments] = path.replace(/^\//, "").split("/").map(decodeSegment);
  return { view, segments, query: Object.fromEntries(new URLSearchParams(query)) };
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Without parameters whose value is "". */
export function addressOf(
  view: string,
  segments: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]]));
  const path = [view, ...segments].map((segment) => encodeURIComponent(segment)).join("/");
  return `/${path}${given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`}`;
}

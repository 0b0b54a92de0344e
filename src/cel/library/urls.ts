/** URLs as Go's net/url parses them. */
import { parseGoUrl, UrlError, type GoUrl } from "../../api/machinery/go-url.ts";
import { ArrayList, EntryMap } from "../values/containers.ts";
import { spend } from "../values/meter.ts";
import { quoted, textOf } from "../values/text.ts";
import { CelError, OpaqueValue, type CelResult } from "../values/value.ts";
import { BOOL, listOf, mapOf, objectOf, STRING, type CelType } from "../types/type.ts";
import { member, overload, type Implementation, type Library, type LibraryFunction } from "./library.ts";

export const URL_TYPE: CelType = objectOf("kubernetes.URL");

class UrlValue extends OpaqueValue {
  readonly type = URL_TYPE;
  readonly text: string;
  readonly url: GoUrl;

  constructor(text: string, url: GoUrl) {
    super();
    this.text = text;
    this.url = url;
  }

  equals(other: OpaqueValue): boolean | CelError {
    return other instanceof UrlValue ? other.text === this.text : new CelError("no such overload");
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  override toJson(): string {
    return this.text;
  }
}

/** Steps of parsing a character: escapes are decoded, and others than printable ASCII are quoted in errors. */
const PARSE_STEPS = 4;
const UNUSUAL_STEPS = 40;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** A URL of a request line: absolute, or an absolute path. The message is Go's. */
export function requestUrlProblem(text: string): string | undefined {
  spend(text.length * (PRINTABLE_ASCII.test(text) ? PARSE_STEPS : UNUSUAL_STEPS));
  const problem = (message: string): string => `parse ${quoted(text)}: ${message}`;
  if (text === "") return problem("empty url");
  try {
    const isPath = text.startsWith("/");
    // Two leading slashes of a path do not make a host here, and "#" is an ordinary character.
    parseGoUrl(`${isPath ? "/." : ""}${text.replaceAll("#", "%23")}`);
    const hasScheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text);
    return isPath || hasScheme || text === "*" ? undefined : problem("invalid URI for request");
  } catch (error) {
    if (error instanceof UrlError) return problem((error.cause as UrlError).message);
    throw error;
  }
}

function parseUrl(text: string): CelResult {
  const failure = (message: string): CelError => new CelError(`URL parse error during conversion from string: ${message}`);
  const problem = requestUrlProblem(text);
  if (problem !== undefined) return failure(problem);
  try {
    return new UrlValue(text, parseGoUrl(text));
  } catch (error) {
    if (error instanceof UrlError) return failure(error.message);
    throw error;
  }
}

/** The path as it was written. */
function rawPath(text: string, { scheme }: GoUrl): string {
  const withoutFragment = text.split("#", 1)[0] ?? "";
  const withoutQuery = withoutFragment.split("?", 1)[0] ?? "";
  const rest = scheme === "" ? withoutQuery : withoutQuery.slice(scheme.length + 1);
  if (!rest.startsWith("/") && scheme !== "") return "";
  if (!rest.startsWith("//") || (scheme === "" && rest.startsWith("///"))) return rest;
  const slash = rest.indexOf("/", 2);
  return slash < 0 ? "" : rest.slice(slash);
}

const VALID_PATH = /^[-A-Za-z0-9_.~$&+,/:;=@!'()*[\]%]*$/;

/** Steps of escaping a character, and of reading a parameter: its strings and its entry in the map. */
const ESCAPE_STEPS = 15;
const PARAMETER_STEPS = 150;

function escapedPath(path: string): string {
  if (VALID_PATH.test(path)) return path;
  spend(path.length * ESCAPE_STEPS);
  return encodeURI(decodePath(path)).replaceAll(/[?#[\]!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** "example.com:8080" without the port, "[::1]" without the brackets. */
function hostname(host: string): string {
  if (host.startsWith("[")) return host.slice(1, host.lastIndexOf("]"));
  const colon = host.indexOf(":");
  return colon < 0 ? host : host.slice(0, colon);
}

function port(host: string): string {
  const after = host.startsWith("[") ? host.slice(host.lastIndexOf("]") + 1) : host;
  const colon = after.indexOf(":");
  return colon < 0 ? "" : after.slice(colon + 1);
}

/** Malformed parameters are left out, as Go does. */
function parseQuery(query: string): CelResult {
  const parameters = new Map<string, string[]>();
  for (const part of query.split("&")) {
    spend(PARAMETER_STEPS);
    if (part === "" || part.includes(";")) continue;
    const equals = part.indexOf("=");
    const key = unescapeQuery(equals < 0 ? part : part.slice(0, equals));
    const value = unescapeQuery(equals < 0 ? "" : part.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const values = parameters.get(key);
    if (values === undefined) parameters.set(key, [value]);
    else values.push(value);
  }
  return EntryMap.of(Array.from(parameters, ([key, values]) => [key, new ArrayList(values)] as const));
}

function unescapeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** Costs 1 upstream, although most of them scan the URL. */
function accessor(name: string, id: string, result: CelType, read: (value: UrlValue) => CelResult): LibraryFunction {
  const call: Implementation = ([value]) => {
    spend((value as UrlValue).text.length);
    return read(value as UrlValue);
  };
  return { name, overloads: [member(id, [URL_TYPE], result, call)] };
}

export const urls: Library = {
  functions: [
    { name: "url", overloads: [overload("string_to_url", [STRING], URL_TYPE, ([text]) => parseUrl(textOf(text)))] },
    accessor("getScheme", "url_get_scheme", STRING, ({ url }) => url.scheme),
    accessor("getHost", "url_get_host", STRING, ({ url }) => url.host),
    accessor("getHostname", "url_get_hostname", STRING, ({ url }) => hostname(url.host)),
    accessor("getPort", "url_get_port", STRING, ({ url }) => port(url.host)),
    accessor("getEscapedPath", "url_get_escaped_path", STRING, ({ text, url }) => escapedPath(rawPath(text, url))),
    accessor("getQuery", "url_get_query", mapOf(STRING, listOf(STRING)), ({ url }) => parseQuery(url.query)),
    { name: "isURL", overloads: [overload("is_url_string", [STRING], BOOL, ([text]) => requestUrlProblem(textOf(text)) === undefined)] },
  ],
};

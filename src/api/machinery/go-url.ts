/**
 * URLs as Go's net/url reads them, which differs from the web's rules in what it refuses and in what it says then; fields that hold a URL
 * show that to clients. Only the parts that fields ask for are kept.
 */
import { quoteGo } from "./codec/go-text.ts";
import { parseIp } from "./ip-address.ts";

export interface GoUrl {
  /** In lower case; "" for a relative URL. */
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  /** "name" or "name:password", escaped where it must be. */
  readonly user?: string;
  /** What follows the question mark. */
  readonly query: string;
  readonly fragment: string;
}

/** The message is Go's. */
export class UrlError extends Error {
  override readonly name = "UrlError";
}

export function parseGoUrl(text: string): GoUrl {
  const hash = text.indexOf("#");
  const before = hash < 0 ? text : text.slice(0, hash);
  const url = named(before, () => parseWithoutFragment(before));
  if (hash < 0) return url;
  return { ...url, fragment: named(text, () => unescapeText(text.slice(hash + 1), "text")) };
}

function named<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quoteGo(text)}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A scheme is letters, then also digits and signs; a colon ends it. */
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):/;

function parseWithoutFragment(text: string): GoUrl {
  if (Array.from(text).some((character) => character < " " || character === "\u007f"))
    throw new UrlError("net/url: invalid control character in URL");
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = SCHEME.exec(text)?.[1] ?? "";
  const afterScheme = scheme === "" ? text : text.slice(scheme.length + 1);
  const question = afterScheme.indexOf("?");
  const query = question < 0 ? "" : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const parts = { scheme: scheme.toLowerCase(), host: "", query, fragment: "" };
  if (!rest.startsWith("/")) {
    // "mailto:someone" has no path at all.
    if (scheme !== "") return parts;
    if (rest.split("/", 1)[0]?.includes(":") === true) throw new UrlError("first path segment in URL cannot contain colon");
  }
  if (!rest.startsWith("//") || (scheme === "" && rest.startsWith("///"))) {
    unescapeText(rest, "text");
    return parts;
  }
  const [authority = ""] = rest.slice(2).split("/", 1);
  const found = parseAuthority(authority, parts.scheme);
  unescapeText(rest.slice(2 + authority.length), "text");
  return { ...parts, ...found };
}

const USER = /^[-A-Za-z0-9._:~!$&'()*+,;=%@]*$/;

function parseAuthority(authority: string, scheme: string): Pick<GoUrl, "host" | "user"> {
  const at = authority.lastIndexOf("@");
  const host = parseHost(authority.slice(at + 1), scheme);
  if (at < 0) return { host };
  const user = authority.slice(0, at);
  if (!USER.test(user)) throw new UrlError("net/url: invalid userinfo");
  const colon = user.indexOf(":");
  const parts = colon < 0 ? [user] : [user.slice(0, colon), user.slice(colon + 1)];
  return { host, user: parts.map((part) => escapeUser(unescapeText(part, "text"))).join(":") };
}

/** All that may stand in a user's name without being taken for something else. */
function escapeUser(text: string): string {
  return encodeURIComponent(text)
    .replace(/%(24|26|2B|2C|3B|3D)/g, (escaped) => decodeURIComponent(escaped))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function parseHost(host: string, scheme: string): string {
  const open = host.lastIndexOf("[");
  if (open > 0) throw new UrlError("invalid IP-literal");
  if (open === 0) return parseBracketed(host);
  const colon = scheme === "http" || scheme === "https" ? host.indexOf(":") : host.lastIndexOf(":");
  if (colon >= 0) checkPort(host.slice(colon));
  return unescapeText(host, "host");
}

/** "[::1]:443", and with a zone "[fe80::1%25eth0]". */
function parseBracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  checkPort(host.slice(close + 1));
  const inside = host.slice(1, close);
  const [address = ""] = inside.split("%25", 1);
  const zone = inside.slice(address.length);
  const plain = unescapeText(address, "host");
  const ip = parseIp(plain);
  if (ip === undefined) throw new UrlError(`invalid host: ParseAddr(${quoteGo(plain + unescapeText(zone, "text"))}): unable to parse IP`);
  if (ip.family === 4) throw new UrlError("invalid IP-literal");
  return `[${plain}${unescapeText(zone, "text")}]${host.slice(close + 1)}`;
}

function checkPort(colonAndPort: string): void {
  if (!/^(?::[0-9]*)?$/.test(colonAndPort)) throw new UrlError(`invalid port ${quoteGo(colonAndPort)} after host`);
}

/** ASCII that may stand in a host as it is. */
const HOST_CHARACTER = /^[-A-Za-z0-9_.~!$&'()*+,;=:[\]<>"]$/;

/** In a host only what is no ASCII may be escaped, and the percent sign itself. */
function unescapeText(text: string, where: "host" | "text"): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (let index = 0; index < text.length; index++) {
    const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
    if (character === "%") {
      const escape = text.slice(index, index + 3);
      if (!/^%[0-9a-fA-F]{2}$/.test(escape) || (where === "host" && /^%[0-7]/.test(escape) && escape !== "%25")) {
        throw new UrlError(`invalid URL escape ${quoteGo(escape)}`);
      }
      bytes.push(Number.parseInt(escape.slice(1), 16));
      index += 2;
      continue;
    }
    if (where === "host" && character < "\u0080" && !HOST_CHARACTER.test(character)) {
      throw new UrlError(`invalid character ${quoteGo(character)} in host name`);
    }
    bytes.push(...encoder.encode(character));
    index += character.length - 1;
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

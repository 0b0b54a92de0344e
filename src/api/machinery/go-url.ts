/**
 * Parses URLs as Go's net/url does, which differs from the WHATWG rules in what it rejects and in its error messages; clients see both for
 * fields that hold a URL. Only the parts that validation needs are kept.
 */
import { quoteGo } from "./codec/go-text.ts";
import { parseIp } from "./ip/ip-address.ts";

export interface GoUrl {
  /** In lower case; "" for a relative URL. */
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  /** "name" or "name:password", escaped where required. */
  readonly user?: string;
  /** The part after the question mark. */
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

/** A scheme begins with a letter, followed by letters, digits, "+", "-" and "."; a colon ends it. */
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):/;

function parseWithoutFragment(text: string): GoUrl {
  if (hasControlCharacter(text)) throw new UrlError("net/url: invalid control character in URL");
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = SCHEME.exec(text)?.[1] ?? "";
  const afterScheme = scheme === "" ? text : text.slice(scheme.length + 1);
  const question = afterScheme.indexOf("?");
  const query = question < 0 ? "" : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const parts = { scheme: scheme.toLowerCase(), host: "", query, fragment: "" };
  if (!rest.startsWith("/")) {
    // "mailto:someone" has no path.
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

function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f]/.test(text);
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

/** Characters allowed in userinfo without escaping. */
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

/** "[::1]:443", or "[fe80::1%25eth0]" with a zone. */
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

/** A percent sign without two hexadecimal digits after it. */
const WRONG_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/** In a host only non-ASCII characters and the percent sign itself may be escaped, and some ASCII characters are not allowed unescaped. */
const WRONG_IN_HOST = /%(?!25|[89a-fA-F][0-9a-fA-F])|[^-A-Za-z0-9_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/;

function unescapeText(text: string, where: "host" | "text"): string {
  const wrong = (where === "host" ? WRONG_IN_HOST : WRONG_ESCAPE).exec(text);
  if (wrong?.[0] === "%") throw new UrlError(`invalid URL escape ${quoteGo(text.slice(wrong.index, wrong.index + 3))}`);
  if (wrong !== null) throw new UrlError(`invalid character ${quoteGo(wrong[0])} in host name`);
  const bytes = new TextEncoder().encode(text);
  return new TextDecoder().decode(text.includes("%") ? unescapeBytes(bytes) : bytes);
}

const PERCENT = 37;

/** In place: the output is never longer than the input. */
function unescapeBytes(bytes: Uint8Array): Uint8Array {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === PERCENT;
    bytes[length++] = isEscape ? Number.parseInt(String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0), 16) : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

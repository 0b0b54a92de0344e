/**
 * Decodes headers about users. The HTTP layer passes header bytes as one character each; upstream and all clients that send such headers
 * use UTF-8. Keys of extra fields are percent-encoded in header names.
 */
import type { ExchangeRequest } from "../framework/exchange.ts";

// oxlint-disable-next-line no-control-regex -- All of ASCII, whatever it means.
const ASCII = /^[\x00-\x7f]*$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns each header of this name. */
export function headerTexts(request: ExchangeRequest, name: string): readonly string[] {
  return request.headerValues(name).map(headerText);
}

/** Returns the first header of this name; "" if none exists. */
export function firstHeaderText(request: ExchangeRequest, name: string): string {
  const [first] = request.headerValues(name);
  return first === undefined ? "" : headerText(first);
}

/** Invalid UTF-8 is kept as it is: two distinct names must never become equal. */
function headerText(value: string): string {
  if (ASCII.test(value)) return value;
  try {
    return utf8.decode(Uint8Array.from(value, (character) => character.charCodeAt(0)));
  } catch {
    return value;
  }
}

/** Returns the headers with this name prefix, keyed by the rest of the name. */
export function extraHeaders(request: ExchangeRequest, prefix: string): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const name of request.headerNames()) {
    if (!name.startsWith(prefix)) continue;
    const key = decodeKey(name.slice(prefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...headerTexts(request, name)]);
  }
  return extra;
}

/** Undecodable text is taken literally. */
function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

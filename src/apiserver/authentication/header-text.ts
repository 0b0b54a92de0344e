/**
 * What headers say about users, as text. HTTP knows only bytes, which the HTTP room hands on as one character each; upstream, and
 * everybody who writes such headers, means UTF-8. Keys of extra fields stand in header names, percent-encoded.
 */
import type { ExchangeRequest } from "../framework/exchange.ts";

// oxlint-disable-next-line no-control-regex -- All of ASCII, whatever it means.
const ASCII = /^[\x00-\x7f]*$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Each header of this name. */
export function headerTexts(request: ExchangeRequest, name: string): readonly string[] {
  return request.headerValues(name).map(headerText);
}

/** The first header of this name; "" if there is none. */
export function firstHeaderText(request: ExchangeRequest, name: string): string {
  const [first] = request.headerValues(name);
  return first === undefined ? "" : headerText(first);
}

/** What is no UTF-8 stays as it is: two names that differ must never become one. */
function headerText(value: string): string {
  if (ASCII.test(value)) return value;
  try {
    return utf8.decode(Uint8Array.from(value, (character) => character.charCodeAt(0)));
  } catch {
    return value;
  }
}

/** The headers whose names begin with this, by what follows in the name. */
export function extraHeaders(request: ExchangeRequest, prefix: string): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const name of request.headerNames()) {
    if (!name.startsWith(prefix)) continue;
    const key = decodeKey(name.slice(prefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...headerTexts(request, name)]);
  }
  return extra;
}

/** What cannot be decoded is meant as it is written. */
function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

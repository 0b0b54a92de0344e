/**
 * The user of a forwarded request, in the headers that other API servers read from a front proxy (X-Remote-User and others). What a client
 * sent under these names is never forwarded.
 */
import type { RemoteHeaders } from "../framework/apis/aggregation.ts";
import type { User } from "../framework/request.ts";

const EXTRA_PREFIX = "x-remote-extra-";

export function identityHeaders({ name, uid = "", groups, extra = {} }: User): RemoteHeaders {
  return {
    "x-remote-user": headerText(name),
    ...(uid === "" ? {} : { "x-remote-uid": headerText(uid) }),
    ...(groups.length === 0 ? {} : { "x-remote-group": groups.map(headerText) }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`${EXTRA_PREFIX}${escapedKey(key)}`, values.map(headerText)])),
  };
}

/** Sent as UTF-8: each byte is one character of the header. Control characters cannot be in a header; they become spaces. */
function headerText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte < 0x20 || byte === 0x7f ? 0x20 : byte)).join("");
}

/** Characters of a header name (RFC 9110, 5.1), without the percent sign. */
const TOKEN = /^[!#$&'*+.^_`|~0-9A-Za-z-]$/;

function escapedKey(key: string): string {
  return Array.from(new TextEncoder().encode(key), (byte) => {
    const character = String.fromCharCode(byte);
    return TOKEN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

/**
 * The preset compression dictionary of SPDY/3 headers (section 2.6.10.1 of its draft): header names, each after its length, and a tail of
 * frequent values.
 */
import { Buffer } from "node:buffer";

const NAMES = (
  "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization " +
  "cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range " +
  "content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified " +
  "location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding " +
  "upgrade user-agent vary via warning www-authenticate method get status"
).split(" ");

/** With spaces in them, or after one that has. */
const LATER_NAMES = ["200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin"];

const TAIL =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505" +
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found" +
  "500 Internal Server Error501 Not Implemented503 Service Unavailable" +
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT" +
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,public" +
  "privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

export const SPDY_DICTIONARY: Uint8Array = Buffer.concat([
  ...[...NAMES, ...LATER_NAMES].flatMap((name) => [uint32(name.length), Buffer.from(name, "latin1")]),
  Buffer.from(TAIL, "latin1"),
]);

/** Its Adler-32, by which a zlib stream identifies it. */
export const SPDY_DICTIONARY_ID = 0xe3c6a7c2;

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { GZIP_BYTES_MIN, isToBeCompressed, withVary } from "./compression.ts";

interface Case {
  readonly why: string;
  readonly compressed: boolean;
  readonly method?: string;
  readonly accept?: string;
  readonly sizes?: readonly number[];
  readonly loopback?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code?: number;
}

describe("a response is compressed if the client accepts it and the body is large enough", () => {
  const cases: readonly Case[] = [
    { why: "large body for a remote client that accepts gzip", compressed: true },
    { why: "gzip is one of several", accept: "deflate, gzip , br", compressed: true },
    { why: "large only together", sizes: [GZIP_BYTES_MIN - 1, 1], compressed: true },
    { why: "just not large", sizes: [GZIP_BYTES_MIN - 1], compressed: false },
    { why: "gzip is not listed", accept: "deflate", compressed: false },
    { why: "upstream does not read weights", accept: "gzip;q=1", compressed: false },
    { why: "no Accept-Encoding", accept: "", compressed: false },
    { why: "the client is on this machine", loopback: true, compressed: false },
    { why: "not a GET", method: "POST", compressed: false },
    { why: "an error", code: 500, compressed: false },
    { why: "compressed already", headers: { "content-encoding": "br" }, compressed: false },
  ];
  for (const {
    why,
    compressed,
    method = "GET",
    accept = "gzip",
    sizes = [GZIP_BYTES_MIN],
    loopback = false,
    headers = {},
    code = 200,
  } of cases) {
    test(why, () => {
      const header = (name: string) => (name === "accept-encoding" ? accept : undefined);
      const request = { method, header, peer: { address: "10.0.0.1", isLoopback: loopback } };
      equal(isToBeCompressed(request, { code, headers, body: sizes.map((size) => new Uint8Array(size)) }), compressed);
    });
  }
});

test("a compressible response has Vary: Accept-Encoding in addition to other Vary values", () => {
  deepEqual(withVary({ a: "b" }), { a: "b", vary: ["Accept-Encoding"] });
  deepEqual(withVary({ vary: "Accept" }), { vary: ["Accept", "Accept-Encoding"] });
});

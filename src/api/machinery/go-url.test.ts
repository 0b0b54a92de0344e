import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseGoUrl, UrlError, type GoUrl } from "./go-url.ts";

const NONE: GoUrl = { scheme: "", host: "", query: "", fragment: "" };

const GOOD: readonly [url: string, parts: Partial<GoUrl>][] = [
  ["", {}],
  ["*", {}],
  ["a/b:c", {}],
  ["//x/y", { host: "x" }],
  ["///x", {}],
  ["mailto:a@b?c", { scheme: "mailto", query: "c" }],
  ["HTTPS://X:443/a?b?c#d%20e", { scheme: "https", host: "X:443", query: "b?c", fragment: "d e" }],
  ["https://x?", { scheme: "https", host: "x" }],
  ["https://x#", { scheme: "https", host: "x" }],
  ["https://a:b!@c@[::1]:", { scheme: "https", user: "a:b%21%40c", host: "[::1]:" }],
  ["https://[fe80::1%25en0]", { scheme: "https", host: "[fe80::1%en0]" }],
  ["https://%e4%b8%ad.de/", { scheme: "https", host: "中.de" }],
  ["x://a:1:2", { scheme: "x", host: "a:1:2" }],
  ["1a", {}],
];

for (const [url, parts] of GOOD) {
  test(`${JSON.stringify(url)} is a valid URL`, () => {
    assert.deepEqual(parseGoUrl(url), { ...NONE, ...parts });
  });
}

const BAD: readonly [url: string, message: string][] = [
  [":x", 'parse ":x": missing protocol scheme'],
  ["1a:b", 'parse "1a:b": first path segment in URL cannot contain colon'],
  ["https://x\n", 'parse "https://x\\n": net/url: invalid control character in URL'],
  ["https://x:a", 'parse "https://x:a": invalid port ":a" after host'],
  ["https://x:1:2", 'parse "https://x:1:2": invalid port ":1:2" after host'],
  ["https://x y", 'parse "https://x y": invalid character " " in host name'],
  ["https://a[b", 'parse "https://a[b": invalid IP-literal'],
  ["https://[::1", "parse \"https://[::1\": missing ']' in host"],
  ["https://[1.2.3.4]", 'parse "https://[1.2.3.4]": invalid IP-literal'],
  ["https://[z]", 'parse "https://[z]": invalid host: ParseAddr("z"): unable to parse IP'],
  ["https://u^@x", 'parse "https://u^@x": net/url: invalid userinfo'],
  ["https://a%41", 'parse "https://a%41": invalid URL escape "%41"'],
  ["https://a/%z", 'parse "https://a/%z": invalid URL escape "%z"'],
  ["https://a#%zz", 'parse "https://a#%zz": invalid URL escape "%zz"'],
];

for (const [url, message] of BAD) {
  test(`${JSON.stringify(url)} is rejected: ${message}`, () => {
    assert.throws(() => parseGoUrl(url), { name: "UrlError", message });
  });
}

test("parsing any text either returns a URL or throws an error with a message", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      try {
        parseGoUrl(text);
      } catch (error) {
        assert.ok(error instanceof UrlError);
      }
    }),
  );
});

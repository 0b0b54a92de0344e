import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ExchangeRequest } from "../../framework/exchange.ts";
import { encodePath, forwardedAnswer, forwardedHeaders } from "./forwarding.ts";
import { tidyPath } from "./tidy-path.ts";
import type { ConnectionTarget } from "../../framework/node-connector.ts";

const paths: readonly [path: string, tidy: string][] = [
  ["", ""],
  ["/", "/"],
  ["/a", "/a"],
  ["/a/", "/a/"],
  ["/a//b", "/a/b"],
  ["//", "/"],
  ["/a/./b/../c", "/a/c"],
  ["/../../etc", "/etc"],
  ["/a/..", "/"],
];

for (const [path, tidy] of paths) {
  test(`the proxy forwards the path "${path}" as "${tidy}"`, () => {
    equal(tidyPath(path), tidy);
  });
}

test("the proxy encodes a path so that no character changes its meaning", () => {
  equal(encodePath("/a b/ü?x#y/(c)*!'[d]/$&+,:;=@-_.~%"), "/a%20b/%C3%BC%3Fx%23y/%28c%29%2A%21%27%5Bd%5D/$&+,:;=@-_.~%25");
});

function requestWith(headers: Readonly<Record<string, string>>, path = "/api/v1/namespaces/x/pods/y/proxy/a"): ExchangeRequest {
  return {
    method: "GET",
    path,
    query: "",
    header: (name) => headers[name],
    headerValues: () => [],
    headerNames: () => Object.keys(headers),
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    cancel: () => {},
    peer: { address: "192.0.2.1", isLoopback: false },
  };
}

test("the proxy forwards request headers except hop-by-hop and identity headers", () => {
  const request = requestWith({
    accept: "text/html",
    authorization: "Bearer secret",
    connection: "keep-alive, X-Own",
    "content-length": "3",
    cookie: "a=b",
    host: "api.example",
    "x-remote-user": "jane",
    "x-remote-extra-a": "b",
    "impersonate-user": "root",
    "impersonate-extra-scopes": "all",
    "keep-alive": "1",
    "sec-websocket-key": "k",
    te: "trailers",
    "transfer-encoding": "chunked",
    upgrade: "websocket",
    "x-forwarded-for": "198.51.100.1",
    "x-own": "dropped",
  });

  deepEqual(forwardedHeaders(request, "/api/v1/namespaces/x/pods/y/proxy/a"), {
    accept: "text/html",
    cookie: "a=b",
    "x-forwarded-for": "198.51.100.1, 192.0.2.1",
    "x-forwarded-uri": "/api/v1/namespaces/x/pods/y/proxy/a",
  });
});

const PREFIX = "/api/v1/namespaces/x/pods/y/proxy";
const target: ConnectionTarget = { is: "server", scheme: "http", host: "10.0.0.1", port: 8080 };

function answered(headers: Readonly<Record<string, string>>): Readonly<Record<string, string | readonly string[]>> {
  const request = requestWith({ host: "api.example" });
  const answer = forwardedAnswer({ code: 200, headers, body: [] }, { request, target, prefix: PREFIX });
  return "headers" in answer ? answer.headers : {};
}

test("the proxy forwards response headers except hop-by-hop and CORS headers", () => {
  deepEqual(
    answered({
      "access-control-allow-origin": "*",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "5",
      connection: "close",
      "content-length": "3",
      "content-type": "text/html",
      "transfer-encoding": "chunked",
    }),
    { "access-control-max-age": "5", "content-type": "text/html" },
  );
});

const locations: readonly [location: string, shown: string][] = [
  ["/login?next=%2F", `${PREFIX}/login?next=%2F`],
  ["http://10.0.0.1:8080/login", `${PREFIX}/login`],
  ["https://api.example/login", `https://api.example${PREFIX}/login`],
  ["/a//b/../c/?d#e", `${PREFIX}/a/c/?d#e`],
  ["/%zz", "/%zz"],
  [`${PREFIX}/login`, `${PREFIX}/login`],
  ["login", "login"],
  ["https://elsewhere.example/login", "https://elsewhere.example/login"],
  ["//elsewhere.example/login", "//elsewhere.example/login"],
  ["mailto:jane", "mailto:jane"],
];

for (const [location, shown] of locations) {
  test(`the proxy rewrites a redirect to "${location}" as "${shown}"`, () => {
    deepEqual(answered({ location }), { location: shown });
  });
}

test("the proxy recognizes redirects to another port and to IPv6 hosts", () => {
  const six: ConnectionTarget = { is: "kubelet", node: { name: "n", host: "2001:db8::1", port: 10_250 } };
  const of = (location: string) => {
    const answer = forwardedAnswer(
      { code: 302, headers: { location }, body: [] },
      { request: requestWith({}), target: six, prefix: PREFIX },
    );
    return "headers" in answer ? answer.headers["location"] : "";
  };
  deepEqual([of("https://[2001:db8::1]:10250/x"), of("https://[2001:db8::1]:1/x")], [`${PREFIX}/x`, "https://[2001:db8::1]:1/x"]);
});

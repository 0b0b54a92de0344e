import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { ProxyForward, ProxyRequest } from "../../host/http/proxy/contract.ts";
import { DEFAULT_SETTINGS } from "../compute/annotations.ts";
import type { Route, RouteSettings, RoutingTable } from "../model.ts";
import { EMPTY_TABLE, IngressHandler } from "./ingress-handler.ts";
import { matchRoute, resolvedPath, rewrittenPath } from "./match.ts";

const BACKEND = { is: "service", key: "default/web/", namespace: "default", service: "web", portName: "", addressType: "IPv4" } as const;

function scene(settings: Partial<RouteSettings> = {}, more: Partial<Route> = {}) {
  const clock = new VirtualClock({ macrotask: () => Promise.resolve() });
  const handler = new IngressHandler({ clock, httpsPort: () => 8443, onFinished: () => {} });
  const route: Route = {
    ingress: "default/web",
    path: "/api",
    backend: BACKEND,
    settings: { ...DEFAULT_SETTINGS, ...settings },
    redirectsToTls: false,
    ...more,
  };
  const prefixes = new Map([["/api", route]]);
  const hosts = new Map([["a.example", { exact: new Map<string, Route>(), prefixes, prefixElementsMax: 1, fallback: undefined }]]);
  handler.useTable({ ...EMPTY_TABLE, hosts, backends: new Map([[BACKEND.key, BACKEND]]) });
  const endpoints = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => ({ address, port: 80 }));
  handler.useEndpoints(BACKEND.key, endpoints);
  const decide = (path: string, request: Partial<ProxyRequest> = {}) =>
    handler.decide({
      method: "GET",
      host: "a.example",
      path,
      query: "",
      isTls: false,
      version: "1.1",
      peerAddress: "192.0.2.1",
      header: () => undefined,
      ...request,
    });
  return { clock, handler, endpoints, decide };
}

function forwarded(decision: unknown): ProxyForward {
  const { is } = decision as ProxyForward;
  equal(is, "forward");
  return decision as ProxyForward;
}

const status = (decision: ReturnType<IngressHandler["decide"]>) => (decision.is === "reply" ? decision.status : decision.target);

test("requests take the endpoints in turn, and a retry takes another one", () => {
  const { decide } = scene();
  const chosen = Array.from({ length: 6 }, () => forwarded(decide("/api")).next()?.address);
  deepEqual(new Set(chosen.slice(0, 3)), new Set(["10.0.0.1", "10.0.0.2", "10.0.0.3"]));
  deepEqual(chosen.slice(3), chosen.slice(0, 3));
  const one = forwarded(decide("/api"));
  equal(new Set([one.next(), one.next(), one.next()]).size, 3);
  equal(one.next(), undefined);
});

test("an endpoint that keeps failing is ejected for a while, unless it is the only one left", async () => {
  const { decide, clock, handler } = scene();
  const fail = (address: string) => {
    const forward = forwarded(decide("/api"));
    for (let endpoint = forward.next(); endpoint !== undefined; endpoint = forward.next())
      if (endpoint.address === address) forward.failed(endpoint);
  };
  const chosen = () => new Set(Array.from({ length: 12 }, () => forwarded(decide("/api")).next()?.address));
  fail("10.0.0.1");
  ok(chosen().has("10.0.0.1"));
  fail("10.0.0.1");
  deepEqual(chosen(), new Set(["10.0.0.2", "10.0.0.3"]));
  handler.useEndpoints(BACKEND.key, [
    { address: "10.0.0.1", port: 80 },
    { address: "10.0.0.2", port: 80 },
  ]);
  deepEqual(chosen(), new Set(["10.0.0.2"]));
  for (const _ of [1, 2]) fail("10.0.0.2");
  equal(chosen().size, 2);
  await clock.advance(10_000);
  equal(chosen().size, 2);
});

test("endpoints that left are returned, so that their connections can be closed", () => {
  const { handler, endpoints } = scene();
  deepEqual(
    handler.useEndpoints(BACKEND.key, endpoints.slice(1)).map(({ address }) => address),
    ["10.0.0.1"],
  );
  deepEqual(
    handler.useTable(EMPTY_TABLE).map(({ address }) => address),
    ["10.0.0.2", "10.0.0.3"],
  );
});

test("a sticky cookie keeps the client on its endpoint as long as that exists", () => {
  const { decide, handler } = scene({ stickyCookie: "route" });
  const first = forwarded(decide("/api", { isTls: true }));
  const endpoint = first.next();
  ok(endpoint !== undefined);
  const [, cookie = ""] = first.answerHeaders(endpoint);
  const [, id] = /^route=([0-9a-f]{16}); Path=\/; HttpOnly; SameSite=Lax; Secure$/.exec(cookie) ?? [];
  const again = () => forwarded(decide("/api", { header: (name) => (name === "cookie" ? `x=y; route=${id}` : undefined) }));
  for (let round = 0; round < 5; round++) {
    const forward = again();
    equal(forward.next(), endpoint);
    deepEqual(forward.answerHeaders(endpoint), []);
  }
  const retried = again();
  equal(retried.next(), endpoint);
  notEqual(retried.next(), endpoint);
  handler.useEndpoints(BACKEND.key, [{ address: "10.0.0.9", port: 80 }]);
  const moved = again();
  const other = moved.next();
  ok(other !== undefined);
  equal(other.address, "10.0.0.9");
  equal(moved.answerHeaders(other).length, 2);
});

test("clients over the rate are refused, each on its own", async () => {
  const { decide, clock } = scene({ rateLimit: { perSecond: 1, burst: 2 } });
  const from = (peerAddress: string) => status(decide("/api", { peerAddress }));
  deepEqual([from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.2")], ["/api", "/api", 429, "/api"]);
  deepEqual([from("2001:db8::1"), from("2001:db8::2"), from("2001:db8::3"), from("2001:db8:0:1::1")], ["/api", "/api", 429, "/api"]);
  await clock.advance(1_000);
  deepEqual([from("192.0.2.1"), from("192.0.2.1")], ["/api", 429]);
});

test("plain HTTP of a TLS host is redirected with path, query and the port of HTTPS", () => {
  const { decide } = scene({}, { redirectsToTls: true });
  deepEqual(decide("/api/x", { query: "?a=b" }), {
    is: "reply",
    status: 308,
    headers: ["location", "https://a.example:8443/api/x?a=b"],
    body: "",
    route: "default/web",
  });
  equal(status(decide("/api/x", { isTls: true })), "/api/x");
});

test("unknown hosts and paths get 404, routes without a Service 503", () => {
  const { decide } = scene();
  deepEqual([status(decide("/other")), status(decide("/api", { host: "b.example" }))], [404, 404]);
  equal(status(scene({}, { backend: { is: "none", reason: "x" } }).decide("/api")), 503);
});

describe("rewrite-path replaces what matched", () => {
  for (const [path, matched, by, expected] of [
    ["/api/v1", "/api", "/", "/v1"],
    ["/api", "/api", "/", "/"],
    ["/api/", "/api", "/", "/"],
    ["/api/v1", "/api", "/x", "/x/v1"],
    ["/api/v1", "/api", "/x/", "/x/v1"],
    ["/anything", "", "/x", "/x/anything"],
    ["/api/$1", "/api", "/$0", "/$0/$1"],
  ] as const) {
    test(`${path} with ${matched || "every path"} → ${by}`, () =>
      equal(rewrittenPath({ received: path, resolved: path }, matched, by), expected));
  }

  for (const [received, resolved, expected] of [
    ["/api/http://x/%61", "/api/http:/x/a", "/http://x/%61"],
    ["/api//x", "/api/x", "/x"],
    ["/%61pi/x%20y", "/api/x%20y", "/x%20y"],
    ["/api/../api/x", "/api/x", "/x"],
    ["/api/%2E./api/x", "/api/x", "/x"],
  ] as const) {
    test(`${received}: the rest stays as the client wrote it unless it had to be resolved`, () => {
      equal(resolvedPath(received), resolved);
      equal(rewrittenPath({ received, resolved }, "/api", "/"), expected);
    });
  }

  test("with the query", () => {
    const { decide } = scene({ rewritePath: "/new" });
    equal(status(decide("/api/v1", { query: "?q=/api" })), "/new/v1?q=/api");
  });
});

describe("paths are matched as servers resolve them", () => {
  for (const [path, resolved] of [
    ["/a/b", "/a/b"],
    ["/public/../api", "/api"],
    ["/public/%2E%2e/api/", "/api/"],
    ["/./api/.", "/api/"],
    ["/a/b/..", "/a/"],
    ["/..", undefined],
    ["/a/../../b", undefined],
    ["/a%2Fb", "/a%2Fb"],
    ["/a/..%2fb", undefined],
    ["/a/..\\b", undefined],
    ["/a...b/.hidden", "/a...b/.hidden"],
    ["/%61p%69", "/api"],
    ["/%7Euser/%2Dx", "/~user/-x"],
    ["/caf%c3%a9", "/caf%C3%A9"],
    ["/100%", "/100%"],
    ["/%zz/%252e%252e/b", "/%zz/%252e%252e/b"],
    ["//api", "/api"],
    ["/public//../api", undefined],
    ["//", "/"],
    ["/a//", "/a/"],
    ["/a/../", "/"],
    ["/a/%2e%2e%5Cb", undefined],
    ["/a%2f..%2fb", undefined],
    ["/.%2e/b", undefined],
    ["/a;x=..", "/a;x=.."],
  ] as const) {
    test(`${path} is ${resolved ?? "refused"}`, () => equal(resolvedPath(path), resolved));
  }

  test("a path out of its prefix reaches the route of where it leads", () => {
    equal(status(scene().decide("/public/../api")), "/public/../api");
    equal(status(scene().decide("/api/../secret")), 404);
    equal(status(scene().decide("/..%2f")), 400);
    equal(status(scene().decide("//%61pi/x")), "//%61pi/x");
  });
});

test("a long path costs no more than its route has elements", () => {
  const { handler } = scene();
  const table: RoutingTable = handler.table;
  const path = `/api${"/x".repeat(30_000)}`;
  equal(matchRoute(table, "a.example", path)?.matched, "/api");
});

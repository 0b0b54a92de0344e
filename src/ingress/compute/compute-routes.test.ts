import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Service } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { Ingress, IngressClass, IngressSpec } from "../../api/generated/networking.k8s.io/v1.ts";
import { ingressName, type RoutingTable } from "../model.ts";
import { matchRoute } from "../serve/match.ts";
import { DEFAULT_SETTINGS } from "./annotations.ts";
import { computeEndpoints } from "./backends.ts";
import { computeRoutes } from "./compute-routes.ts";

const k8ts: IngressClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "k8ts", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
  spec: { controller: "k8ts.io/ingress" },
};
const other: IngressClass = { ...k8ts, metadata: { name: "other" }, spec: { controller: "example.com/other" } };

interface IngressOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly created?: string;
  readonly namespace?: string;
}

function ingress(
  name: string,
  spec: IngressSpec,
  { annotations = {}, created = "2026-01-01T00:00:00Z", namespace = "default" }: IngressOptions = {},
): Ingress {
  const metadata = { name, namespace, uid: `uid of ${name}`, annotations, creationTimestamp: created };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec: { ingressClassName: "k8ts", ...spec } };
}

function backend(name: string, port: number | string = 80) {
  return { service: { name, port: typeof port === "number" ? { number: port } : { name: port } } };
}

type Path = readonly [pathType: "Exact" | "Prefix" | "ImplementationSpecific", path: string, service: string];

function rule(host: string, ...paths: readonly Path[]) {
  const http = { paths: paths.map(([pathType, path, name]) => ({ pathType, path, backend: backend(name) })) };
  return host === "" ? { http } : { host, http };
}

function service(name: string, more: Service["spec"] = {}): Service {
  const spec = { ports: [{ name: "http", port: 80, protocol: "TCP" as const }], ...more };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default" }, spec };
}

function tableOf(ingresses: readonly Ingress[], services: readonly Service[] = [], classes = [k8ts, other]): RoutingTable {
  const known = (namespace: string, name: string) =>
    services.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) ??
    (services.length === 0 ? service(name) : undefined);
  return computeRoutes({ ingresses, classes, service: known });
}

/** Name of the Service that a request reaches. */
function reached(table: RoutingTable, host: string, path: string): string | undefined {
  const route = matchRoute(table, host, path)?.route;
  return route?.backend.is === "service" ? route.backend.service : route?.backend.reason;
}

function problemsOf(table: RoutingTable): readonly string[] {
  return table.served.flatMap((served) =>
    served.problems.map(({ reason, message }) => `${ingressName(served.ingress)}: ${reason}: ${message}`),
  );
}

describe("path types, as upstream's documentation has them", () => {
  for (const [pathType, path, request, matches] of [
    ["Prefix", "/", "/any/path", true],
    ["Exact", "/foo", "/foo", true],
    ["Exact", "/foo", "/bar", false],
    ["Exact", "/foo", "/foo/", false],
    ["Exact", "/foo/", "/foo", false],
    ["Prefix", "/foo", "/foo", true],
    ["Prefix", "/foo", "/foo/", true],
    ["Prefix", "/foo/", "/foo", true],
    ["Prefix", "/foo/", "/foo/", true],
    ["Prefix", "/aaa/bb", "/aaa/bbb", false],
    ["Prefix", "/aaa/bbb", "/aaa/bbb", true],
    ["Prefix", "/aaa/bbb/", "/aaa/bbb", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbb/", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbb/ccc", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbbxyz", false],
    ["Prefix", "/aaa", "/AAA", false],
    ["ImplementationSpecific", "/foo", "/foo/bar", true],
    ["ImplementationSpecific", "/foo.*", "/fooo", false],
  ] as const) {
    test(`${pathType} ${path} ${matches ? "matches" : "does not match"} ${request}`, () => {
      const table = tableOf([ingress("web", { rules: [rule("a.example", [pathType, path, "web"])] })]);
      equal(reached(table, "a.example", request), matches ? "web" : undefined);
    });
  }

  test("the longest path wins, and an exact one before a prefix", () => {
    const paths: readonly Path[] = [
      ["Prefix", "/", "root"],
      ["Prefix", "/aaa", "short"],
      ["Prefix", "/aaa/bbb", "long"],
      ["Exact", "/aaa/bbb", "exact"],
    ];
    const table = tableOf([ingress("web", { rules: [rule("a.example", ...paths)] })]);
    for (const [path, name] of [
      ["/", "root"],
      ["/x", "root"],
      ["/aaa", "short"],
      ["/aaa/b", "short"],
      ["/aaa/bbb", "exact"],
      ["/aaa/bbb/", "long"],
    ] as const)
      equal(reached(table, "a.example", path), name);
  });
});

test("the exact host wins over its wildcard, which is one label, and both over rules without a host", () => {
  const rules = [
    rule("a.example", ["Prefix", "/", "exact"]),
    rule("*.example", ["Prefix", "/", "wildcard"]),
    rule("", ["Prefix", "/any", "any"]),
  ];
  const table = tableOf([ingress("web", { rules })]);
  deepEqual(
    ["a.example", "b.example", "a.b.example", "example", "c.test", ""].map((host) => reached(table, host, "/any")),
    ["exact", "wildcard", "any", "any", "any", "any"],
  );
  equal(reached(table, "c.test", "/"), undefined);
});

test("the default backend serves what no rule matches", () => {
  const own = ingress("own", { rules: [rule("a.example", ["Exact", "/a", "a"])], defaultBackend: backend("own") });
  const global = ingress("global", { defaultBackend: backend("global") });
  const table = tableOf([own, global]);
  deepEqual(
    [reached(table, "a.example", "/a"), reached(table, "a.example", "/b"), reached(table, "b.example", "/")],
    ["a", "own", "global"],
  );
  equal(reached(tableOf([own]), "b.example", "/"), "own");
});

test("the oldest Ingress wins a path; the other one gets an event and keeps the rest", () => {
  const young = ingress(
    "a-young",
    { rules: [rule("a.example", ["Prefix", "/", "young"], ["Prefix", "/more", "more"])] },
    { created: "2026-02-01T00:00:00Z" },
  );
  const old = ingress("b-old", { rules: [rule("a.example", ["Prefix", "/", "old"])] });
  const table = tableOf([young, old]);
  deepEqual([reached(table, "a.example", "/"), reached(table, "a.example", "/more")], ["old", "more"]);
  deepEqual(problemsOf(table), [
    "default/a-young: RouteConflict: The route of host a.example, path / belongs to the older Ingress default/b-old",
  ]);
});

test("only Ingresses of our classes are served", () => {
  const spec = { rules: [rule("a.example", ["Prefix", "/", "web"])] };
  const { ingressClassName: _class, ...classless } = ingress("c", spec).spec ?? {};
  const without = (annotations: Readonly<Record<string, string>> = {}): Ingress => ({
    ...ingress("c", spec, { annotations }),
    spec: classless,
  });
  const names = (one: Ingress, classes = [k8ts, other]) => tableOf([one], [], classes).served.length;
  const notDefault = { ...k8ts, metadata: { name: "k8ts" } };
  deepEqual(
    [
      names(ingress("a", spec)),
      names(ingress("b", { ...spec, ingressClassName: "other" })),
      names(ingress("b", { ...spec, ingressClassName: "missing" })),
      names(without()),
      names(without(), [notDefault]),
      names(without({ "kubernetes.io/ingress.class": "k8ts" }), [notDefault]),
      names(without({ "kubernetes.io/ingress.class": "nginx" })),
    ],
    [1, 0, 0, 1, 0, 1, 0],
  );
});

test("backends that cannot be served are answered with 503 and reported, and do not disturb others", () => {
  const paths = ["missing", "external", "web", "udp"].map((name) => ["Prefix", `/${name}`, name] as const);
  const resource = { apiGroup: "k8s.example.com", kind: "Bucket", name: "icons" };
  const rules = [
    rule("a.example", ...paths),
    {
      host: "b.example",
      http: {
        paths: [
          { pathType: "Prefix", path: "/", backend: { resource } },
          { pathType: "Prefix", path: "/p", backend: backend("web", "nope") },
        ],
      },
    },
  ] as const;
  const services = [
    service("web"),
    service("external", { type: "ExternalName", externalName: "x" }),
    service("udp", { ports: [{ port: 80, protocol: "UDP" }] }),
  ];
  const table = tableOf([ingress("bad", { rules }), ingress("good", { rules: [rule("c.example", ["Prefix", "/", "web"])] })], services);
  equal(reached(table, "a.example", "/web"), "web");
  equal(reached(table, "c.example", "/"), "web");
  equal(matchRoute(table, "a.example", "/missing")?.route.backend.is, "none");
  deepEqual(problemsOf(table), [
    "default/bad: BackendNotFound: Service default/missing does not exist",
    "default/bad: BackendUnsupported: Service default/external is of type ExternalName, which has no endpoints",
    "default/bad: BackendNotFound: Service default/udp has no TCP port 80",
    "default/bad: BackendUnsupported: backend Bucket icons: only Services are supported",
    "default/bad: BackendNotFound: Service default/web has no TCP port nope",
  ]);
});

test("certificates are of the oldest Ingress that names a host; TLS hosts are redirected unless it is switched off", () => {
  const rules = [
    rule("a.example", ["Prefix", "/", "web"]),
    rule("b.example", ["Prefix", "/", "web"]),
    rule("x.wild.example", ["Prefix", "/", "web"]),
  ];
  const tls = [
    { hosts: ["A.example"], secretName: "one" },
    { hosts: ["*.wild.example"], secretName: "two" },
  ];
  const first = ingress("first", { rules, tls });
  const second = ingress(
    "second",
    { tls: [{ hosts: ["a.example"], secretName: "stolen" }] },
    { created: "2026-02-01T00:00:00Z", namespace: "foreign" },
  );
  const table = tableOf([second, first]);
  deepEqual(
    [...table.secrets].map(([host, { namespace, name }]) => [host, namespace, name]),
    [
      ["a.example", "default", "one"],
      ["*.wild.example", "default", "two"],
    ],
  );
  deepEqual(problemsOf(table), [
    "foreign/second: RouteConflict: The certificate of host a.example belongs to the older Ingress default/first",
  ]);
  const redirects = (from: RoutingTable, host: string) => matchRoute(from, host, "/")?.route.redirectsToTls;
  deepEqual(
    ["a.example", "b.example", "x.wild.example"].map((host) => redirects(table, host)),
    [true, false, true],
  );
  const annotated = (value: string) =>
    tableOf([ingress("first", { rules, tls }, { annotations: { "ingress.k8ts.io/ssl-redirect": value } })]);
  deepEqual([redirects(annotated("false"), "a.example"), redirects(annotated("true"), "b.example")], [false, true]);
});

describe("annotations", () => {
  const settingsOf = (annotations: Readonly<Record<string, string>>, appProtocol?: string) => {
    const ports = [{ name: "http", port: 80, ...(appProtocol === undefined ? {} : { appProtocol }) }];
    const table = tableOf([ingress("web", { defaultBackend: backend("web") }, { annotations })], [service("web", { ports })]);
    return { settings: table.fallback?.settings, problems: problemsOf(table) };
  };

  for (const [name, value, expected] of [
    ["backend-protocol", "GRPC", { protocol: "h2c" }],
    ["backend-protocol", "HTTPS", { protocol: "https" }],
    ["connect-timeout", "250ms", { connectTimeoutMs: 250 }],
    ["response-timeout", "2m", { responseTimeoutMs: 120_000 }],
    ["idle-timeout", "1h", { idleTimeoutMs: 3_600_000 }],
    ["max-body-size", "8Mi", { bodyBytesMax: 8 * 1024 * 1024 }],
    ["max-body-size", "0", { bodyBytesMax: 0 }],
    ["retries", "0", { attemptsMax: 1 }],
    ["rewrite-path", "/v2", { rewritePath: "/v2" }],
    ["rate-limit", "10", { rateLimit: { perSecond: 10, burst: 50 } }],
    ["sticky-cookie", "route", { stickyCookie: "route" }],
  ] as const) {
    test(`${name}: ${value}`, () => {
      deepEqual(settingsOf({ [`ingress.k8ts.io/${name}`]: value }), { settings: { ...DEFAULT_SETTINGS, ...expected }, problems: [] });
    });
  }

  for (const [name, value, expected] of [
    ["backend-protocol", "FCGI", "HTTP or HTTPS or H2C or GRPC"],
    ["connect-timeout", "soon", 'a duration from 1ms to 24h such as "30s"'],
    ["connect-timeout", "0s", 'a duration from 1ms to 24h such as "30s"'],
    ["max-body-size", "-1", 'a size such as "8Mi", or "0" for no limit'],
    ["retries", "99", "an integer from 0 to 10"],
    ["rewrite-path", "/$1;}", undefined],
    ["rewrite-path", "v2", "a path that begins with a slash, without query"],
    ["rate-limit", "0", "an integer from 1 to 1000000"],
    ["sticky-cookie", "a=b; Domain=x", "the name of a cookie: letters, digits, _ . -"],
    ["ssl-redirect", "yes", "true or false"],
  ] as const) {
    test(`${name}: ${JSON.stringify(value)} is ${expected === undefined ? "plain text" : "reported and ignored"}`, () => {
      const { settings, problems } = settingsOf({ [`ingress.k8ts.io/${name}`]: value });
      const message = `default/web: InvalidAnnotation: Annotation ingress.k8ts.io/${name} is ignored: expected ${expected}, got ${JSON.stringify(value)}`;
      deepEqual(problems, expected === undefined ? [] : [message]);
      deepEqual(settings, expected === undefined ? { ...DEFAULT_SETTINGS, rewritePath: value } : DEFAULT_SETTINGS);
    });
  }

  test("an unknown name is reported; those of other controllers are ignored", () => {
    const { problems } = settingsOf({ "ingress.k8ts.io/snippet": "x", "nginx.ingress.kubernetes.io/server-snippet": "x" });
    equal(problems.length, 1);
  });

  test("the Service's appProtocol selects the protocol unless an annotation does", () => {
    equal(settingsOf({}, "kubernetes.io/h2c").settings?.protocol, "h2c");
    equal(settingsOf({}, "example.com/x").settings?.protocol, "http");
    equal(settingsOf({ "ingress.k8ts.io/backend-protocol": "HTTP" }, "kubernetes.io/h2c").settings?.protocol, "http");
  });
});

test("endpoints are the ready ones of the port and family; without any, those that terminate and still serve", () => {
  const slice = (endpoints: EndpointSlice["endpoints"], more: Partial<EndpointSlice> = {}): EndpointSlice => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s" },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: endpoints ?? [],
    ...more,
  });
  const at = (address: string, conditions: object = { ready: true }) => ({ addresses: [address], conditions });
  const port = { is: "service", key: "k", namespace: "default", service: "web", portName: "http", addressType: "IPv4" } as const;
  const leaving = { ready: false, serving: true, terminating: true };
  const addresses = (...slices: readonly EndpointSlice[]) =>
    computeEndpoints(port, slices).map(({ address, port: number }) => `${address}:${number}`);
  deepEqual(addresses(slice([at("10.0.0.2"), at("10.0.0.1"), at("10.0.0.3", leaving), at("10.0.0.4", { ready: false })])), [
    "10.0.0.1:8080",
    "10.0.0.2:8080",
  ]);
  deepEqual(addresses(slice([at("10.0.0.3", leaving), at("10.0.0.4", { ready: false, serving: false, terminating: true })])), [
    "10.0.0.3:8080",
  ]);
  deepEqual(
    addresses(slice([at("fd00::1")], { addressType: "IPv6" }), slice([at("10.0.0.1")], { ports: [{ name: "other", port: 1 }] })),
    [],
  );
});

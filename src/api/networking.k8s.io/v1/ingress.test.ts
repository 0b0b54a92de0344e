import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateDnsSubdomain, validatePortName, validateWildcardDnsSubdomain } from "../../machinery/names.ts";
import type { Json, JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  warningsOfNew,
  type Sent,
} from "../../testing/kind.ts";
import { ingresses } from "./ingress.ts";

const [SUBDOMAIN = ""] = validateDnsSubdomain("A");
const [LABEL = ""] = validateDnsLabel("A");
const [WILDCARD = ""] = validateWildcardDnsSubdomain("*");
const [PORT_NAME = ""] = validatePortName("Ab");
const NOT_A_NAME = "must be a DNS name, not an IP address";
const CLASS = "kubernetes.io/ingress.class";

const WEB = { service: { name: "web", port: { number: 80 } } };
const backedBy = (defaultBackend: Json): Sent => ({ spec: { defaultBackend } });
const path = (given: JsonObject): Sent => ({ spec: { rules: [{ http: { paths: [{ pathType: "Prefix", backend: WEB, ...given }] } }] } });
const withRules = (...rules: readonly Json[]): Sent => ({ spec: { rules } });
const PATH = "spec.rules[0].http.paths[0]";
const BACKEND = "spec.defaultBackend";

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a backend", backedBy(WEB), []],
  ["a rule without paths for any host", withRules({}), []],
  ["nothing in it", {}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]],
  ["an empty backend", backedBy({}), [`${BACKEND}: Invalid value: "": resource or service backend is required`]],
  [
    "a backend of both kinds",
    backedBy({ ...WEB, resource: { kind: "K", name: "n" } }),
    [`${BACKEND}: Invalid value: "": cannot set both resource and service backends`],
  ],
  ["an object as backend", backedBy({ resource: { apiGroup: "a.b", kind: "K", name: "n" } }), []],
  [
    "no object as backend",
    backedBy({ resource: {} }),
    [`${BACKEND}.resource.kind: Required value`, `${BACKEND}.resource.name: Required value`],
  ],
  [
    "an object as backend that cannot be",
    backedBy({ resource: { apiGroup: "A", kind: "a/b", name: "." } }),
    [
      `${BACKEND}.resource.apiGroup: Invalid value: "A": ${SUBDOMAIN}`,
      `${BACKEND}.resource.kind: Invalid value: "a/b": may not contain '/'`,
      `${BACKEND}.resource.name: Invalid value: ".": may not be '.'`,
    ],
  ],
  [
    "no Service as backend",
    backedBy({ service: {} }),
    [`${BACKEND}.service.name: Required value`, `${BACKEND}: Required value: port name or number is required`],
  ],
  ["a Service that begins with a digit", backedBy({ service: { name: "1a", port: { name: "http" } } }), []],
  [
    "a Service that cannot be, with two ports",
    backedBy({ service: { name: "A", port: { name: "a", number: 1 } } }),
    [`${BACKEND}.service.name: Invalid value: "A": ${LABEL}`, `${BACKEND}: Invalid value: "": cannot set both port name & port number`],
  ],
  [
    "a port's name that cannot be",
    backedBy({ service: { name: "a", port: { name: "Ab" } } }),
    [`${BACKEND}.service.port.name: Invalid value: "Ab": ${PORT_NAME}`],
  ],
  [
    "a port that cannot be",
    backedBy({ service: { name: "a", port: { number: -1 } } }),
    [`${BACKEND}.service.port.number: Invalid value: -1: must be between 1 and 65535, inclusive`],
  ],
  ["no paths", withRules({ http: {} }), ["spec.rules[0].http.paths: Required value"]],
  ["a path without a type", withRules({ http: { paths: [{}] } }), [`${PATH}.pathType: Required value: pathType must be specified`]],
  [
    "a type of path that there is not",
    path({ pathType: "x" }),
    [`${PATH}.pathType: Unsupported value: "x": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
  ],
  ["a path to nowhere", path({ path: "/", backend: {} }), [`${PATH}.backend: Invalid value: "": resource or service backend is required`]],
  [
    "a path to a Service without a port",
    path({ path: "/", backend: { service: { name: "a" } } }),
    [`${PATH}.backend: Required value: port name or number is required`],
  ],
  [
    "a path to two ports",
    path({ path: "/", backend: { service: { name: "a", port: { name: "a", number: 1 } } } }),
    [`${PATH}.backend: Invalid value: "": cannot set both port name & port number`],
  ],
  [
    "a path to backends of both kinds",
    path({ path: "/", backend: { ...WEB, resource: { kind: "K", name: "n" } } }),
    [`${PATH}.backend: Invalid value: "": cannot set both resource and service backends`],
  ],
  ["no path", path({}), [`${PATH}.path: Invalid value: "": must be an absolute path`]],
  ["a path that is not absolute", path({ path: "a", pathType: "Exact" }), [`${PATH}.path: Invalid value: "a": must be an absolute path`]],
  [
    "a path with everything that could be misread",
    path({ path: "//a/./b/../c%2f%2F" }),
    ["//", "/./", "/../", "%2f", "%2F"].map((part) => `${PATH}.path: Invalid value: "//a/./b/../c%2f%2F": must not contain '${part}'`),
  ],
  ["a path that ends above", path({ path: "/a/.." }), [`${PATH}.path: Invalid value: "/a/..": cannot end with '/..'`]],
  ["a path that ends at itself", path({ path: "/a/." }), [`${PATH}.path: Invalid value: "/a/.": cannot end with '/.'`]],
  ["a path that its controller understands", path({ path: "/a//b", pathType: "ImplementationSpecific" }), []],
  ["no path, for its controller to choose", path({ pathType: "ImplementationSpecific" }), []],
  [
    "a path for its controller that is not absolute",
    path({ path: "a", pathType: "ImplementationSpecific" }),
    [`${PATH}.path: Invalid value: "a": must be an absolute path`],
  ],
  [
    "hosts that cannot be",
    withRules({ host: "1.2.3.4" }, { host: "A" }, { host: "*" }, { host: "*.a" }),
    [
      `spec.rules[0].host: Invalid value: "1.2.3.4": ${NOT_A_NAME}`,
      `spec.rules[1].host: Invalid value: "A": ${SUBDOMAIN}`,
      `spec.rules[2].host: Invalid value: "*": ${WILDCARD}`,
    ],
  ],
  [
    "certificates for hosts that cannot be",
    { spec: { defaultBackend: WEB, tls: [{ hosts: ["a", "*.a", "*", "A"], secretName: "A" }, {}] } },
    [
      `spec.tls[0].hosts[2]: Invalid value: "*": ${WILDCARD}`,
      `spec.tls[0].hosts[3]: Invalid value: "A": ${SUBDOMAIN}`,
      `spec.tls[0].secretName: Invalid value: "A": ${SUBDOMAIN}`,
    ],
  ],
  [
    "a class that cannot be",
    { spec: { defaultBackend: WEB, ingressClassName: "A" } },
    [`spec.ingressClassName: Invalid value: "A": ${SUBDOMAIN}`],
  ],
  [
    "two classes",
    { metadata: { annotations: { [CLASS]: "a" } }, spec: { defaultBackend: WEB, ingressClassName: "b" } },
    [`annotations.${CLASS}: Invalid value: "a": must match \`ingressClassName\` when both are specified`],
  ],
  ["the same class twice", { metadata: { annotations: { [CLASS]: "a" } }, spec: { defaultBackend: WEB, ingressClassName: "a" } }, []],
];

for (const [title, sent, problems] of NEW) {
  test(`an Ingress with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(ingresses, sent), problems));
}

test("values that an older server accepted remain valid, and more may be added", () => {
  const wild = (pathType: string): Json => ({ host: "*.a", http: { paths: [{ path: "a", pathType, backend: WEB }] } });
  const old = newObject(ingresses, { spec: { tls: [{ secretName: "A" }], rules: [wild("Prefix")] } });
  const next = { spec: { tls: [{ secretName: "B" }], rules: [wild("Exact")] } };

  assert.equal(problemsOfNew(ingresses, next).length, 2);
  const good = newObject(ingresses, { spec: { tls: [{}, { secretName: "a" }], rules: [{ host: "*.a" }, { host: "a", http: {} }] } });
  assert.equal(problemsOfChange(ingresses, good, next).length, 2);
  assert.deepEqual(problemsOfChange(ingresses, old, next), []);
  assert.deepEqual(problemsOfChange(ingresses, old, path({ path: "a" })), [`${PATH}.path: Invalid value: "a": must be an absolute path`]);
});

test("a class that is set later may differ from the annotation", () => {
  const metadata = { annotations: { [CLASS]: "a" } };
  const previous = newObject(ingresses, { metadata, ...backedBy(WEB) });

  assert.deepEqual(problemsOfChange(ingresses, previous, { metadata, spec: { defaultBackend: WEB, ingressClassName: "b" } }), []);
});

test("the legacy class annotation produces a warning when it is added", () => {
  const metadata = { annotations: { [CLASS]: "a" } };
  const annotated = newObject(ingresses, { metadata, ...backedBy(WEB) });

  assert.deepEqual(warningsOfNew(ingresses, { metadata, ...backedBy(WEB) }), [
    `annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
  assert.deepEqual([...(ingresses.warnings?.(annotated, annotated) ?? [])], []);
  assert.deepEqual(warningsOfNew(ingresses, { metadata, spec: { defaultBackend: WEB, ingressClassName: "a" } }), []);
});

const balanced = (...ingress: readonly Json[]): Sent => ({ status: { loadBalancer: { ingress } } });

test("a status write of an Ingress keeps the spec, and an update keeps the status", () => {
  const previous = newObject(ingresses, { ...backedBy(WEB), ...balanced({ ip: "1.2.3.4" }) });
  assert.deepEqual(previous.status, { loadBalancer: {} });
  assert.equal(changedObject(ingresses, previous, { ...path({}), ...balanced({ ip: "1.2.3.4" }) }).status, previous.status);

  const written = changedObject(ingresses, previous, { ...path({}), ...balanced({ ip: "1.2.3.4" }) }, "status");

  assert.deepEqual(written, { ...previous, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } });
  assert.equal(ingresses.changesGeneration?.(written, previous), false);
});

test("the load balancer ingress must have valid IPs, except existing ones", () => {
  const at = "status.loadBalancer.ingress";
  const previous = { ...newObject(ingresses, backedBy(WEB)), status: { loadBalancer: { ingress: [{ ip: "01.1.1.1" }] } } };
  const next = balanced(
    { ip: "01.1.1.1" },
    { ip: "x" },
    { ip: "01.1.1.2" },
    { ip: "::ffff:1.1.1.1" },
    { hostname: "A" },
    { hostname: "1.2.3.4" },
  );

  assert.deepEqual(problemsOfChange(ingresses, previous, next, "status"), [
    `${at}[1].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
    `${at}[2].ip: Invalid value: "01.1.1.2": must not have leading 0s`,
    `${at}[3].ip: Invalid value: "::ffff:1.1.1.1": must not be an IPv4-mapped IPv6 address`,
    `${at}[4].hostname: Invalid value: "A": ${SUBDOMAIN}`,
    `${at}[5].hostname: Invalid value: "1.2.3.4": ${NOT_A_NAME}`,
  ]);
});

const HOSTS: readonly [hosts: readonly string[], cell: string][] = [
  [["", ""], "*"],
  [["a", "", "b"], "a,b"],
  [["", "a", "b", "c"], "a,b,c"],
  [["a", "b", "c", ""], "a,b,c + 1 more..."],
  [["", "a", "b", "c", "d"], "a,b,c + 2 more..."],
];

for (const [hosts, cell] of HOSTS) {
  test(`the table of Ingresses shows the hosts ${JSON.stringify(hosts)} as ${cell}`, () => {
    const ingress = newObject(ingresses, withRules(...hosts.map((host) => ({ host }))));

    assert.equal(cellsOf(ingresses, ingress).Hosts, cell);
  });
}

test("the table of Ingresses shows class, addresses and ports", () => {
  const shown = (sent: Sent): readonly unknown[] => {
    const previous = newObject(ingresses, sent);
    const { Class, Address, Ports } = cellsOf(ingresses, changedObject(ingresses, previous, sent, "status"));
    return [Class, Address, Ports];
  };

  assert.deepEqual(columnNames(ingresses), ["Name", "Class", "Hosts", "Address", "Ports", "Age"]);
  assert.deepEqual(shown(backedBy(WEB)), ["<none>", "", "80"]);
  assert.deepEqual(
    shown({
      spec: { defaultBackend: WEB, ingressClassName: "a", tls: [{}] },
      ...balanced({ hostname: "b" }, { ip: "2.2.2.2", hostname: "c" }, { hostname: "b" }, { ip: "1.1.1.1" }),
    }),
    ["a", "1.1.1.1,2.2.2.2,b", "80, 443"],
  );
});

test("a resource backend without a group is stored with a null group", () => {
  const object = { kind: "K", name: "n" };
  const ingress = newObject(ingresses, {
    spec: {
      defaultBackend: { resource: object },
      rules: [{ http: { paths: [{ pathType: "Prefix", path: "/", backend: { resource: object } }] } }],
    },
  });

  assert.deepEqual(ingress.spec?.defaultBackend?.resource, { ...object, apiGroup: null });
  assert.deepEqual(ingress.spec?.rules?.[0]?.http?.paths[0]?.backend.resource, { ...object, apiGroup: null });
  assert.equal(ingresses.served[0]?.defaults?.(ingress), ingress);
  assert.deepEqual(problemsOfChange(ingresses, ingress, { spec: { defaultBackend: { resource: object } } }), []);
});

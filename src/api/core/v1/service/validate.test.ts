import assert from "node:assert/strict";
import test from "node:test";
import type { Service, ServiceSpec } from "../../../generated/core/v1.ts";
import { problems } from "../../../testing/kind.ts";
import { validateService, validateServiceChange, validateServiceStatus } from "./validate.ts";
import { serviceWarnings } from "./warnings.ts";

/** A fully valid Service, so that each row has one error. Without defaults, which would fix some of them. */
const VALID: ServiceSpec = {
  type: "LoadBalancer",
  ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
  sessionAffinity: "None",
  externalTrafficPolicy: "Cluster",
  internalTrafficPolicy: "Cluster",
  allocateLoadBalancerNodePorts: true,
};

const CLUSTER: ServiceSpec = {
  type: "ClusterIP",
  ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
  sessionAffinity: "None",
  internalTrafficPolicy: "Cluster",
};

const service = (spec: object): Service => ({ apiVersion: "v1", kind: "Service", metadata: { name: "x", namespace: "default" }, spec });
const changed = (change: object): Service => service({ ...VALID, ...change });
const withoutField = (field: keyof ServiceSpec): Service =>
  service(Object.fromEntries(Object.entries(VALID).filter(([name]) => name !== field)));

test("a Service with all required fields is valid", () => assert.deepEqual(problems(validateService(service(VALID))), []));

const MISSING: readonly [field: keyof ServiceSpec, problem: string][] = [
  ["ports", "spec.ports: Required value"],
  ["sessionAffinity", "spec.sessionAffinity: Required value"],
  ["externalTrafficPolicy", "spec.externalTrafficPolicy: Required value"],
  ["internalTrafficPolicy", "spec.internalTrafficPolicy: Required value"],
  ["allocateLoadBalancerNodePorts", "allocateLoadBalancerNodePorts: Required value"],
];

for (const [field, problem] of MISSING) {
  test(`a Service without ${field} is rejected`, () => assert.deepEqual(problems(validateService(withoutField(field))), [problem]));
}

/** machinery covers the messages about names; here the field matters. */
const WRONG: readonly [title: string, change: object, problem: RegExp][] = [
  ["a selector", { selector: { a: "-" } }, /^spec\.selector: Invalid value: "-": a valid label/],
  ["an affinity", { sessionAffinity: "x" }, /^spec\.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"$/],
  [
    "settings of an affinity that it has not",
    { sessionAffinityConfig: {} },
    /^spec\.sessionAffinityConfig: Forbidden: must not be set when session affinity is None$/,
  ],
  [
    "no settings of its affinity",
    { sessionAffinity: "ClientIP" },
    /^spec\.sessionAffinityConfig: Required value: when session affinity type is ClientIP$/,
  ],
  [
    "half of the settings of its affinity",
    { sessionAffinity: "ClientIP", sessionAffinityConfig: {} },
    /^spec\.sessionAffinityConfig\.clientIP: Required value/,
  ],
  [
    "no timeout of its affinity",
    { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: {} } },
    /^spec\.sessionAffinityConfig\.clientIP\.timeoutSeconds: Required value/,
  ],
  ["a class", { loadBalancerClass: "a b" }, /^spec\.loadBalancerClass: Invalid value: "a b": name part must consist/],
  [
    "a port for its health check",
    { externalTrafficPolicy: "Local", healthCheckNodePort: 70_000 },
    /^spec\.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive$/,
  ],
  [
    "a port's name",
    { ports: [{ ...VALID.ports?.[0], name: "A" }] },
    /^spec\.ports\[0\]\.name: Invalid value: "A": a lowercase RFC 1123 label/,
  ],
  [
    "a port's application",
    { ports: [{ ...VALID.ports?.[0], appProtocol: "a b" }] },
    /^spec\.ports\[0\]\.appProtocol: Invalid value: "a b": name part/,
  ],
  [
    "a policy of families",
    { ipFamilyPolicy: "q" },
    /^spec\.ipFamilyPolicy: Unsupported value: "q": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"$/,
  ],
  ["an address without a list", { clusterIP: "10.0.0.1" }, /^spec\.clusterIPs: Required value$/],
  [
    "an address that is not the first",
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
    /^spec\.clusterIPs: Invalid value: \["10\.0\.0\.2"\]: first value must match `clusterIP`$/,
  ],
  ["an address", { clusterIP: "a", clusterIPs: ["a"] }, /^spec\.clusterIPs\[0\]: Invalid value: "a": must be a valid IP address/],
  [
    "a third address",
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1", "fd00::2"] },
    /^spec\.clusterIPs: Invalid value: .*: may only hold up to 2 values$/,
  ],
];

for (const [title, change, problem] of WRONG) {
  test(`a Service with an invalid ${title} is rejected with that error alone`, () => {
    const found = problems(validateService(changed(change)));

    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", problem);
  });
}

test("existing legacy values remain valid", () => {
  const old = changed({
    externalIPs: ["01.2.3.4"],
    loadBalancerSourceRanges: ["10.0.0.1/8 "],
    clusterIP: "010.0.0.1",
    clusterIPs: ["010.0.0.1"],
  });

  const { clusterIP: _address, clusterIPs: _addresses, ...rest } = old.spec ?? {};

  assert.equal(problems(validateService(old)).length, 1);
  assert.equal(problems(validateService(service(rest))).length, 2);
  assert.deepEqual(problems(validateService(old, old)), []);
});

const ONE = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] };
const TWO = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"], ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "SingleStack" };
const UNCHANGEABLE = "may not change once set";

const CHANGES: readonly [title: string, before: object, after: object, problems: readonly string[]][] = [
  [
    "none from some",
    ONE,
    {},
    [
      "spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset",
      "spec.ipFamilies[0]: Invalid value: null: primary ipFamily can not be unset",
    ],
  ],
  [
    "another first from two to one",
    TWO,
    { ...ONE, clusterIPs: ["10.0.0.2"], ipFamilies: ["IPv6"], ipFamilyPolicy: "SingleStack" },
    [
      `spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: ${UNCHANGEABLE}`,
      `spec.ipFamilies[0]: Invalid value: ["10.0.0.2"]: ${UNCHANGEABLE}`,
    ],
  ],
  [
    "another first from one to two",
    ONE,
    { clusterIPs: ["10.0.0.2", "fd00::1"], ipFamilies: ["IPv6", "IPv4"] },
    [
      `spec.clusterIPs[0]: Invalid value: ["10.0.0.2","fd00::1"]: ${UNCHANGEABLE}`,
      `spec.ipFamilies[0]: Invalid value: ["10.0.0.2","fd00::1"]: ${UNCHANGEABLE}`,
    ],
  ],
  ["the families alone", ONE, { ...ONE, ipFamilies: ["IPv6"] }, [`spec.ipFamilies[0]: Invalid value: ["IPv6"]: ${UNCHANGEABLE}`]],
  ["a second to the first", ONE, TWO, []],
  ["anything, coming from another name", { type: "ExternalName" }, ONE, []],
  [
    "the families of what has no address",
    { clusterIPs: ["None"], ipFamilies: ["IPv4"] },
    { clusterIPs: ["None"], ipFamilies: ["IPv6"] },
    [],
  ],
];

for (const [title, before, after, expected] of CHANGES) {
  test(`changing addresses by ${title} is ${expected.length === 0 ? "allowed" : "rejected"}`, () => {
    assert.deepEqual(problems(validateServiceChange(after as ServiceSpec, before as ServiceSpec)), expected);
  });
}

test("a load balancer class without a load balancer is reported twice on update", () => {
  const found = problems(validateService(service({ ...CLUSTER, loadBalancerClass: "a" }), service(CLUSTER)));

  assert.deepEqual(found, [
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ]);
});

test("errors about immutable fields precede those about values", () => {
  const found = problems(validateService(changed({ loadBalancerClass: "a/b", sessionAffinity: "x" }), service(VALID)));

  assert.deepEqual(found, [
    'spec.loadBalancerClass: Invalid value: "a/b": may not change once set',
    'spec.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"',
  ]);
});

test("invalid addresses and families are reported alone", () => {
  const wrong = { ipFamilyPolicy: "x", sessionAffinity: "x" };
  const sentence = 'spec.ipFamilyPolicy: Unsupported value: "x": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"';

  assert.deepEqual(problems(validateService(changed(wrong))), [sentence]);
  assert.deepEqual(problems(validateService(changed({ ...wrong, loadBalancerClass: "a/b" }), service(VALID))), [sentence]);
});

test("a load balancer IP requires its mode, and a hostname must be valid", () => {
  const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }, { hostname: "A" }] } };
  const found = problems(validateServiceStatus({ ...service(VALID), status }, service(VALID)));

  assert.equal(found[0], "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set");
  assert.match(found[1] ?? "", /^status\.loadBalancer\.ingress\[1\]\.hostname: Invalid value: "A": a lowercase RFC 1123 subdomain/);
});

test("every non-canonical IP and CIDR, and the deprecated annotation, produces a warning", () => {
  const odd = changed({
    clusterIP: "FD00::1",
    clusterIPs: ["FD00::1"],
    loadBalancerIP: "FD00::2",
    loadBalancerSourceRanges: ["FD00::/64"],
  });
  const annotations = { "service.kubernetes.io/topology-aware-hints": "auto" };

  const warnings = [...serviceWarnings({ ...odd, metadata: { ...odd.metadata, annotations } })];

  assert.deepEqual(
    warnings.map((warning) => warning.split(":")[0]),
    [
      "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead",
      "spec.clusterIPs[0]",
      "spec.loadBalancerIP",
      "spec.loadBalancerSourceRanges[0]",
    ],
  );
  assert.deepEqual(
    [...serviceWarnings(service({ type: "ExternalName", externalName: "a", externalIPs: ["1.2.3.4"] }))],
    ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
  );
});

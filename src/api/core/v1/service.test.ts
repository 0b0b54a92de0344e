import assert from "node:assert/strict";
import test from "node:test";
import { validateObjectMeta } from "../../machinery/metadata-validation.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import {
  cellsOf,
  columnNames,
  newObject,
  problems,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
  type Sent,
} from "../../testing/kind.ts";
import { services } from "./service.ts";

const PORTS = [{ port: 80 }];
const PORT = { protocol: "TCP", port: 80, targetPort: 80 };
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const DEFAULTS: readonly [title: string, spec: Json, expected: object][] = [
  ["a port alone", { ports: PORTS }, { ports: [PORT], type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" }],
  [
    "a name for the target and affinity",
    { ports: [{ port: 80, targetPort: "http", protocol: "UDP" }], sessionAffinity: "ClientIP" },
    {
      ports: [{ port: 80, targetPort: "http", protocol: "UDP" }],
      type: "ClusterIP",
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
      internalTrafficPolicy: "Cluster",
    },
  ],
  [
    "affinity that is not wanted",
    { ports: PORTS, sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { ports: [PORT], type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" },
  ],
  [
    "a load balancer",
    { ports: PORTS, type: "LoadBalancer" },
    {
      ports: [PORT],
      type: "LoadBalancer",
      sessionAffinity: "None",
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
      allocateLoadBalancerNodePorts: true,
    },
  ],
  [
    "an external address",
    { ports: PORTS, externalIPs: ["1.2.3.4"] },
    {
      ports: [PORT],
      type: "ClusterIP",
      externalIPs: ["1.2.3.4"],
      sessionAffinity: "None",
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
    },
  ],
  ["another name", { type: "ExternalName", externalName: "a.b" }, { type: "ExternalName", externalName: "a.b", sessionAffinity: "None" }],
];

for (const [title, spec, expected] of DEFAULTS) {
  test(`a Service with ${title} gets its defaults, idempotently`, () => {
    const service = received(services, { spec });

    assert.deepEqual(service.spec, expected);
    assert.equal(services.served[0]?.defaults?.(service), service);
  });
}

const ONLY_LOAD_BALANCER = "Forbidden: may only be used when `type` is 'LoadBalancer'";

const ROWS: readonly [title: string, spec: Json, problems: readonly string[]][] = [
  ["a port", { ports: PORTS }, []],
  ["no ports", {}, ["spec.ports: Required value"]],
  ["no ports and no address", { clusterIP: "None" }, []],
  [
    "an unknown type",
    { ports: PORTS, type: "x" },
    ['spec.type: Unsupported value: "x": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  ],
  [
    "node ports and no address",
    { ports: PORTS, type: "NodePort", clusterIP: "None" },
    ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
  ],
  ["a name outside, with a dot at its end", { type: "ExternalName", externalName: "a.b." }, []],
  ["no name outside", { type: "ExternalName" }, ["spec.externalName: Required value"]],
  [
    "a name outside and addresses",
    { type: "ExternalName", externalName: "A", clusterIP: "1.2.3.4", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    [
      "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
      "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
      "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
      `spec.externalName: Invalid value: "A": ${SUBDOMAIN}`,
    ],
  ],
  [
    "ports without names, of which two are the same",
    { ports: [{ port: 80 }, { port: 80 }] },
    [
      "spec.ports[0].name: Required value",
      "spec.ports[1].name: Required value",
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  ],
  [
    "a port that cannot be",
    { ports: [{ port: 70_000, protocol: "X", targetPort: "-" }] },
    [
      "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
      'spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'spec.ports[0].targetPort: Invalid value: "-": must contain at least one letter (a-z)',
      'spec.ports[0].targetPort: Invalid value: "-": must not begin or end with a hyphen',
    ],
  ],
  [
    "node ports that it cannot have, twice",
    {
      ports: [
        { port: 80, name: "a", nodePort: 30_000 },
        { port: 81, name: "a", nodePort: 30_000 },
      ],
    },
    [
      'spec.ports[1].name: Duplicate value: "a"',
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      "spec.ports[1].nodePort: Duplicate value: 30000",
    ],
  ],
  [
    "affinity for more than a day",
    { ports: PORTS, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
    ["spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400"],
  ],
  [
    "two addresses of one family",
    { ports: PORTS, clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.9", "10.0.0.8"], ipFamilies: ["IPv6", "IPv6", "x"] },
    [
      'spec.ipFamilies[1]: Duplicate value: "IPv6"',
      'spec.ipFamilies[2]: Unsupported value: "x": supported values: "IPv4", "IPv6"',
      'spec.clusterIPs: Invalid value: ["10.0.0.9","10.0.0.8"]: may specify no more than one IP for each IP family',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.clusterIPs[1]: Invalid value: "10.0.0.8": expected an IPv6 value as indicated by `ipFamilies[1]`',
    ],
  ],
  [
    "addresses without the first",
    { ports: PORTS, clusterIPs: ["10.0.0.9"] },
    ['spec.clusterIPs: Invalid value: ["10.0.0.9"]: must be empty when `clusterIP` is not specified'],
  ],
  [
    "no address and one more",
    { clusterIP: "None", clusterIPs: ["None", "10.0.0.8"] },
    ['spec.clusterIPs: Invalid value: ["None","10.0.0.8"]: \'None\' must be the first and only value'],
  ],
  [
    "external addresses that lead elsewhere",
    { ports: PORTS, externalIPs: ["127.0.0.1", "01.2.3.4", "0.0.0.0", "fe80::1", "ff12::1"] },
    [
      'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'spec.externalIPs[1]: Invalid value: "01.2.3.4": must not have leading 0s',
      'spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'spec.externalIPs[3]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'spec.externalIPs[4]: Invalid value: "ff12::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ],
  [
    "what only a load balancer has",
    {
      ports: PORTS,
      loadBalancerClass: "a",
      allocateLoadBalancerNodePorts: true,
      healthCheckNodePort: 3,
      loadBalancerSourceRanges: ["1.2.3.4"],
      externalTrafficPolicy: "Local",
    },
    [
      `spec.LoadBalancerSourceRanges: ${ONLY_LOAD_BALANCER}`,
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      `spec.allocateLoadBalancerNodePorts: ${ONLY_LOAD_BALANCER}`,
      `spec.loadBalancerClass: ${ONLY_LOAD_BALANCER}`,
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      "spec.healthCheckNodePort: Invalid value: 3: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  ],
  ["a load balancer whose health check will be given a port", { ports: PORTS, type: "LoadBalancer", externalTrafficPolicy: "Local" }, []],
  [
    "policies that there are not",
    { ports: PORTS, type: "NodePort", externalTrafficPolicy: "q", internalTrafficPolicy: "y", trafficDistribution: "z" },
    [
      'spec.externalTrafficPolicy: Unsupported value: "q": supported values: "Cluster", "Local"',
      'spec.internalTrafficPolicy: Unsupported value: "y": supported values: "Cluster", "Local"',
      'spec.trafficDistribution: Unsupported value: "z": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  ],
  [
    "a port to reach that there cannot be",
    { ports: [{ port: 80, targetPort: 70_000 }] },
    ["spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive"],
  ],
  [
    "sources in another spelling",
    { ports: PORTS, type: "LoadBalancer", loadBalancerSourceRanges: ["::ffff:1.2.3.0/120", "010.0.0.0/8", "10.0.0.1/8"] },
    [
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "::ffff:1.2.3.0/120": must not have an IPv4-mapped IPv6 address',
      'spec.LoadBalancerSourceRanges[1]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
      'spec.LoadBalancerSourceRanges[2]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ],
  ],
  [
    "an address of another family than it says",
    { ports: PORTS, clusterIP: "fd00::1", clusterIPs: ["fd00::1"], ipFamilies: ["IPv4"] },
    ['spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[0]`'],
  ],
  [
    "a load balancer and no address",
    { ports: PORTS, type: "LoadBalancer", clusterIP: "None" },
    ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for LoadBalancer services"],
  ],
  [
    "an address of IPv4 that is written as one of IPv6",
    { ports: PORTS, clusterIP: "::ffff:1.2.3.4", clusterIPs: ["::ffff:1.2.3.4"] },
    ['spec.clusterIPs[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address'],
  ],
  [
    "addresses outside that are none",
    { ports: PORTS, externalIPs: ["x", "::ffff:1.2.3.4", "010.0.0.1", "0.0.0.0"] },
    [
      'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.externalIPs[1]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
      'spec.externalIPs[2]: Invalid value: "010.0.0.1": must not have leading 0s',
      'spec.externalIPs[3]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    ],
  ],
  [
    "a label to select by that cannot be one",
    { ports: PORTS, selector: { "-": "a" } },
    [`spec.selector: Invalid value: "-": ${validateQualifiedName("-").join("")}`],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a Service with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(services, { spec }), problems);
  });
}

test("annotations of a Service must be consistent with each other and with its type", () => {
  const annotations = {
    "service.kubernetes.io/topology-aware-hints": "a",
    "service.kubernetes.io/topology-mode": "b",
    "service.beta.kubernetes.io/load-balancer-source-ranges": "a, 10.0.0.0/8",
  };
  const ranges = "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]";

  assert.deepEqual(problemsOfNew(services, { metadata: { annotations }, spec: { ports: PORTS } }), [
    'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "b": must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified',
    `${ranges}: ${ONLY_LOAD_BALANCER}`,
    `${ranges}: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
  ]);
});

test("source ranges in the annotation have the format of those in the spec", () => {
  const name = "service.beta.kubernetes.io/load-balancer-source-ranges";
  const annotations = { [name]: "::ffff:1.2.3.0/120,10.0.0.1/8,010.0.0.0/8" };

  assert.deepEqual(problemsOfNew(services, { metadata: { annotations }, spec: { type: "LoadBalancer", ports: PORTS } }), [
    `metadata.annotations[${name}]: Invalid value: "::ffff:1.2.3.0/120": must not have an IPv4-mapped IPv6 address`,
    `metadata.annotations[${name}]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`,
    `metadata.annotations[${name}]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
  ]);
});

test("the name of a Service is a DNS label", () => {
  assert.deepEqual(
    problems(
      errorsOf((errors) => validateObjectMeta(errors, { name: "a.b" }, { namespaced: false, validateName: services.validateName })),
      "Service",
    ),
    ['metadata.name: Invalid value: "a.b": must not contain dots'],
  );
});

const BALANCED: Sent = {
  spec: {
    type: "LoadBalancer",
    ports: [{ port: 1 }],
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1", "fd00::1"],
    ipFamilies: ["IPv4", "IPv6"],
    ipFamilyPolicy: "PreferDualStack",
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 30_001,
    loadBalancerClass: "a/b",
  },
};

const CHANGES: readonly [title: string, change: object, problems: readonly string[]][] = [
  ["nothing", {}, []],
  ["its class", { loadBalancerClass: "a/c" }, ['spec.loadBalancerClass: Invalid value: "a/c": may not change once set']],
  ["the port of its health check", { healthCheckNodePort: 30_002 }, ["spec.healthCheckNodePort: Forbidden: field is immutable"]],
  [
    "its second address",
    { clusterIPs: ["10.0.0.1", "fd00::2"] },
    ['spec.clusterIPs[1]: Invalid value: ["10.0.0.1","fd00::2"]: may not change once set'],
  ],
  [
    "its number of addresses, without saying so",
    { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
    [
      "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary clusterIP",
      "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the secondary ipFamily",
    ],
  ],
  ["its number of addresses, on purpose", { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" }, []],
];

for (const [title, change, problems] of CHANGES) {
  test(`changing ${title} of a Service is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const sent = { spec: { ...(BALANCED.spec as object), ...change } } as Sent;

    assert.deepEqual(problemsOfChange(services, newObject(services, BALANCED), sent), problems);
  });
}

test("the load balancer ingress is written to the status, and validated", () => {
  const ingress = [{ ip: "01.1.1.1", ipMode: "x" }, { hostname: "1.2.3.4", ipMode: "VIP" }, { ip: "1.2.3.4" }];
  const at = "status.loadBalancer.ingress";

  assert.deepEqual(
    problemsOfChange(
      services,
      newObject(services, BALANCED),
      { spec: BALANCED.spec ?? {}, status: { loadBalancer: { ingress } } },
      "status",
    ),
    [
      `${at}[0].ip: Invalid value: "01.1.1.1": must not have leading 0s`,
      `${at}[0].ipMode: Unsupported value: "x": supported values: "Proxy", "VIP"`,
      `${at}[1].ipMode: Forbidden: may not be specified when \`ip\` is not set`,
      `${at}[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
    ],
  );
  assert.deepEqual(
    problemsOfChange(services, newObject(services, { spec: { ports: PORTS } }), { status: { loadBalancer: { ingress } } }, "status"),
    [`${at}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`],
  );
});

test("the load balancer ingress must have valid IPs", () => {
  const ingress = [{ ip: "x" }, { ip: "::ffff:1.2.3.4" }];

  assert.deepEqual(
    problemsOfChange(
      services,
      newObject(services, BALANCED),
      { spec: BALANCED.spec ?? {}, status: { loadBalancer: { ingress } } },
      "status",
    ),
    [
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].ip: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
    ],
  );
});

test("a Service with ineffective, deprecated or non-canonical fields produces warnings", () => {
  const headless = { clusterIP: "None", loadBalancerIP: "1.2.3.4", externalIPs: ["1.2.3.4"], sessionAffinity: "ClientIP" };
  assert.deepEqual(warningsOfNew(services, { spec: headless }), [
    "spec.loadBalancerIP is ignored for headless services",
    "spec.externalIPs is ignored for headless services",
    "spec.SessionAffinity is ignored for headless services",
  ]);
  assert.deepEqual(
    warningsOfNew(services, {
      spec: { ports: PORTS, externalIPs: ["2001:DB8::1"], externalName: "x", trafficDistribution: "PreferClose" },
    }),
    [
      'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
      'spec.externalName is ignored when spec.type is not "ExternalName"',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  );
});

const CELLS: readonly [spec: Json, ingress: Json, external: string, ports: string][] = [
  [{ ports: [{ port: 80 }, { port: 81, nodePort: 30_000, protocol: "UDP" }] }, [], "<none>", "80/TCP,81:30000/UDP"],
  [{ type: "LoadBalancer" }, [], "<pending>", "<none>"],
  [
    { type: "LoadBalancer", externalIPs: ["1.1.1.1"] },
    [{ hostname: "b" }, { ip: "9.9.9.9" }, { hostname: "b" }],
    "9.9.9.9,b,1.1.1.1",
    "<none>",
  ],
  [{ type: "ExternalName", externalName: "a.b" }, [], "a.b", "<none>"],
];

for (const [spec, ingress, external, ports] of CELLS) {
  test(`the table of Services shows ${external} for ${JSON.stringify(spec)}`, () => {
    const service = { ...newObject(services, { spec }), status: { loadBalancer: { ingress: ingress as [] } } };
    const cells = cellsOf(services, service);

    assert.deepEqual([cells["External-IP"], cells["Port(s)"], cells.Selector], [external, ports, "<none>"]);
  });
}

test("Services have the columns that kubectl expects, and are selected by type and clusterIP", () => {
  const service = newObject(services, { spec: { ports: PORTS, clusterIP: "10.0.0.1", selector: { b: "c", a: "b" } } });

  assert.deepEqual(columnNames(services), ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"]);
  assert.equal(cellsOf(services, service).Selector, "a=b,b=c");
  const selected = Object.entries(services.selectableFields).map(([field, read]) => [field, read(service)]);
  assert.deepEqual(selected, [
    ["spec.clusterIP", "10.0.0.1"],
    ["spec.type", "ClusterIP"],
  ]);
});

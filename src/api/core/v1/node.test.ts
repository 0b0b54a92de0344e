import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsSubdomain } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
  type Sent,
} from "../../testing/kind.ts";
import { nodes } from "./node.ts";

const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("allocatable of a new Node defaults to its capacity", () => {
  assert.deepEqual(received(nodes, { status: { capacity: { cpu: "1" } } }).status?.allocatable, { cpu: "1" });
  assert.deepEqual(received(nodes, { status: { capacity: { cpu: "100u" } } }).status?.capacity, { cpu: "1m" });
  assert.deepEqual(received(nodes, { status: { capacity: { cpu: "100u" } } }).status?.allocatable, { cpu: "1m" });
  assert.deepEqual(received(nodes, { status: { images: [{ names: [], sizeBytes: 1 }] } }).status?.images, [{ names: null, sizeBytes: 1 }]);
  assert.deepEqual(received(nodes, { status: { capacity: { cpu: "2" }, allocatable: { cpu: "1" } } }).status?.allocatable, { cpu: "1" });
});

const RANGES: readonly [spec: Json, podCIDR: string | undefined, podCIDRs: readonly string[] | undefined][] = [
  [{}, undefined, undefined],
  [{ podCIDR: "10.1.0.0/24" }, "10.1.0.0/24", ["10.1.0.0/24"]],
  [{ podCIDRs: ["10.1.0.0/24", "fd00::/64"] }, "10.1.0.0/24", ["10.1.0.0/24", "fd00::/64"]],
  [{ podCIDR: "10.2.0.0/16", podCIDRs: ["10.1.0.0/24", "fd00::/64"] }, "10.2.0.0/16", ["10.2.0.0/16"]],
];

for (const [spec, podCIDR, podCIDRs] of RANGES) {
  test(`podCIDR and podCIDRs agree for ${JSON.stringify(spec)}`, () => {
    const node = received(nodes, { spec });

    assert.deepEqual([node.spec?.podCIDR, node.spec?.podCIDRs], [podCIDR, podCIDRs]);
    assert.equal(nodes.served[0]?.defaults?.(node), node);
  });
}

test("a new Node keeps the status of its kubelet, but not a configSource", () => {
  const { spec, status } = newObject(nodes, { spec: { configSource: {}, providerID: "p" }, status: { phase: "Running", config: {} } });

  assert.deepEqual(spec, { providerID: "p" });
  assert.deepEqual([status?.phase, status?.config], ["Running", undefined]);
});

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["nothing", {}, []],
  [
    "taints that cannot be",
    {
      spec: {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoSchedule", value: "-" },
          { key: "a", effect: "X" },
          { key: "b", effect: "" },
        ],
      },
    },
    [
      `metadata.taints[1].value: Invalid value: "-": ${LABEL_VALUE}`,
      'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"-","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
      'metadata.taints[2].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      "metadata.taints[3].effect: Required value",
    ],
  ],
  [
    "amounts that cannot be",
    { status: { capacity: { cpu: "-1", "a/b": "1500m", pods: "100m" }, allocatable: { memory: "-1" } } },
    [
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.capacity.a/b: Invalid value: "1500m": must be an integer',
      'status.capacity.pods: Invalid value: "100m": must be an integer',
      'status.allocatable.memory: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  [
    "no swap",
    { status: { nodeInfo: { swap: { capacity: 0 } } } },
    ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"],
  ],
  [
    "features out of order",
    { status: { declaredFeatures: ["B", "A", "A"] } },
    [
      'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
      'status.declaredFeatures[2]: Duplicate value: "A"',
    ],
  ],
  [
    "a feature in small letters",
    { status: { declaredFeatures: ["b"] } },
    [
      'status.declaredFeatures[0]: Invalid value: "b": invalid feature name "b": must start with an UpperCamelCase segment, with subsequent segments separated by \'/\' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes',
    ],
  ],
  [
    "two ranges of one family",
    { spec: { podCIDRs: ["10.0.0.0/8", "10.1.0.0/16"] } },
    ['spec.podCIDRs: Invalid value: ["10.0.0.0/8","10.1.0.0/16"]: may specify no more than one CIDR for each IP family'],
  ],
  [
    "a range that is none",
    { spec: { podCIDRs: ["a", "10.0.0.0/8"] } },
    [
      'spec.podCIDRs[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[0]: <nil> (invalid CIDR address: a)",
      'spec.podCIDRs: Invalid value: ["a","10.0.0.0/8"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    "annotations that make no sense",
    {
      metadata: {
        annotations: {
          "scheduler.alpha.kubernetes.io/taints": "x",
          "scheduler.alpha.kubernetes.io/preferAvoidPods":
            '{"preferAvoidPods":[{},{"podSignature":{"podController":{"controller":false}}}]}',
        },
      },
    },
    [
      "metadata.annotations: Invalid value: \"scheduler.alpha.kubernetes.io/taints\": invalid character 'x' looking for beginning of value",
      "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value",
      "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[1].PodSignature.PodController.Controller: Invalid value: false: must point to a controller",
    ],
  ],
  [
    "taints in an annotation that are none",
    {
      metadata: {
        annotations: {
          "scheduler.alpha.kubernetes.io/taints": JSON.stringify([
            { key: "a", value: "-", effect: "NoSchedule" },
            { key: "b", effect: "" },
            { key: "c", effect: "Odd" },
            { key: "d", effect: "NoSchedule" },
            { key: "d", effect: "NoSchedule" },
          ]),
        },
      },
    },
    [
      `metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].value: Invalid value: "-": ${LABEL_VALUE}`,
      "metadata.annotations.scheduler.alpha.kubernetes.io/taints[1].effect: Required value",
      'metadata.annotations.scheduler.alpha.kubernetes.io/taints[2].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'metadata.annotations.scheduler.alpha.kubernetes.io/taints[4]: Duplicate value: {"Key":"d","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  [
    "ranges of another spelling, both of IPv4",
    { spec: { podCIDRs: ["010.0.0.0/8", "::ffff:1.2.3.0/120"] } },
    [
      'spec.podCIDRs[0]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
      'spec.podCIDRs[1]: Invalid value: "::ffff:1.2.3.0/120": must not have an IPv4-mapped IPv6 address',
      'spec.podCIDRs: Invalid value: ["010.0.0.0/8","::ffff:1.2.3.0/120"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    "a range that is an address",
    { spec: { podCIDRs: ["10.0.0.1/8"] } },
    ['spec.podCIDRs[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length'],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a Node with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(nodes, sent), problems));
}

const ONCE = 'Forbidden: node updates may not change podCIDR except from "" to valid';

const CHANGES: readonly [title: string, before: Json, after: Json, problems: readonly string[]][] = [
  ["a range where there was none", {}, { podCIDR: "10.1.0.0/24", providerID: "p" }, []],
  ["another range", { podCIDR: "10.1.0.0/24" }, { podCIDR: "10.2.0.0/24" }, [`spec.podCIDRs: ${ONCE}`]],
  [
    "no range any more, and other ids",
    { podCIDR: "10.1.0.0/24", providerID: "p", externalID: "e" },
    {},
    [
      `spec.podCIDRs: ${ONCE}`,
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      "spec.externalID: Forbidden: may not be updated",
    ],
  ],
];

for (const [title, before, after, problems] of CHANGES) {
  test(`updating a Node with ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    assert.deepEqual(problemsOfChange(nodes, newObject(nodes, { spec: before }), { spec: after }), problems);
  });
}

test("an update keeps the status, and a status write keeps the spec", () => {
  const previous = newObject(nodes, { spec: { unschedulable: true } });
  const sent = { spec: {}, status: { phase: "Running", config: {} } };

  assert.equal(changedObject(nodes, previous, sent).status, previous.status);
  const reported = changedObject(nodes, previous, sent, "status");
  assert.deepEqual([reported.spec, reported.status?.phase, reported.status?.config], [{ unschedulable: true }, "Running", undefined]);
});

test("a status with duplicate addresses, or with an empty config source, is rejected", () => {
  const addresses = [
    { type: "InternalIP", address: "1.2.3.4" },
    { type: "InternalIP", address: "1.2.3.4" },
  ];
  const previous = newObject(nodes, {});
  const configured = { ...previous, status: { ...previous.status, config: {} } };

  assert.deepEqual(problemsOfChange(nodes, previous, { status: { addresses } }, "status"), [
    'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.2.3.4"}',
  ]);
  assert.deepEqual(
    problemsOfChange(nodes, configured as typeof previous, { status: { config: { active: {}, assigned: { configMap: {} } } } }, "status"),
    [
      "status.config.assigned.configMap.uid: Required value",
      "status.config.assigned.configMap.resourceVersion: Required value",
      "status.config.assigned.configMap.namespace: Required value",
      "status.config.assigned.configMap.name: Required value",
      "status.config.assigned.configMap.kubeletConfigKey: Required value",
      'status.config.active: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil',
    ],
  );
});

test("legacy annotations are validated completely", () => {
  const annotations = {
    "scheduler.alpha.kubernetes.io/taints": '[{"key":"/","effect":"NoSchedule"}]',
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "[",
  };
  const found = problemsOfNew(nodes, { metadata: { annotations } });

  assert.equal(
    found[0],
    'metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].key: Invalid value: "/": prefix part must be non-empty',
  );
  assert.equal(
    found.at(-1),
    'metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": unexpected end of JSON input',
  );
});

test("a status write is validated by the same rules, including taints and annotations", () => {
  const previous = newObject(nodes, { spec: { taints: [{ key: "a", effect: "X" }] } });
  const annotations = { "scheduler.alpha.kubernetes.io/taints": "x" };
  const status = { capacity: { cpu: "-1" }, declaredFeatures: ["A", "A"] };

  const found = problemsOfChange(nodes, previous, { metadata: { annotations }, status }, "status");

  assert.deepEqual(
    found.map((problem) => problem.split(":")[0]),
    ["metadata.annotations", "status.capacity.cpu", "status.allocatable.cpu", "status.declaredFeatures[1]", "metadata.taints[0].effect"],
  );
});

test("an existing configSource is kept and validated", () => {
  const previous = newObject(nodes, {});
  const asking = { ...previous, spec: { configSource: {} } };
  const configMap = { namespace: "A", name: "n", kubeletConfigKey: "k", uid: "u", resourceVersion: "1" };

  assert.deepEqual(problemsOfChange(nodes, asking, { spec: { configSource: {} } }), [
    'spec.configSource: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil',
  ]);
  const found = problemsOfChange(nodes, asking, { spec: { configSource: { configMap } } });
  assert.deepEqual(found.slice(0, 2), [
    "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec",
    "spec.configSource.configMap.resourceVersion: Forbidden: resourceVersion must not be set in spec",
  ]);
  assert.match(found[2] ?? "", /^spec\.configSource\.configMap\.namespace: Invalid value: "A": a lowercase RFC 1123 label/);
  assert.deepEqual([...(nodes.warnings?.(asking) ?? [])], ["spec.configSource: the feature is removed"]);
});

test("a config source names its ConfigMap with valid names, in each of its states", () => {
  const previous = newObject(nodes, {});
  const asking = { ...previous, spec: { configSource: {} } };
  const configured = { ...previous, status: { ...previous.status, config: {} } } as typeof previous;
  const configMap = { namespace: "n", name: "A_", kubeletConfigKey: ".." };
  const [subdomain = ""] = validateDnsSubdomain("A_");

  assert.deepEqual(problemsOfChange(nodes, asking, { spec: { configSource: { configMap } } }), [
    `spec.configSource.configMap.name: Invalid value: "A_": ${subdomain}`,
    "spec.configSource.configMap.kubeletConfigKey: Invalid value: \"..\": must not be '..'",
  ]);
  assert.deepEqual(problemsOfChange(nodes, configured, { status: { config: { assigned: {}, lastKnownGood: {} } } }, "status"), [
    'status.config.assigned: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil',
    'status.config.lastKnownGood: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil',
  ]);
});

test("deprecated fields and non-canonical addresses produce warnings", () => {
  assert.deepEqual(warningsOfNew(nodes, { spec: { externalID: "x", podCIDRs: ["2001:DB8::/64"] } }), [
    "spec.externalID: this field is deprecated, and is unused by Kubernetes",
    'spec.podCIDRs[0]: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")',
  ]);
});

const STATES: readonly [conditions: Json, unschedulable: boolean, shown: string][] = [
  [[], false, "Unknown"],
  [[{ type: "Ready", status: "True" }], false, "Ready"],
  [[{ type: "Ready", status: "Unknown" }], true, "NotReady,SchedulingDisabled"],
];

for (const [conditions, unschedulable, shown] of STATES) {
  test(`a Node with ${JSON.stringify(conditions)} has the status cell ${shown}`, () => {
    const node = newObject(nodes, { spec: { unschedulable }, status: { conditions } });

    assert.equal(cellsOf(nodes, node).Status, shown);
    assert.equal(nodes.selectableFields["spec.unschedulable"]?.(node), String(unschedulable));
  });
}

test("the table of Nodes shows roles, versions and addresses", () => {
  const labels = { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "", "kubernetes.io/role": "edge" };
  const nodeInfo = { kubeletVersion: "v1", kernelVersion: "6.1", architecture: "amd64" };
  const node = newObject(nodes, { metadata: { labels }, status: { nodeInfo, addresses: [{ type: "InternalIP", address: "1.2.3.4" }] } });

  assert.deepEqual(cellsOf(nodes, node), {
    Name: "x",
    Status: "Unknown",
    Roles: "edge,worker",
    Age: "<unknown>",
    Version: "v1",
    "Internal-IP": "1.2.3.4",
    "External-IP": "<none>",
    "OS-Image": "<unknown>",
    "Kernel-Version": "6.1 (amd64)",
    "Container-Runtime": "<unknown>",
  });
  assert.deepEqual(columnNames(nodes).slice(4), [
    "Version",
    "Internal-IP*",
    "External-IP*",
    "OS-Image*",
    "Kernel-Version*",
    "Container-Runtime*",
  ]);
});

import assert from "node:assert/strict";
import test from "node:test";
import { validateLabelValue, validatePortName, validateQualifiedName } from "../../machinery/names.ts";
import type { Json, JsonObject } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { networkPolicies } from "./network-policy.ts";

const [LABEL_VALUE = ""] = validateLabelValue("-");
const [QUALIFIED_NAME = ""] = validateQualifiedName("a b");
const [PORT_NAME = ""] = validatePortName("Ab");
const NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

const at = (port: JsonObject): Sent => ({ spec: { ingress: [{ ports: [port] }] } });
const from = (...peers: readonly Json[]): Sent => ({ spec: { ingress: [{ from: peers }] } });
const block = (cidr: string, ...except: readonly string[]): Json => ({ ipBlock: { cidr, except } });
const WRONG_VALUE = { matchExpressions: [{ key: "a", operator: "In", values: ["-"] }] };
const PORT = "spec.ingress[0].ports[0]";
const FROM = "spec.ingress[0].from";

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["nothing in it", {}, []],
  [
    "a selector that is wrong in all ways",
    {
      spec: {
        podSelector: {
          matchLabels: { "a b": "-" },
          matchExpressions: [
            { key: "a", operator: "In" },
            { key: "a", operator: "Exists", values: ["b"] },
            { key: "a", operator: "x" },
            { key: "a b", operator: "In", values: ["-"] },
          ],
        },
      },
    },
    [
      `spec.podSelector.matchLabels: Invalid value: "a b": ${QUALIFIED_NAME}`,
      `spec.podSelector.matchLabels: Invalid value: "-": ${LABEL_VALUE}`,
      "spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.podSelector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.podSelector.matchExpressions[2].operator: Invalid value: "x": not a valid selector operator',
      `spec.podSelector.matchExpressions[3].key: Invalid value: "a b": ${QUALIFIED_NAME}`,
      `spec.podSelector.matchExpressions[3].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
    ],
  ],
  [
    "a protocol that there is not",
    at({ protocol: "x" }),
    [`${PORT}.protocol: Unsupported value: "x": supported values: "TCP", "UDP", "SCTP"`],
  ],
  ["a port that cannot be", at({ port: 0 }), [`${PORT}.port: Invalid value: 0: must be between 1 and 65535, inclusive`]],
  ["a port's name that cannot be", at({ port: "Ab" }), [`${PORT}.port: Invalid value: "Ab": ${PORT_NAME}`]],
  ["a range of ports", at({ port: 80, endPort: 80 }), []],
  [
    "a range of ports that ends too early",
    at({ port: 80, endPort: 79 }),
    [`${PORT}.endPort: Invalid value: 80: must be greater than or equal to \`port\``],
  ],
  [
    "a range of ports that ends too late",
    at({ port: 80, endPort: 65_536 }),
    [`${PORT}.endPort: Invalid value: 65536: must be between 1 and 65535, inclusive`],
  ],
  [
    "a range that begins with a name",
    at({ port: "a", endPort: 1 }),
    [`${PORT}.endPort: Invalid value: 1: may not be specified when \`port\` is non-numeric`],
  ],
  [
    "a range that does not begin",
    at({ endPort: 1 }),
    [`${PORT}.endPort: Invalid value: 1: may not be specified when \`port\` is not specified`],
  ],
  ["Pods of namespaces", from({ podSelector: {}, namespaceSelector: {} }), []],
  ["an empty peer", from({}), [`${FROM}[0]: Required value: must specify a peer`]],
  [
    "a peer of two kinds",
    from({ podSelector: {}, ...(block("10.0.0.0/8") as JsonObject) }),
    [`${FROM}[0]: Forbidden: may not specify both ipBlock and another peer`],
  ],
  [
    "peers selected wrongly",
    from({ podSelector: WRONG_VALUE, namespaceSelector: WRONG_VALUE }),
    [
      `${FROM}[0].podSelector.matchExpressions[0].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
      `${FROM}[0].namespaceSelector.matchExpressions[0].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
    ],
  ],
  ["no range", from({ ipBlock: {} }), [`${FROM}[0].ipBlock.cidr: Required value`]],
  [
    "ranges that are none, or in a form that could be misread",
    from(block("x", "y"), block("10.0.0.1/8"), block("010.0.0.0/8"), block("::ffff:10.0.0.0/104")),
    [
      `${FROM}[0].ipBlock.cidr: Invalid value: "x": ${NOT_A_CIDR}`,
      `${FROM}[1].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`,
      `${FROM}[2].ipBlock.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
      `${FROM}[3].ipBlock.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address`,
    ],
  ],
  [
    "exceptions that are none, or not within the range",
    from(block("10.0.0.0/8", "x", "10.0.0.0/8", "11.0.0.0/16", "fd00::/16", "10.1.0.0/16")),
    [
      `${FROM}[0].ipBlock.except[0]: Invalid value: "x": ${NOT_A_CIDR}`,
      ...["10.0.0.0/8", "11.0.0.0/16", "fd00::/16"].map(
        (cidr, index) => `${FROM}[0].ipBlock.except[${index + 1}]: Invalid value: "${cidr}": must be a strict subset of \`cidr\``,
      ),
    ],
  ],
  [
    "exceptions in a form that could be misread",
    from(block("10.0.0.0/8", "10.1.2.3/16", "010.0.0.0/16", "::ffff:10.0.0.0/112")),
    [
      `${FROM}[0].ipBlock.except[0]: Invalid value: "10.1.2.3/16": must not have bits set beyond the prefix length`,
      `${FROM}[0].ipBlock.except[1]: Invalid value: "010.0.0.0/16": must not have leading 0s in IP or prefix length`,
      `${FROM}[0].ipBlock.except[2]: Invalid value: "::ffff:10.0.0.0/112": must not have an IPv4-mapped IPv6 address`,
    ],
  ],
  [
    "exceptions of a range of IPv4 that is written as one of IPv6",
    from(block("::ffff:10.0.0.0/104", "::ffff:10.1.0.0/112", "10.1.0.0/16")),
    [
      `${FROM}[0].ipBlock.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address`,
      `${FROM}[0].ipBlock.except[0]: Invalid value: "::ffff:10.1.0.0/112": must not have an IPv4-mapped IPv6 address`,
      `${FROM}[0].ipBlock.except[1]: Invalid value: "10.1.0.0/16": must be a strict subset of \`cidr\``,
    ],
  ],
  [
    "a peer of two kinds in what goes out",
    { spec: { egress: [{ to: [{ podSelector: {}, ...(block("10.0.0.0/8") as JsonObject) }] }] } },
    ["spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"],
  ],
  [
    "mistakes in what goes out",
    { spec: { egress: [{ ports: [{ port: 0 }], to: [{}] }] } },
    [
      "spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.egress[0].to[0]: Required value: must specify a peer",
    ],
  ],
  [
    "a direction that there is not",
    { spec: { policyTypes: ["Ingress", "x"] } },
    ['spec.policyTypes[1]: Unsupported value: "x": supported values: "Ingress", "Egress"'],
  ],
  [
    "three directions",
    { spec: { policyTypes: ["x", "y", "z"] } },
    ['spec.policyTypes: Invalid value: ["x","y","z"]: may not specify more than two policyTypes'],
  ],
];

for (const [title, sent, problems] of NEW) {
  test(`a NetworkPolicy with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(networkPolicies, sent), problems));
}

const TYPES: readonly [spec: JsonObject, policyTypes: readonly string[]][] = [
  [{}, ["Ingress"]],
  [{ egress: [] }, ["Ingress"]],
  [{ egress: [{}] }, ["Ingress", "Egress"]],
  [{ egress: [{}], policyTypes: ["Egress"] }, ["Egress"]],
];

for (const [spec, policyTypes] of TYPES) {
  test(`${JSON.stringify(spec)} has the policy types ${policyTypes.join(" and ")}`, () =>
    assert.deepEqual(newObject(networkPolicies, { spec }).spec?.policyTypes, policyTypes));
}

test("the default protocol of a NetworkPolicy port is TCP, in both directions", () => {
  const rules = [{ ports: [{ port: 80 }, { protocol: "UDP" }] }];
  const { ingress, egress } = newObject(networkPolicies, { spec: { ingress: rules, egress: rules } }).spec ?? {};

  const expected = [{ ports: [{ port: 80, protocol: "TCP" }, { protocol: "UDP" }] }];
  assert.deepEqual([ingress, egress], [expected, expected]);
});

test("existing CIDRs remain valid, at any position and in any spelling", () => {
  const previous = newObject(networkPolicies, { spec: { ingress: [{ from: [block("10.0.0.1/8", "010.1.0.0/16")] }] } });

  const moved = (cidr: string): Sent => ({ spec: { egress: [{ to: [block(cidr, "010.1.0.0/16")] }] } });
  assert.deepEqual(problemsOfChange(networkPolicies, previous, moved("10.0.0.1/8")), []);
  assert.equal(problemsOfChange(networkPolicies, previous, moved("10.0.0.2/8")).length, 1);
});

test("a NetworkPolicy with an invalid stored selector may keep invalid values", () => {
  const previous = newObject(networkPolicies, { spec: { podSelector: WRONG_VALUE } });

  assert.deepEqual(problemsOfChange(networkPolicies, previous, { spec: { podSelector: WRONG_VALUE } }), []);
  assert.equal(problemsOfChange(networkPolicies, newObject(networkPolicies, {}), { spec: { podSelector: WRONG_VALUE } }).length, 1);
});

test("non-canonical CIDRs produce warnings, those of ingress first", () => {
  const spec = { egress: [{ to: [block("FD00::/16", "FD00:1::/32")] }], ingress: [{ from: [{ podSelector: {} }, block("FD01::/16")] }] };

  assert.deepEqual(warningsOfNew(networkPolicies, { spec }), [
    'spec.ingress[0].from[1].ipBlock.cidr: IPv6 CIDR value "FD01::/16" should be in RFC 5952 canonical format ("fd01::/16")',
    'spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value "FD00::/16" should be in RFC 5952 canonical format ("fd00::/16")',
    'spec.egress[0].to[0].ipBlock.except[0]: IPv6 CIDR value "FD00:1::/32" should be in RFC 5952 canonical format ("fd00:1::/32")',
  ]);
});

test("the table of NetworkPolicies shows the Pod selector, and a change of the spec increments the generation", () => {
  const all = newObject(networkPolicies, {});
  const some = newObject(networkPolicies, { spec: { podSelector: { matchLabels: { a: "b" } } } });

  assert.deepEqual(columnNames(networkPolicies), ["Name", "Pod-Selector", "Age"]);
  assert.deepEqual(
    [all, some].map((policy) => cellsOf(networkPolicies, policy)["Pod-Selector"]),
    ["<none>", "a=b"],
  );
  assert.deepEqual([networkPolicies.changesGeneration?.(some, all), networkPolicies.changesGeneration?.(all, all)], [true, false]);
});

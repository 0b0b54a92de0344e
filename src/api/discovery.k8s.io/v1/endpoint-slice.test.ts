import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateDnsSubdomain, validateLabelValue, validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems,
  problemsOfChange,
  problemsOfNew,
  warningsOfNew,
  type Sent,
} from "../../testing/kind.ts";
import { endpointSlices } from "./endpoint-slice.ts";

const [SUBDOMAIN = ""] = validateDnsSubdomain("A");
const [LABEL = ""] = validateDnsLabel("A");
const [LABEL_VALUE = ""] = validateLabelValue("-");
const [QUALIFIED_NAME = ""] = validateQualifiedName("a b");
const NOT_AN_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

const V4 = { addressType: "IPv4" };
const slice = (...endpoints: readonly Json[]): Sent => ({ ...V4, endpoints });
const at = (...addresses: readonly string[]): Sent => slice({ addresses });

function many<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const zones = (count: number): readonly Json[] => many(count, (index) => ({ name: `z${index}` }));

const NEW: readonly [title: string, sent: Sent, expected: readonly string[]][] = [
  ["nothing but its kind of address", V4, []],
  ["no kind of address", {}, ["addressType: Required value"]],
  [
    "another kind of address, of which nothing is known",
    { addressType: "x", endpoints: [{ addresses: ["anything"] }] },
    ['addressType: Unsupported value: "x": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  ["an endpoint without addresses", slice({}), ["endpoints[0].addresses: Required value: must contain at least 1 address"]],
  [
    "as many of everything as there may be",
    {
      ...slice(...many(999, () => ({ addresses: ["10.0.0.1"] })), {
        addresses: many(100, (index) => `10.0.0.${index}`),
        hints: { forZones: zones(8), forNodes: zones(8) },
      }),
      ports: many(20_000, (index) => ({ name: `p${index}` })),
    },
    [],
  ],
  [
    "an endpoint with too many addresses",
    slice({ addresses: many(101, (index) => `10.0.0.${index}`) }),
    ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
  ],
  ["too many endpoints", slice(...many(1001, () => ({}))), ["endpoints: Too many: 1001: must have at most 1000 items"]],
  ["too many ports", { ...V4, ports: many(20_001, () => ({ name: "A" })) }, ["ports: Too many: 20001: must have at most 20000 items"]],
  [
    "IPv4 addresses that cannot be",
    at("x", "010.0.0.1", "::ffff:10.0.0.1", "fd00::1", "127.0.0.1", "0.0.0.0", "169.254.1.1", "224.0.0.1", "10.0.0.1"),
    [
      `endpoints[0].addresses[0]: Invalid value: "x": ${NOT_AN_IP}`,
      'endpoints[0].addresses[1]: Invalid value: "010.0.0.1": must not have leading 0s',
      'endpoints[0].addresses[2]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
      'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
      'endpoints[0].addresses[4]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[0].addresses[5]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'endpoints[0].addresses[6]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'endpoints[0].addresses[7]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ],
  [
    "IPv6 addresses that cannot be",
    { addressType: "IPv6", endpoints: [{ addresses: ["x", "FD00::1", "10.0.0.1", "::1", "fd00::2"] }] },
    [
      `endpoints[0].addresses[0]: Invalid value: "x": ${NOT_AN_IP}`,
      'endpoints[0].addresses[1]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
      'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
      'endpoints[0].addresses[3]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
  ],
  [
    "names that cannot be",
    { addressType: "FQDN", endpoints: [{ addresses: ["", "x", "A.b", "a.b", `${"a".repeat(64)}.b`] }] },
    [
      "endpoints[0].addresses[0]: Required value",
      'endpoints[0].addresses[1]: Invalid value: "x": should be a domain with at least two segments separated by dots',
      `endpoints[0].addresses[2]: Invalid value: "A.b": ${SUBDOMAIN}`,
      `endpoints[0].addresses[4]: Invalid value: "${"a".repeat(64)}": must be no more than 63 characters`,
    ],
  ],
  [
    "names of the node and the host that cannot be",
    slice({ addresses: ["10.0.0.1"], nodeName: "A", hostname: "A" }),
    [`endpoints[0].nodeName: Invalid value: "A": ${SUBDOMAIN}`, `endpoints[0].hostname: Invalid value: "A": ${LABEL}`],
  ],
  [
    "hints that are wrong, twice",
    slice({
      addresses: ["10.0.0.1"],
      hints: { forZones: [{ name: "a" }, { name: "a" }, { name: "-" }], forNodes: [{ name: "a" }, { name: "a" }, { name: "A" }] },
    }),
    [
      'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      `endpoints[0].hints.forZones[2].name: Invalid value: "-": ${LABEL_VALUE}`,
      'endpoints[0].hints.forNodes[1].name: Duplicate value: "a"',
      `endpoints[0].hints.forNodes[2].name: Invalid value: "A": ${SUBDOMAIN}`,
    ],
  ],
  [
    "too many hints of zones, after which nodes are not looked at",
    slice({ addresses: ["10.0.0.1"], hints: { forZones: zones(9), forNodes: zones(9) } }),
    ["endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"],
  ],
  [
    "too many hints of nodes",
    slice({ addresses: ["10.0.0.1"], hints: { forZones: zones(8), forNodes: [...zones(8), { name: "A" }] } }),
    ["endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items"],
  ],
  [
    "ports that are wrong",
    { ...V4, ports: [{ name: "A" }, { name: "a", protocol: "x" }, { protocol: "" }, { name: "b", appProtocol: "a b" }, {}] },
    [
      `ports[0].name: Invalid value: "A": ${LABEL}`,
      'ports[1].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"',
      'ports[2].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
      `ports[3].appProtocol: Invalid value: "a b": ${QUALIFIED_NAME}`,
      'ports[4].name: Duplicate value: ""',
    ],
  ],
];

for (const [title, sent, expected] of NEW) {
  test(`an EndpointSlice with ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(endpointSlices, sent), expected));
}

test("a stored port without a protocol is rejected", () => {
  const stored = { ...newObject(endpointSlices, V4), ports: [{ name: "a" }] };

  assert.deepEqual(problems(endpointSlices.validate?.(stored) ?? []), ["ports[0].protocol: Required value"]);
});

test('the name of a port defaults to "" and its protocol to TCP', () => {
  assert.deepEqual(newObject(endpointSlices, { ...V4, ports: [{ port: 80 }, { name: "dns", protocol: "UDP" }] }).ports, [
    { name: "", protocol: "TCP", port: 80 },
    { name: "dns", protocol: "UDP" },
  ]);
});

test("deprecatedTopology is dropped on every write", () => {
  const sent = slice({ addresses: ["10.0.0.1"], deprecatedTopology: { "kubernetes.io/hostname": "n" } });
  const written = newObject(endpointSlices, sent);

  assert.deepEqual(written.endpoints, [{ addresses: ["10.0.0.1"], conditions: {} }]);
  assert.deepEqual(changedObject(endpointSlices, written, sent).endpoints, written.endpoints);
});

test("the addressType is immutable", () => {
  const previous = newObject(endpointSlices, V4);

  assert.deepEqual(problemsOfChange(endpointSlices, previous, { addressType: "IPv6" }), [
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test("existing addresses remain valid", () => {
  const previous = newObject(endpointSlices, at("010.0.0.1"));

  assert.deepEqual(problemsOfChange(endpointSlices, previous, at("010.0.0.1")), []);
  assert.equal(problemsOfChange(endpointSlices, previous, at("010.0.0.1", "10.0.0.2")).length, 1);
});

const GENERATIONS: readonly [title: string, change: Sent, grows: boolean][] = [
  ["addresses", at("10.0.0.2"), true],
  ["ports", { ...at("10.0.0.1"), ports: [{}] }, true],
  ["labels", { ...at("10.0.0.1"), metadata: { labels: { a: "b" } } }, true],
  ["annotations", { ...at("10.0.0.1"), metadata: { annotations: { a: "b" } } }, false],
  ["nothing but an empty list", { ...at("10.0.0.1"), ports: [] }, false],
];

for (const [title, change, grows] of GENERATIONS) {
  test(`a change of ${title} ${grows ? "increments" : "keeps"} the generation of an EndpointSlice`, () => {
    const previous = newObject(endpointSlices, at("10.0.0.1"));

    assert.equal(endpointSlices.changesGeneration?.(changedObject(endpointSlices, previous, change), previous), grows);
  });
}

test("FQDN addresses produce a warning when added, and non-canonical addresses except from controllers", () => {
  const names = { addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] };
  const odd = at("10.0.0.1", "FD00::1");
  const labels = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };

  assert.deepEqual(warningsOfNew(endpointSlices, names), ["spec.addressType: FQDN endpoints are deprecated"]);
  const previous = newObject(endpointSlices, names);
  assert.deepEqual([...(endpointSlices.warnings?.(previous, previous) ?? [])], []);
  assert.deepEqual(warningsOfNew(endpointSlices, odd), [
    'endpoints[0].addresses[1]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ]);
  assert.deepEqual(warningsOfNew(endpointSlices, { ...odd, metadata: { labels } }), []);
});

const CELLS: readonly [title: string, sent: Sent, ports: string, endpoints: string][] = [
  ["nothing", V4, "<unset>", "<unset>"],
  ["one of each", { ...at("10.0.0.1"), ports: [{ port: 80 }] }, "80", "10.0.0.1"],
  [
    "many",
    {
      ...slice({ addresses: ["1.1.1.1", "1.1.1.2"] }, { addresses: ["1.1.1.3", "1.1.1.4"] }),
      ports: ["a", "b", "c", "d", "e"].map((name) => ({ name })),
    },
    "a,b,c + 2 more...",
    "1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...",
  ],
];

for (const [title, sent, ports, endpoints] of CELLS) {
  test(`the table of EndpointSlices shows ${title} of ports and addresses`, () => {
    const cells = cellsOf(endpointSlices, newObject(endpointSlices, sent));

    assert.deepEqual([cells.AddressType, cells.Ports, cells.Endpoints], ["IPv4", ports, endpoints]);
  });
}

test("EndpointSlices have the columns that kubectl expects", () =>
  assert.deepEqual(columnNames(endpointSlices), ["Name", "AddressType", "Ports", "Endpoints", "Age"]));

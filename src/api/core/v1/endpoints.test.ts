import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { endpoints } from "./endpoints.ts";

const [SUBDOMAIN = ""] = validateDnsSubdomain("A");
const [LABEL = ""] = validateDnsLabel("A");
const [QUALIFIED_NAME = ""] = validateQualifiedName("a b");
const NOT_AN_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

const ADDRESS = { ip: "10.0.0.1" };
const of = (...subsets: readonly Json[]): Sent => ({ subsets });
const addresses = (...ips: readonly string[]): Json => ips.map((ip) => ({ ip }));

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["nothing in them", {}, []],
  ["addresses without ports", of({ addresses: [ADDRESS] }), []],
  ["only addresses that are not ready", of({ notReadyAddresses: [ADDRESS], ports: [{ port: 80 }] }), []],
  [
    "ports without addresses",
    of({ ports: [{ port: 80 }] }),
    ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
  ],
  [
    "addresses that cannot be",
    of({
      addresses: addresses("x", "010.0.0.1", "::ffff:10.0.0.1", "127.0.0.1", "0.0.0.0"),
      notReadyAddresses: addresses("fe80::1", "ff02::1"),
    }),
    [
      `subsets[0].addresses[0].ip: Invalid value: "x": ${NOT_AN_IP}`,
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      'subsets[0].addresses[1].ip: Invalid value: "010.0.0.1": must not have leading 0s',
      'subsets[0].addresses[2].ip: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
      'subsets[0].addresses[3].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'subsets[0].addresses[4].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'subsets[0].notReadyAddresses[0].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'subsets[0].notReadyAddresses[1].ip: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ],
  [
    "names of the host and the node that cannot be",
    of({ addresses: [{ ...ADDRESS, hostname: "A", nodeName: "A" }] }),
    [
      `subsets[0].addresses[0].hostname: Invalid value: "A": ${LABEL}`,
      `subsets[0].addresses[0].nodeName: Invalid value: "A": ${SUBDOMAIN}`,
    ],
  ],
  [
    "ports that are wrong",
    of({ addresses: [ADDRESS], ports: [{ port: 0 }, { name: "A", port: 70_000, protocol: "x", appProtocol: "a b" }] }),
    [
      "subsets[0].ports[0].name: Required value",
      "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      `subsets[0].ports[1].name: Invalid value: "A": ${LABEL}`,
      "subsets[0].ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
      'subsets[0].ports[1].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"',
      `subsets[0].ports[1].appProtocol: Invalid value: "a b": ${QUALIFIED_NAME}`,
    ],
  ],
];

for (const [title, sent, problems] of NEW) {
  test(`Endpoints with ${title} are ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(endpoints, sent), problems));
}

test("the default protocol of an endpoint port is TCP", () => {
  const { subsets } = newObject(
    endpoints,
    of({ addresses: [ADDRESS], ports: [{ port: 80 }, { port: 81, protocol: "" }, { port: 53, protocol: "UDP" }] }),
  );

  assert.deepEqual(
    subsets?.[0]?.ports?.map(({ protocol }) => protocol),
    ["TCP", "TCP", "UDP"],
  );
});

test("existing addresses remain valid on update", () => {
  const previous = newObject(endpoints, of({ addresses: addresses("010.0.0.1") }));

  assert.deepEqual(problemsOfChange(endpoints, previous, of({ addresses: addresses("010.0.0.1") })), []);
  assert.equal(problemsOfChange(endpoints, previous, of({ addresses: addresses("010.0.0.1", "10.0.0.2") })).length, 1);
});

test("non-canonical addresses produce warnings, except from the endpoints controller", () => {
  const odd = of({ addresses: addresses("FD00::1"), notReadyAddresses: addresses("10.0.0.1", "FD00::2") });
  const labels = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };

  assert.deepEqual(warningsOfNew(endpoints, odd), [
    'subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    'subsets[0].notReadyAddresses[1].ip: IPv6 address "FD00::2" should be in RFC 5952 canonical format ("fd00::2")',
  ]);
  assert.deepEqual(warningsOfNew(endpoints, { ...odd, metadata: { labels } }), []);
});

const CELLS: readonly [sent: Sent, cell: string][] = [
  [{}, "<none>"],
  [of({ notReadyAddresses: [ADDRESS] }), ""],
  [of({ addresses: addresses("10.0.0.1", "fd00::1"), ports: [{ port: 80 }] }), "10.0.0.1:80,[fd00::1]:80"],
  [of({ addresses: addresses("10.0.0.1", "fd00::1") }), "10.0.0.1,fd00::1"],
  [
    of(
      {
        addresses: addresses("10.0.0.1", "10.0.0.2"),
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 2 },
        ],
      },
      { addresses: [ADDRESS] },
    ),
    "10.0.0.1:1,10.0.0.2:1,10.0.0.1:2 + 2 more...",
  ],
];

for (const [sent, cell] of CELLS) {
  test(`the table of Endpoints shows "${cell}" for ${JSON.stringify(sent)}`, () =>
    assert.equal(cellsOf(endpoints, newObject(endpoints, sent)).Endpoints, cell));
}

test("Endpoints have the columns that kubectl expects, and a PUT creates them", () => {
  assert.deepEqual(columnNames(endpoints), ["Name", "Endpoints", "Age"]);
  assert.equal(endpoints.createOnUpdate, true);
});

test("every use of Endpoints gets a deprecation warning", () =>
  assert.deepEqual(
    endpoints.served.map(({ deprecation }) => deprecation),
    ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
  ));

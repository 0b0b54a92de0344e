import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfChange, received } from "../../../testing/kind.ts";
import { resourceClaims } from "../resource-claim.ts";
import { NOT_A_LABEL, NOT_A_NAME, NOT_A_REQUEST, NOT_A_SUBDOMAIN, times } from "../testing/messages.ts";

const NOT_NORMAL = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
const UUID = "123e4567-e89b-12d3-a456-426614174000";

const SPEC: JsonObject = {
  devices: {
    requests: [
      { name: "r", exactly: { deviceClassName: "c" } },
      { name: "s", firstAvailable: [{ name: "a", deviceClassName: "c" }] },
    ],
  },
};
const CONSUMER = { resource: "pods", name: "p", uid: "u" };
const CONFIGURATION = { opaque: { driver: "d", parameters: {} } };

function result(members: JsonObject = {}): JsonObject {
  return { request: "r", driver: "d", pool: "p", device: "e", ...members };
}

function allocation(results: readonly JsonObject[], config: readonly JsonObject[] = []): JsonObject {
  return { devices: { results, config } };
}

function device(members: JsonObject = {}): JsonObject {
  return { driver: "d", pool: "p", device: "e", ...members };
}

interface Before {
  readonly status?: JsonObject;
  readonly metadata?: JsonObject;
}

function problemsOfStatus(status: JsonObject, { status: before = {}, metadata = {} }: Before = {}): readonly string[] {
  const previous = received(resourceClaims, { metadata, spec: SPEC, status: before });
  return problemsOfChange(resourceClaims, previous, { spec: SPEC, status }, "status");
}

const TOO_LONG = { driver: "x".repeat(64), pool: `${"x".repeat(200)}/${"y".repeat(53)}` };
const READY = { type: "Ready", status: "True", reason: "Up", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };

const ROWS: readonly [title: string, status: JsonObject, problems: readonly string[]][] = [
  ["nothing", {}, []],
  [
    "everything",
    {
      allocation: {
        ...allocation(
          [result({ shareID: UUID, bindingConditions: ["a"], bindingFailureConditions: ["b"] }), result({ request: "s/a", device: "f" })],
          [
            { source: "FromClass", ...CONFIGURATION },
            { source: "FromClaim", requests: ["r"], ...CONFIGURATION },
          ],
        ),
        nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }] },
      },
      reservedFor: [CONSUMER],
      devices: [
        device({
          shareID: UUID,
          conditions: times(8, (index) => ({ ...READY, type: `T${index}` })),
          data: { a: 1 },
          networkData: { interfaceName: "eth0", ips: ["10.0.0.1/8"] },
        }),
        device({ device: "f", data: null }),
      ],
    },
    [],
  ],
  [
    "empty or duplicate consumers",
    { allocation: {}, reservedFor: [{}, CONSUMER, CONSUMER] },
    [
      "reservedFor[0].resource: Required value",
      "reservedFor[0].name: Required value",
      "reservedFor[0].uid: Required value",
      'reservedFor[2]: Duplicate value: "u"',
    ],
  ],
  [
    "too many consumers",
    { allocation: {}, reservedFor: times(257, (index) => ({ ...CONSUMER, uid: `u${index}` })) },
    ["reservedFor: Too many: 257: must have at most 256 items"],
  ],
  [
    "consumers of what is not allocated",
    { reservedFor: [CONSUMER] },
    ["reservedFor: Forbidden: may not be specified when `allocated` is not set"],
  ],
  [
    "results that cannot be called so",
    { allocation: allocation([{}, result({ request: "x", driver: "A_", pool: "P//q", device: "a.b" }), result({ request: "a/b/c" })]) },
    [
      `allocation.devices.results[0].request: Invalid value: "": ${NOT_A_LABEL}`,
      `allocation.devices.results[0].request: Invalid value: "": ${NOT_A_REQUEST}`,
      "allocation.devices.results[0].driver: Required value",
      "allocation.devices.results[0].pool: Required value",
      `allocation.devices.results[0].device: Invalid value: "": ${NOT_A_LABEL}`,
      `allocation.devices.results[1].request: Invalid value: "x": ${NOT_A_REQUEST}`,
      `allocation.devices.results[1].driver: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `allocation.devices.results[1].pool: Invalid value: "P": ${NOT_A_SUBDOMAIN}`,
      `allocation.devices.results[1].pool: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
      'allocation.devices.results[1].device: Invalid value: "a.b": must not contain dots',
      `allocation.devices.results[2].request: Invalid value: "a/b/c": ${NOT_A_REQUEST}`,
    ],
  ],
  [
    "names that are too long",
    { allocation: allocation([result(TOO_LONG)]), devices: [device(TOO_LONG)] },
    [
      "devices[0].driver: Too long: may not be more than 63 bytes",
      "devices[0].pool: Too long: may not be more than 253 bytes",
      "allocation.devices.results[0].driver: Too long: may not be more than 63 bytes",
      "allocation.devices.results[0].pool: Too long: may not be more than 253 bytes",
    ],
  ],
  [
    "too many results and configurations",
    {
      allocation: allocation(
        times(33, () => ({})),
        times(65, () => ({})),
      ),
    },
    [
      "allocation.devices.results: Too many: 33: must have at most 32 items",
      "allocation.devices.config: Too many: 65: must have at most 64 items",
    ],
  ],
  [
    "conditions of binding that do not fit each other",
    {
      allocation: allocation([
        result({ bindingConditions: ["a", "a", "-"] }),
        result({ bindingConditions: ["a"], bindingFailureConditions: ["-"] }),
        result({ bindingFailureConditions: ["a", "a"] }),
        result({ bindingConditions: ["a"], bindingFailureConditions: ["a"] }),
        result({ bindingConditions: times(5, (index) => `c${index}`), bindingFailureConditions: times(5, (index) => `f${index}`) }),
      ]),
    },
    [
      `allocation.devices.results[0].bindingConditions[2]: Invalid value: "-": ${NOT_A_NAME}`,
      'allocation.devices.results[0].bindingConditions[1]: Duplicate value: "a"',
      "allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
      `allocation.devices.results[1].bindingFailureConditions[0]: Invalid value: "-": ${NOT_A_NAME}`,
      'allocation.devices.results[2].bindingFailureConditions[1]: Duplicate value: "a"',
      "allocation.devices.results[2].bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions",
      'allocation.devices.results[3].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
      "allocation.devices.results[4].bindingConditions: Too many: 5: must have at most 4 items",
      "allocation.devices.results[4].bindingFailureConditions: Too many: 5: must have at most 4 items",
    ],
  ],
  [
    "configurations of no source",
    {
      allocation: allocation(
        [],
        [
          {},
          { source: "Elsewhere", requests: ["X", "r", "r"], ...CONFIGURATION },
          { source: "FromClass", requests: times(33, () => "r"), opaque: {} },
        ],
      ),
    },
    [
      "allocation.devices.config[0].source: Required value",
      "allocation.devices.config[0].opaque: Required value",
      'allocation.devices.config[1].source: Unsupported value: "Elsewhere": supported values: "FromClaim", "FromClass"',
      `allocation.devices.config[1].requests[0]: Invalid value: "X": ${NOT_A_LABEL}`,
      `allocation.devices.config[1].requests[0]: Invalid value: "X": ${NOT_A_REQUEST}`,
      'allocation.devices.config[1].requests[2]: Duplicate value: "r"',
      "allocation.devices.config[2].requests: Too many: 33: must have at most 32 items",
      "allocation.devices.config[2].opaque.driver: Required value",
      "allocation.devices.config[2].opaque.parameters: Required value",
    ],
  ],
  [
    "nodes that are selected by nothing",
    { allocation: { nodeSelector: {} } },
    ["allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term"],
  ],
  [
    "reports that are wrong in everything, and there twice",
    {
      allocation: allocation([result()]),
      devices: [{}, device({ driver: "A_", pool: "B", device: "C" }), device(), device()],
    },
    [
      "devices[0].driver: Required value",
      "devices[0].pool: Required value",
      `devices[0].device: Invalid value: "": ${NOT_A_LABEL}`,
      'devices[0]: Invalid value: {"Driver":"","Pool":"","Device":"","ShareID":""}: must be an allocated device in the claim',
      `devices[1].driver: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `devices[1].pool: Invalid value: "B": ${NOT_A_SUBDOMAIN}`,
      `devices[1].device: Invalid value: "C": ${NOT_A_LABEL}`,
      'devices[1]: Invalid value: {"Driver":"A_","Pool":"B","Device":"C","ShareID":""}: must be an allocated device in the claim',
      'devices[3]: Duplicate value: {"Driver":"d","Pool":"p","Device":"e","ShareID":""}',
    ],
  ],
  [
    "reports of conditions that say nothing",
    {
      allocation: allocation([result(), result({ device: "f" })]),
      devices: [
        device({ conditions: times(9, (index) => ({ ...READY, type: `T${index}` })) }),
        device({ device: "f", conditions: [{ type: "Ready", observedGeneration: -1 }] }),
      ],
    },
    [
      "devices[0].conditions: Too many: 9: must have at most 8 items",
      'devices[1].conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
      "devices[1].conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
      "devices[1].conditions[0].lastTransitionTime: Required value",
      "devices[1].conditions[0].reason: Required value",
    ],
  ],
  [
    "reports of data that is no object, or too large",
    {
      allocation: allocation([result(), result({ device: "f" })]),
      devices: [device({ data: [] }), device({ device: "f", data: { text: "x".repeat(10_240) } })],
    },
    [
      'devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
      "devices[1].data: Too long: may not be more than 10240 bytes",
    ],
  ],
  [
    "reports of networks that cannot be",
    {
      allocation: allocation([result(), result({ device: "f" })]),
      devices: [
        device({
          networkData: {
            interfaceName: "x".repeat(257),
            hardwareAddress: "x".repeat(129),
            ips: ["10.0.0.1", "FD00::1/64", "10.0.0.1/8", "10.0.0.1/8"],
          },
        }),
        device({ device: "f", networkData: { ips: times(17, (index) => `10.0.0.${index}/8`) } }),
      ],
    },
    [
      "devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
      "devices[0].networkData.hardwareAddress: Too long: may not be more than 128 bytes",
      'devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'devices[0].networkData.ips[1]: Invalid value: "FD00::1/64": must be in canonical form ("fd00::1/64")',
      'devices[0].networkData.ips[3]: Duplicate value: "10.0.0.1/8"',
      "devices[1].networkData.ips: Too many: 17: must have at most 16 items",
    ],
  ],
];

for (const [title, status, problems] of ROWS) {
  test(`a status with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfStatus(status),
      problems.map((problem) => `status.${problem}`),
    );
  });
}

const SHARES: readonly [id: string, problem: string | undefined][] = [
  [UUID, undefined],
  [UUID.toUpperCase(), NOT_NORMAL],
  [UUID.replaceAll("-", ""), NOT_NORMAL],
  [`urn:uuid:${UUID}`, NOT_NORMAL],
  [`{${UUID}}`, NOT_NORMAL],
  ["x", "error validating uid: invalid UUID length: 1"],
  [`urn-uuid:${UUID}`, 'error validating uid: invalid urn prefix: "urn-uuid:"'],
  [`[${UUID}]`, "error validating uid: invalid bracketed UUID format"],
  [UUID.replace("-", "x"), "error validating uid: invalid UUID format"],
  [`urn:uuid:${UUID.replace("-", "x")}`, "error validating uid: invalid UUID format"],
  [`{${UUID.replace("-", "x")}}`, "error validating uid: invalid UUID format"],
  ["x".repeat(32), "error validating uid: invalid UUID format"],
];

for (const [shareID, problem] of SHARES) {
  test(`a share id "${shareID}" is ${problem === undefined ? "valid" : "rejected"}`, () => {
    const errors = problem === undefined ? [] : [`Invalid value: "${shareID}": ${problem}`];

    assert.deepEqual(problemsOfStatus({ allocation: allocation([result({ shareID })]), devices: [device({ shareID })] }), [
      ...errors.map((text) => `status.devices[0].shareID: ${text}`),
      ...errors.map((text) => `status.allocation.devices.results[0].shareID: ${text}`),
    ]);
  });
}

test("an allocation can be removed, but not changed", () => {
  const status = { allocation: allocation([result()]) };
  const other = {
    allocation: { ...allocation([result({ device: "f", adminAccess: false })]), allocationTimestamp: "2026-01-01T00:00:00Z" },
  };

  assert.deepEqual(problemsOfStatus({}, { status }), []);
  assert.deepEqual(problemsOfStatus({ ...status, reservedFor: [CONSUMER] }, { status }), []);
  assert.deepEqual(problemsOfStatus(other, { status }), [
    'status.allocation: Invalid value: {"Devices":{"Results":[{"Request":"r","Driver":"d","Pool":"p","Device":"f","AdminAccess":false,"Tolerations":null,"BindingConditions":null,"BindingFailureConditions":null,"ShareID":null,"ConsumedCapacity":null}],"Config":null},"NodeSelector":null,"AllocationTimestamp":"2026-01-01T00:00:00Z"}: field is immutable',
  ]);
});

test("a terminating ResourceClaim accepts no new consumers", () => {
  const before = { status: { allocation: {}, reservedFor: [CONSUMER] }, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };

  assert.deepEqual(problemsOfStatus({ allocation: {}, reservedFor: [CONSUMER] }, before), []);
  assert.deepEqual(problemsOfStatus({ allocation: {}, reservedFor: [CONSUMER, { ...CONSUMER, uid: "v" }] }, before), [
    "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
  ]);
});

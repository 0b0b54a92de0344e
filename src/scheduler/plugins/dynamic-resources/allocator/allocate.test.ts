import assert from "node:assert/strict";
import { test } from "node:test";
import type { AllocationResult, Device, DeviceClass, ResourceClaim, ResourceSlice } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { aNode } from "../../../framework/testing/builders.ts";
import { aClaim, aDeviceClass, aRequest, aSlice, DRIVER, selecting } from "../testing/devices.ts";
import { AllocatedDevices } from "./allocated-devices.ts";
import { ClaimAllocator } from "./allocate.ts";
import { AvailableCounters } from "./counters.ts";
import { DeviceInventory } from "./inventory.ts";
import { SearchSuspended, type SearchPosition } from "./search.ts";
import { DeviceSelectors } from "./selectors.ts";

interface Case {
  readonly slices: readonly ResourceSlice[];
  readonly claims?: readonly ResourceClaim[];
  readonly classes?: readonly DeviceClass[];
  /** Claims that are allocated. */
  readonly allocated?: readonly ResourceClaim[];
  readonly isOverdue?: () => boolean;
  readonly from?: SearchPosition;
}

function allocated({ slices, claims = [aClaim("c")], classes = [aDeviceClass()], ...more }: Case): readonly AllocationResult[] | undefined {
  const node = aNode("n1", { labels: { disk: "fast" } });
  const inventory = new DeviceInventory();
  for (const slice of slices) inventory.add(slice);
  const devices = new AllocatedDevices();
  for (const { metadata, status } of more.allocated ?? []) devices.set(metadata.uid ?? "", status?.allocation);
  let shares = 0;
  const allocator = new ClaimAllocator({
    ...{ claims, allocated: devices },
    counters: new AvailableCounters((device) => devices.isAllocated(device)),
    selectors: new DeviceSelectors(() => undefined),
    deviceClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    newShareId: () => `share-${shares++}`,
    isOverdue: more.isOverdue ?? (() => false),
  });
  return allocator.allocateOn(node, inventory.poolsOf(node), more.from);
}

/** "gpu:a" for every device, by claim; undefined if there is no solution. */
function chosen(given: Case): readonly string[] | undefined {
  return allocated(given)?.map(({ devices }) => (devices?.results ?? []).map(({ request, device }) => `${request}:${device}`).join(" "));
}

const taken = (device: string, pool = "n1"): ResourceClaim =>
  aClaim(`other-${device}`, [], { status: { allocation: { devices: { results: [{ request: "gpu", driver: DRIVER, pool, device }] } } } });
const withModel = (name: string, model: string, more: Partial<Device> = {}): Device => ({
  name,
  attributes: { model: { string: model } },
  ...more,
});
const memory = (value: string): Partial<Device> => ({ capacity: { memory: { value } } });
const numa = (name: string, node: number): Device => ({ name, attributes: { numa: { int: node } } });
const partition = (name: string, memory: string): Device => ({
  name,
  consumesCounters: [{ counterSet: "card", counters: { memory: { value: memory } } }],
});
const CARD = [
  aSlice("counters", [], { sliceCount: 2, sharedCounters: [{ name: "card", counters: { memory: { value: "40Gi" } } }] }),
  aSlice("partitions", [partition("half-0", "20Gi"), partition("half-1", "20Gi"), partition("full", "40Gi")], { sliceCount: 2 }),
];
const shared = (value: string, policy = {}): Device => ({
  name: "nic",
  allowMultipleAllocations: true,
  capacity: { bandwidth: { value, ...policy } },
});
const bandwidth = (amount: string) => aRequest({ capacity: { requests: { bandwidth: amount } } });
const BROKEN = { key: "broken", effect: "NoSchedule" } as const;

const ROWS: readonly (readonly [title: string, given: Case, expected: readonly string[] | undefined])[] = [
  ["takes the first device", { slices: [aSlice("s", ["a", "b"])] }, ["gpu:a"]],
  ["skips a device in use", { slices: [aSlice("s", ["a", "b"])], allocated: [taken("a")] }, ["gpu:b"]],
  ["finds nothing if all are in use", { slices: [aSlice("s", ["a"])], allocated: [taken("a")] }, undefined],
  ["finds nothing on a node without slices", { slices: [aSlice("s", ["a"], { nodeName: "n2" })] }, undefined],
  ["uses devices of all nodes", { slices: [aSlice("s", ["a"], { allNodes: true, pool: "net" })] }, ["gpu:a"]],
  [
    "uses devices that select the node by label",
    {
      slices: [
        aSlice("s", ["a"], {
          pool: "net",
          nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In", values: ["fast"] }] }] },
        }),
      ],
    },
    ["gpu:a"],
  ],
  [
    "honours node selection per device",
    {
      slices: [
        aSlice(
          "s",
          [
            { name: "a", nodeName: "n2" },
            { name: "b", nodeName: "n1" },
          ],
          { pool: "net", perDeviceNodeSelection: true },
        ),
      ],
    },
    ["gpu:b"],
  ],
  ["ignores slices of an older generation", { slices: [aSlice("s", ["a"]), aSlice("t", ["b"], { generation: 2 })] }, ["gpu:b"]],
  ["does not use an incomplete pool", { slices: [aSlice("s", ["a"], { sliceCount: 2 })] }, undefined],
  [
    "uses another pool than the incomplete one",
    { slices: [aSlice("s", ["a"], { sliceCount: 2 }), aSlice("t", ["b"], { pool: "z" })] },
    ["gpu:b"],
  ],
  [
    "orders pools and slices by name",
    { slices: [aSlice("z", ["c"], { sliceCount: 2 }), aSlice("y", ["b"], { sliceCount: 2 }), aSlice("x", ["a"], { pool: "o" })] },
    ["gpu:b"],
  ],
  [
    "uses pools with binding conditions last",
    {
      slices: [
        aSlice("s", [{ name: "a", bindingConditions: ["ready"], bindingFailureConditions: ["failed"] }]),
        aSlice("t", ["b"], { pool: "z" }),
      ],
    },
    ["gpu:b"],
  ],
  [
    "selects by the class and by the request",
    {
      slices: [
        aSlice("s", [
          withModel("a", "small", memory("80Gi")),
          withModel("b", "large", memory("20Gi")),
          withModel("c", "large", memory("80Gi")),
        ]),
      ],
      classes: [aDeviceClass("gpu", selecting(`device.driver == "${DRIVER}" && device.attributes["${DRIVER}"].model == "large"`))],
      claims: [aClaim("c", [aRequest(selecting(`device.capacity["${DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0`))])],
    },
    ["gpu:c"],
  ],
  [
    "selects by attributes that only some devices have",
    {
      slices: [aSlice("s", ["a", withModel("b", "large")])],
      claims: [
        aClaim("c", [aRequest(selecting(`has(device.attributes["${DRIVER}"].model) && !("other.example.com" in device.attributes)`))]),
      ],
    },
    ["gpu:b"],
  ],
  [
    "takes several devices of a request",
    { slices: [aSlice("s", ["a", "b", "c"])], claims: [aClaim("c", [aRequest({ count: 2 })])] },
    ["gpu:a gpu:b"],
  ],
  ["never uses a device for two claims", { slices: [aSlice("s", ["a", "b"])], claims: [aClaim("c"), aClaim("d")] }, ["gpu:a", "gpu:b"]],
  ["finds nothing if one of two claims gets nothing", { slices: [aSlice("s", ["a"])], claims: [aClaim("c"), aClaim("d")] }, undefined],
  [
    "tries another device for an earlier request",
    {
      slices: [aSlice("s", [withModel("a", "large"), withModel("b", "small")])],
      claims: [aClaim("c", [aRequest({}, "any"), aRequest(selecting(`device.attributes["${DRIVER}"].model == "large"`), "large")])],
    },
    ["any:b large:a"],
  ],
  [
    "takes all devices",
    { slices: [aSlice("s", ["a", "b"])], claims: [aClaim("c", [aRequest({ allocationMode: "All" })])] },
    ["gpu:a gpu:b"],
  ],
  [
    "finds nothing if one of all devices is in use",
    { slices: [aSlice("s", ["a", "b"])], claims: [aClaim("c", [aRequest({ allocationMode: "All" })])], allocated: [taken("b")] },
    undefined,
  ],
  ["finds nothing if all devices are none", { slices: [], claims: [aClaim("c", [aRequest({ allocationMode: "All" })])] }, undefined],
  [
    "gives admin access to a device in use, once per claim",
    {
      slices: [aSlice("s", ["a"])],
      claims: [aClaim("c", [aRequest({ adminAccess: true })]), aClaim("d", [aRequest({ adminAccess: true })])],
      allocated: [taken("a")],
    },
    ["gpu:a", "gpu:a"],
  ],
  [
    "matches an attribute across devices",
    {
      slices: [aSlice("s", [numa("a", 0), numa("b", 1), numa("c", 1)])],
      claims: [aClaim("c", [aRequest({ count: 2 })], { constraints: [{ matchAttribute: `${DRIVER}/numa` }] })],
    },
    ["gpu:b gpu:c"],
  ],
  [
    "applies a constraint to the named requests only",
    {
      slices: [aSlice("s", [numa("a", 0), numa("b", 1), numa("c", 1)])],
      claims: [
        aClaim("c", [aRequest({}, "x"), aRequest({}, "y"), aRequest({}, "z")], {
          constraints: [{ matchAttribute: `${DRIVER}/numa`, requests: ["y", "z"] }],
        }),
      ],
    },
    ["x:a y:b z:c"],
  ],
  [
    "distinguishes devices by an attribute, also three of one request",
    {
      slices: [aSlice("s", [numa("a", 0), numa("b", 1), numa("c", 0), numa("d", 2)])],
      claims: [aClaim("c", [aRequest({ count: 3 })], { constraints: [{ distinctAttribute: `${DRIVER}/numa` }] })],
    },
    ["gpu:a gpu:b gpu:d"],
  ],
  ["skips a tainted device", { slices: [aSlice("s", [{ name: "a", taints: [BROKEN] }, "b"])] }, ["gpu:b"]],
  [
    "uses a tainted device that is tolerated",
    {
      slices: [aSlice("s", [{ name: "a", taints: [BROKEN] }, "b"])],
      claims: [aClaim("c", [aRequest({ tolerations: [{ key: "broken", operator: "Exists" }] })])],
    },
    ["gpu:a"],
  ],
  [
    "uses a device whose taint has no effect",
    { slices: [aSlice("s", [{ name: "a", taints: [{ key: "note", effect: "None" }] }])] },
    ["gpu:a"],
  ],
  [
    "takes the first alternative that is available",
    {
      slices: [aSlice("s", [withModel("a", "small")])],
      claims: [
        aClaim("c", [
          {
            name: "gpu",
            firstAvailable: [
              { name: "large", deviceClassName: "gpu", count: 1, ...selecting(`device.attributes["${DRIVER}"].model == "large"`) },
              { name: "small", deviceClassName: "gpu", count: 1 },
            ],
          },
        ]),
      ],
    },
    ["gpu/small:a"],
  ],
  [
    "skips an alternative that exceeds the number of devices of a claim",
    {
      slices: [
        aSlice(
          "s",
          Array.from({ length: 40 }, (_, index) => `d${index}`),
        ),
      ],
      claims: [
        aClaim("c", [
          {
            name: "gpu",
            firstAvailable: [
              { name: "many", deviceClassName: "gpu", count: 33 },
              { name: "one", deviceClassName: "gpu", count: 1 },
            ],
          },
        ]),
      ],
    },
    ["gpu/one:d0"],
  ],
  ["partitions a device", { slices: CARD, claims: [aClaim("c"), aClaim("d")] }, ["gpu:half-0", "gpu:half-1"]],
  ["does not partition more than there is", { slices: CARD, claims: [aClaim("c"), aClaim("d"), aClaim("e")] }, undefined],
  ["counts what allocated partitions consume", { slices: CARD, allocated: [taken("full")] }, undefined],
  ["uses what allocated partitions leave", { slices: CARD, allocated: [taken("half-0")] }, ["gpu:half-1"]],
  [
    "shares a device by capacity",
    { slices: [aSlice("s", [shared("10Gi")])], claims: [aClaim("c", [bandwidth("4Gi")]), aClaim("d", [bandwidth("6Gi")])] },
    ["gpu:nic", "gpu:nic"],
  ],
  [
    "does not share more than there is",
    { slices: [aSlice("s", [shared("10Gi")])], claims: [aClaim("c", [bandwidth("4Gi")]), aClaim("d", [bandwidth("7Gi")])] },
    undefined,
  ],
  ["skips a device without the requested capacity", { slices: [aSlice("s", ["a"])], claims: [aClaim("c", [bandwidth("1")])] }, undefined],
];

for (const [title, given, expected] of ROWS) {
  test(`the allocator ${title}`, () => assert.deepEqual(chosen(given), expected));
}

test("the allocator reports claim and class in its errors, in upstream's words", () => {
  const failing = (given: Case): string => {
    try {
      return `allocated ${JSON.stringify(chosen(given))}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const slices = [aSlice("s", ["a"])];
  const all = [aClaim("c", [aRequest({ allocationMode: "All" })])];

  assert.deepEqual(
    [
      { slices, classes: [] },
      { slices, claims: [aClaim("c", [aRequest({ count: 33 })])] },
      { slices: [aSlice("s", ["a"], { sliceCount: 2 })], claims: all },
      { slices: [aSlice("s", ["a", "a"])], claims: all },
      { slices: [aSlice("s", ["a", "a"])] },
      { slices, claims: [aClaim("c", [aRequest(selecting("device.attributes['gpu.example.com'].model == 'x'"))])] },
      { slices, claims: [aClaim("c", [aRequest({ allocationMode: "All" })], { constraints: [{ matchAttribute: "a.b/c" }] })] },
    ].map(failing),
    [
      'claim default/c, request gpu: could not retrieve device class gpu: deviceclass.resource.k8s.io "gpu" not found',
      "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
      "claim default/c, request gpu: asks for all devices, but resource pool gpu.example.com/n1 is currently being updated",
      "claim default/c, request gpu: asks for all devices, but resource pool gpu.example.com/n1 is currently invalid",
      "invalid resource pools were encountered",
      "claim default/c: selector #0: CEL runtime error: no such key: model",
      "claim default/c, request gpu: cannot add device gpu.example.com/n1/a because a claim constraint would not be satisfied",
    ],
  );
});

test("an allocation names devices, configuration of class and claim, and the node", () => {
  const opaque = (from: string) => ({ opaque: { driver: DRIVER, parameters: { from } } });
  const result = allocated({
    slices: [aSlice("s", [{ name: "a", bindingConditions: ["ready"], bindingFailureConditions: ["failed"] }])],
    classes: [aDeviceClass("gpu", { config: [opaque("class")] })],
    claims: [aClaim("c", [aRequest()], { config: [opaque("claim"), { ...opaque("request"), requests: ["gpu"] }] })],
  });

  assert.deepEqual(result, [
    {
      devices: {
        results: [
          { request: "gpu", driver: DRIVER, pool: "n1", device: "a", bindingConditions: ["ready"], bindingFailureConditions: ["failed"] },
        ],
        config: [
          { source: "FromClass", requests: ["gpu"], ...opaque("class") },
          { source: "FromClaim", ...opaque("claim") },
          { source: "FromClaim", requests: ["gpu"], ...opaque("request") },
        ],
      },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }] },
    },
  ]);
});

test("a share of a device has an identifier and the capacity that the policy of the device rounds up", () => {
  const policy = { requestPolicy: { default: "1Gi", validRange: { min: "1Gi", step: "1Gi" } } };
  const [result] =
    allocated({
      slices: [aSlice("s", [shared("10Gi", policy)], { allNodes: true, pool: "net" })],
      claims: [aClaim("c", [bandwidth("1500Mi")])],
    }) ?? [];

  assert.deepEqual(result, {
    devices: {
      results: [{ request: "gpu", driver: DRIVER, pool: "net", device: "nic", shareID: "share-0", consumedCapacity: { bandwidth: "2Gi" } }],
    },
  });
});

/** Suspended as often as it can be. */
function resumed(given: Case): { readonly devices: readonly string[] | undefined; readonly searches: number } {
  let from: SearchPosition = [];
  for (let searches = 1; ; searches++) {
    try {
      return { devices: chosen({ ...given, isOverdue: () => true, from }), searches };
    } catch (error) {
      if (!(error instanceof SearchSuspended)) throw error;
      from = error.position;
    }
  }
}

test("a search that is suspended and resumed finds what an uninterrupted one finds", () => {
  const devices = Array.from({ length: 15 }, (_, index) => numa(`d${index}`, index % 3));
  const slices = [aSlice("s", devices.slice(0, 8), { sliceCount: 2 }), aSlice("t", devices.slice(8), { sliceCount: 2 })];
  const sameNuma = { constraints: [{ requests: ["more"], matchAttribute: `${DRIVER}/numa` }] };
  const few = [aSlice("s", devices.slice(0, 12))];
  const impossible = { slices: few, claims: [aClaim("c", [aRequest({ count: 4 }), aRequest({ count: 9 }, "more")])] };
  const possible = { slices, claims: [aClaim("c", [aRequest({ count: 8 }), aRequest({ count: 5 }, "more")], sameNuma)] };

  for (const given of [impossible, possible]) {
    const { devices: found, searches } = resumed(given);

    assert.deepEqual(found, chosen(given));
    assert.ok(searches > 1, `${searches} searches`);
  }
  assert.notEqual(chosen(possible), undefined);
});

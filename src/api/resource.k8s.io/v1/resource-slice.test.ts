import assert from "node:assert/strict";
import test from "node:test";
import type { ResourceSlice } from "../../generated/resource.k8s.io/v1.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, received, warningsOfNew } from "../../testing/kind.ts";
import { resourceSlices } from "./resource-slice.ts";

const SPEC: JsonObject = { driver: "d", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, nodeName: "n" };
/** The time of writes in these tests. */
const NOW = "1970-01-01T00:00:00Z";

function sliceOf(...devices: readonly JsonObject[]): ResourceSlice {
  return newObject(resourceSlices, { spec: { ...SPEC, devices } });
}

test("a device taint gets a timestamp, unless it has one", () => {
  const taints = [
    { key: "a", effect: "None" },
    { key: "b", effect: "None", timeAdded: "2026-01-01T00:00:00Z" },
  ];
  const dated = [{ ...taints[0], timeAdded: NOW }, taints[1]];
  const previous = sliceOf({ name: "a" });

  const next = changedObject(resourceSlices, previous, { spec: { ...SPEC, devices: [{ name: "a", taints }] } });

  assert.deepEqual(sliceOf({ name: "a", taints }).spec.devices?.[0]?.taints, dated);
  assert.deepEqual(next.spec.devices?.[0]?.taints, dated);
});

test("disabled fields are dropped: list attributes, and node allocatable resources of a device", () => {
  const attributes = { a: { ints: [1], strings: ["x"], string: "s" }, b: { bools: [true], versions: ["1.0.0"] }, c: { int: 1 } };
  const slice = sliceOf({ name: "a", attributes, nodeAllocatableResourceMappings: { cpu: { capacityKey: "x" } } });

  assert.deepEqual(slice.spec.devices, [{ name: "a", attributes: { a: { string: "s" }, b: {}, c: { int: 1 } } }]);
});

test("a ResourceSlice with nothing to prepare stays identical", () => {
  const slice = received(resourceSlices, { spec: { ...SPEC, devices: [{ name: "a", attributes: { a: { int: 1 } } }] } });

  assert.equal(resourceSlices.prepareForCreate?.(slice, { user: { name: "x", groups: [] }, nowMs: 0 }), slice);
});

test("only a change of the spec increments the generation of a ResourceSlice", () => {
  const previous = sliceOf();
  const labelled = changedObject(resourceSlices, previous, { metadata: { labels: { a: "b" } }, spec: SPEC });
  const grown = changedObject(resourceSlices, previous, { spec: { ...SPEC, devices: [{ name: "a" }] } });

  assert.deepEqual(
    [labelled, grown].map((next) => resourceSlices.changesGeneration?.(next, previous)),
    [false, true],
  );
});

test("a driver name with capital letters produces a warning", () => {
  assert.deepEqual(warningsOfNew(resourceSlices, { spec: SPEC }), []);
  assert.deepEqual(warningsOfNew(resourceSlices, { spec: { ...SPEC, driver: "D.Example" } }), [
    'spec.driver: driver names should be lowercase; "D.Example" contains uppercase characters',
  ]);
});

test("ResourceSlices are selected by node and by driver", () => {
  const { nodeName: _, ...anywhere } = SPEC;
  const slices = [sliceOf(), newObject(resourceSlices, { spec: { ...anywhere, allNodes: true } })];
  const read = (field: string): readonly (string | undefined)[] => slices.map((slice) => resourceSlices.selectableFields[field]?.(slice));

  assert.deepEqual(read("spec.nodeName"), ["n", ""]);
  assert.deepEqual(read("spec.driver"), ["d", "d"]);
});

test("the table of ResourceSlices shows node, driver and pool", () => {
  assert.deepEqual(columnNames(resourceSlices), ["Name", "Node", "Driver", "Pool", "Age"]);
  assert.deepEqual(Object.values(cellsOf(resourceSlices, sliceOf())), ["x", "n", "d", "p", "<unknown>"]);
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { nameColumn, textColumn } from "./columns.ts";
import { describeFieldError, type FieldError } from "./field-error.ts";
import type { KubeObject } from "./object.ts";
import { readIncludeObject, tableOf, tableRow } from "./table.ts";

interface Pod extends KubeObject {
  readonly phase: string;
}

const resource = {
  columns: [nameColumn, textColumn("Phase", "Where it stands.", ({ phase }: Pod) => phase, { priority: 1 })],
  rowConditions: ({ phase }: Pod) =>
    phase === "Done" ? [{ type: "Completed", status: "True", reason: "Done", message: "It is done." }] : [],
};
const nowMs = 0;

function pod(name: string, phase = "Running", annotations?: Record<string, string>): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, resourceVersion: "7", ...(annotations && { annotations }) }, phase };
}

test("a list becomes a Table with the metadata of its objects", () => {
  deepEqual(
    tableOf([pod("a"), pod("b", "Done")], { resource, nowMs, list: { resourceVersion: "9", continue: "x", remainingItemCount: 3 } }),
    {
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: "9", continue: "x", remainingItemCount: 3 },
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", description: nameColumn.description, priority: 0 },
        { name: "Phase", type: "string", format: "", description: "Where it stands.", priority: 1 },
      ],
      rows: [
        {
          cells: ["a", "Running"],
          object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a", resourceVersion: "7" } },
        },
        {
          cells: ["b", "Done"],
          conditions: [{ type: "Completed", status: "True", reason: "Done", message: "It is done." }],
          object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "b", resourceVersion: "7" } },
        },
      ],
    },
  );
});

test("a Table of one object has its resourceVersion", () => {
  deepEqual(tableOf([pod("a")], { resource, nowMs }).metadata, { resourceVersion: "7" });
  deepEqual(tableOf([], { resource, nowMs, list: {} }).rows, []);
});

test("a Table without headers has null columnDefinitions", () => {
  equal(tableOf([pod("a")], { resource, nowMs, hasHeaders: false }).columnDefinitions, null);
});

test("a row carries the object, its metadata or nothing, as includeObject demands", () => {
  equal(tableRow(pod("a"), { resource, nowMs, includeObject: "None" }).object, null);
  deepEqual(tableRow(pod("a"), { resource, nowMs, includeObject: "Object" }).object, pod("a"));
  equal(
    tableRow(pod("a"), { resource, nowMs, includeObject: "Object", present: (shown) => ({ ...shown, apiVersion: "v2" }) }).object
      ?.apiVersion,
    "v2",
  );
  equal(tableRow(pod("a"), { resource, nowMs, metaVersion: "v1beta1" }).object?.apiVersion, "meta.k8s.io/v1beta1");
});

test("the initial-events-end bookmark keeps its metadata for every includeObject", () => {
  const bookmark = pod("", "", { "k8s.io/initial-events-end": "true" });
  equal(tableRow(bookmark, { resource, nowMs, includeObject: "None" }).object?.kind, "PartialObjectMetadata");
});

test("includeObject must be None, Metadata or Object", () => {
  deepEqual([undefined, "", "Metadata", "None", "Object"].map(readIncludeObject), ["Metadata", "Metadata", "Metadata", "None", "Object"]);
  equal(
    describeFieldError(readIncludeObject("All") as FieldError),
    `includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
  );
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import {
  ageColumn,
  containerCells,
  createdAtColumn,
  formatFirst,
  formatLabels,
  formatList,
  nameColumn,
  orNone,
  textColumn,
} from "./columns.ts";
import type { KubeObject } from "./object.ts";

const context = { nowMs: Date.UTC(2024, 0, 1, 0, 5, 30) };
const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", creationTimestamp: "2024-01-01T00:00:00Z" } };
const unborn: KubeObject = { ...object, metadata: { name: "web" } };

test("the default columns show the name and the creation timestamp", () => {
  equal(nameColumn.value(object, context), "web");
  equal(ageColumn.value(object, context), "5m30s");
  equal(ageColumn.value(unborn, context), "<unknown>");
  equal(createdAtColumn.value(object, context), "2024-01-01T00:00:00Z");
  deepEqual([nameColumn.format, ageColumn.type, createdAtColumn.type], ["name", "string", "date"]);
});

test("a text column has priority 0 by default", () => {
  const column = textColumn("Kind", "What it is.", ({ kind }: KubeObject) => kind, { priority: 1 });
  deepEqual(
    { ...column, value: column.value(object, context) },
    { name: "Kind", type: "string", description: "What it is.", priority: 1, value: "ConfigMap" },
  );
  equal(textColumn("Kind", "", () => "").priority, 0);
});

test("labels and lists are joined with commas, and empty ones are <none>", () => {
  equal(formatLabels({ b: "1", a: "2" }), "a=2,b=1");
  deepEqual(
    [formatLabels({}), formatLabels(undefined), formatList([]), formatList(undefined), orNone(""), orNone(undefined)],
    Array(6).fill("<none>"),
  );
  equal(formatList(["b", "a"]), "b,a");
  equal(orNone("x"), "x");
});

test("a long list is shortened to its first three items", () => {
  equal(formatFirst([], 0), "");
  equal(formatFirst(["a", "b", "c"], 3), "a,b,c");
  equal(formatFirst(["a", "b", "c", "d", "e"], 5), "a,b,c + 2 more...");
});

test("containers have a cell for their names and one for their images", () => {
  deepEqual(containerCells([{ name: "a", image: "x:1" }, { name: "b" }]), { names: "a,b", images: "x:1," });
  deepEqual(containerCells(undefined), { names: "", images: "" });
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { planRotation, rotationTime } from "./log-rotation.ts";

for (const { title, files, maxFiles, remove, compress } of [
  { title: "no rotated file yet", files: [], maxFiles: 5, remove: [], compress: [] },
  { title: "the last one is compressed", files: ["l.1"], maxFiles: 5, remove: [], compress: ["l.1"] },
  { title: "the oldest is removed", files: ["l.1.gz", "l.2.gz", "l.3.gz", "l.4"], maxFiles: 5, remove: ["l.1.gz"], compress: ["l.4"] },
  { title: "with two files none is kept", files: ["l.1"], maxFiles: 2, remove: ["l.1"], compress: [] },
  {
    title: "leftovers of a crash are removed",
    files: ["l.1", "l.1.gz", "l.2", "l.2.tmp"],
    maxFiles: 5,
    remove: ["l.1", "l.2.tmp"],
    compress: ["l.2"],
  },
]) {
  test(`log rotation: ${title}`, () => deepEqual(planRotation(files, maxFiles), { remove, compress }));
}

test("a rotated log is named after its timestamp", () => {
  equal(rotationTime(Date.parse("2026-01-31T23:59:58.999Z")), "20260131-235958");
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { planRotation, rotationTime } from "./log-rotation.ts";

for (const { title, files, maxFiles, remove, pack } of [
  { title: "nothing was put aside yet", files: [], maxFiles: 5, remove: [], pack: [] },
  { title: "the last one is packed", files: ["l.1"], maxFiles: 5, remove: [], pack: ["l.1"] },
  { title: "the oldest goes", files: ["l.1.gz", "l.2.gz", "l.3.gz", "l.4"], maxFiles: 5, remove: ["l.1.gz"], pack: ["l.4"] },
  { title: "with two files none is kept", files: ["l.1"], maxFiles: 2, remove: ["l.1"], pack: [] },
  { title: "what a crash left goes", files: ["l.1", "l.1.gz", "l.2", "l.2.tmp"], maxFiles: 5, remove: ["l.1", "l.2.tmp"], pack: ["l.2"] },
]) {
  test(`when a log is put aside: ${title}`, () => deepEqual(planRotation(files, maxFiles), { remove, pack }));
}

test("a log is put aside under the name of the moment", () => {
  equal(rotationTime(Date.parse("2026-01-31T23:59:58.999Z")), "20260131-235958");
});

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { countedByKind } from "./clean-up-machine.ts";

test("removed objects are counted by kind, in the order in which they were found", () => {
  deepEqual(countedByKind(["process", "mount", "process", "link"]), ["2 processes", "1 mount", "1 link"]);
  deepEqual(countedByKind([]), []);
});

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { countedByKind } from "./clean-up-machine.ts";

test("what was removed is counted by kind, in the order in which it was found", () => {
  deepEqual(countedByKind(["process", "mount", "process", "link"]), ["2 processes", "1 mount", "1 link"]);
  deepEqual(countedByKind([]), []);
});

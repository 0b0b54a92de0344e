import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { disjointCidrs } from "./disjoint-cidrs.ts";

test("disjointCidrs leaves out ranges inside of others, repeated ones and host bits", () => {
  deepEqual(disjointCidrs(["10.1.0.0/16", "10.0.0.1/8", "10.0.0.0/8", "192.0.2.7/32", "fd00::1/8", "fd00:1::/32"]), [
    "10.0.0.0/8",
    "fd00::/8",
    "192.0.2.7/32",
  ]);
  deepEqual(disjointCidrs(["10.0.0.0/8", "0.0.0.0/0"]), ["0.0.0.0/0"]);
  deepEqual(disjointCidrs([]), []);
});

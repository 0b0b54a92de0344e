import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { RuntimeError } from "../runtime.ts";
import { withMountRemedy } from "../runtime/cri/containers.ts";
import { rangeOf } from "./node-logs.ts";

for (const { header, range } of [
  { header: undefined, range: undefined },
  { header: "bytes=0-3", range: { from: 0, to: 4 } },
  { header: "bytes=4-", range: { from: 4, to: 10 } },
  { header: "bytes=-3", range: { from: 7, to: 10 } },
  { header: "bytes=-30", range: { from: 0, to: 10 } },
  { header: "bytes=8-99", range: { from: 8, to: 10 } },
  { header: "bytes=10-", range: "unsatisfiable" },
  { header: "bytes=5-3", range: undefined },
  { header: "bytes=0-1,4-5", range: undefined },
  { header: "lines=0-1", range: undefined },
  { header: "bytes=-", range: undefined },
]) {
  test(`of ten bytes, Range: ${header ?? "(none)"} is ${JSON.stringify(range)}`, () => deepEqual(rangeOf(header, 10), range));
}

test("a mount that does not propagate is reported with the command that makes it shared", () => {
  const words = 'failed to generate spec: path "/data" is mounted on "/" but it is not a shared mount';
  const remedied = withMountRemedy(new RuntimeError("CannotRun", words));

  equal(
    (remedied as Error).message,
    `${words}; mountPropagation needs it to be one; "mount --make-rshared /" on the node makes it one until the next boot`,
  );
  const other = new RuntimeError("CannotRun", "no such image");
  equal(withMountRemedy(other), other);
});

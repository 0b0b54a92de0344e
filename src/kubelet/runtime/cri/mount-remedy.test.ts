import { equal } from "node:assert/strict";
import { test } from "node:test";
import { RuntimeError } from "../../contracts/runtime.ts";
import { withMountRemedy } from "./containers.ts";

test("a mount that does not propagate is reported with the command that makes it shared", () => {
  const message = 'failed to generate spec: path "/data" is mounted on "/" but it is not a shared mount';
  const remedied = withMountRemedy(new RuntimeError("CannotRun", message));

  equal(
    (remedied as Error).message,
    `${message}; mountPropagation needs it to be one; "mount --make-rshared /" on the node makes it one until the next boot`,
  );
  const other = new RuntimeError("CannotRun", "no such image");
  equal(withMountRemedy(other), other);
});

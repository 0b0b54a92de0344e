import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { compareVersions } from "./version-order.ts";

test("version order: stable before beta, newer before older, and non-Kubernetes versions last", () => {
  const versions = ["foo10", "v1alpha1", "v11beta2", "v2", "v10beta3", "v1", "foo1", "v12alpha1", "v11alpha2", "v10", "v3beta1", "v11"];

  deepEqual(versions.sort(compareVersions), [
    ...["v11", "v10", "v2", "v1"],
    ...["v11beta2", "v10beta3", "v3beta1"],
    ...["v12alpha1", "v11alpha2", "v1alpha1"],
    ...["foo1", "foo10"],
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { nestedMountPoints } from "./nested-mount-points.ts";
import { buildPod } from "../../../api/testing/pod.ts";

function aPod(...containers: readonly Partial<Container>[]): Pod {
  return buildPod({ spec: { containers: containers.map((container, index) => ({ name: `c${index}`, image: "i", ...container })) } });
}

test("nested mount points are the outermost paths of other volumes inside a volume", () => {
  const mounts = (...pairs: readonly (readonly [string, string])[]) => ({
    volumeMounts: pairs.map(([name, mountPath]) => ({ name, mountPath })),
  });
  const pod = aPod(
    mounts(["v", "/etc/app"], ["a", "/etc/app/inner/"], ["b", "/etc/app/inner/deep"], ["c", "/etc/app-2"], ["d", "/etc/app/inner-2"]),
    mounts(["v", "/data"], ["e", "/data/x/../y"], ["f", "/other/z"]),
  );
  assert.deepEqual(nestedMountPoints(pod, "v"), ["inner", "inner-2", "y"]);
  assert.deepEqual(nestedMountPoints(pod, "a"), ["deep"]);
  assert.deepEqual(nestedMountPoints(pod, "c"), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import { usedVolumes } from "./used-volumes.ts";
import { buildPod } from "../../api/testing/pod.ts";

const mounting = (name: string, volume: string) => ({ name, image: "i:1", volumeMounts: [{ name: volume, mountPath: "/v" }] });
const PLAIN = { name: "c", image: "i:1" };

const rows: readonly { readonly it: string; readonly spec: Partial<PodSpec>; readonly used: readonly string[] }[] = [
  { it: "nothing uses none", spec: {}, used: [] },
  { it: "a container's mount", spec: { containers: [PLAIN, mounting("d", "b")] }, used: ["b"] },
  { it: "an init container's mount", spec: { initContainers: [mounting("i", "a")] }, used: ["a"] },
  { it: "an ephemeral container's mount", spec: { ephemeralContainers: [mounting("e", "c")] }, used: ["c"] },
  { it: "a device", spec: { containers: [{ ...PLAIN, volumeDevices: [{ name: "a", devicePath: "/dev/x" }] }] }, used: ["a"] },
  {
    it: "each once, in the Pod's order",
    spec: { initContainers: [mounting("i", "c")], containers: [mounting("d", "a"), mounting("e", "c")] },
    used: ["a", "c"],
  },
];

test("volumes are used if a container mounts them or has them as a device", async (t) => {
  for (const { it, spec, used } of rows) {
    await t.test(it, () => {
      const volumes = ["a", "b", "c"].map((name) => ({ name, emptyDir: {} }));
      const found = usedVolumes(buildPod({ metadata: { name: "p" }, spec: { containers: [PLAIN], volumes, ...spec } }));

      assert.deepEqual(
        found.map(({ name }) => name),
        used,
      );
    });
  }
});

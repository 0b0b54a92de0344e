import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer } from "../../testing/server.ts";

const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const MERGE = { "content-type": "application/merge-patch+json" };
const ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const CANNOT =
  'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

for (const [what, storageClassName, annotations, size, code, message] of [
  ["of a class that lets it grow", "grows", {}, "2Gi", 200, undefined],
  ["of such a class by annotation", "stays", { [ANNOTATION]: "grows" }, "2Gi", 200, undefined],
  ["of a class that does not", "stays", {}, "2Gi", 403, CANNOT],
  ["of a class without allowVolumeExpansion", "silent", {}, "2Gi", 403, CANNOT],
  ["of a missing class", "missing", {}, "2Gi", 403, CANNOT],
  ["without a class", "", {}, "2Gi", 403, CANNOT],
  ["of a class without expansion, in another unit only", "stays", {}, "1024Mi", 200, undefined],
] as const) {
  test(`PersistentVolumeClaimResize: a bound claim ${what} ${code === 200 ? "may be expanded" : "may not be expanded"}`, async () => {
    await using server = await startServer({ config: { admission: onlyPlugins("PersistentVolumeClaimResize") } });
    for (const [name, more] of Object.entries({
      grows: { allowVolumeExpansion: true },
      stays: { allowVolumeExpansion: false },
      silent: {},
    })) {
      await server.call("POST", "/apis/storage.k8s.io/v1/storageclasses", { metadata: { name }, provisioner: "x/y", ...more });
    }
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName, volumeName: "v" };
    await server.call("POST", CLAIMS, { metadata: { name: "c", annotations }, spec });
    await server.call("PATCH", `${CLAIMS}/c/status`, { status: { phase: "Bound" } }, MERGE);

    const { code: answered, body } = await server.call(
      "PATCH",
      `${CLAIMS}/c`,
      { spec: { resources: { requests: { storage: size } } } },
      MERGE,
    );

    assert.deepEqual([answered, body.message], [code, message]);
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer } from "../../testing/server.ts";

const SIZE = { storage: "1Gi" };
const MODES = { accessModes: ["ReadWriteOnce"] };

for (const [path, finalizer, rest] of [
  ["/api/v1/persistentvolumes", "kubernetes.io/pv-protection", { spec: { ...MODES, capacity: SIZE, hostPath: { path: "/x" } } }],
  [
    "/api/v1/namespaces/default/persistentvolumeclaims",
    "kubernetes.io/pvc-protection",
    { spec: { ...MODES, resources: { requests: SIZE } } },
  ],
  ["/apis/storage.k8s.io/v1/volumeattributesclasses", "kubernetes.io/vac-protection", { driverName: "d", parameters: { a: "b" } }],
] as const) {
  test(`an object created at ${path} gets its protection finalizer once, and an update may remove it`, async () => {
    await using server = await startServer({ config: { admission: onlyPlugins("StorageObjectInUseProtection") } });
    const finalizersOf = async (name: string, finalizers: readonly string[]) => {
      const { body } = await server.call("POST", path, { metadata: { name, finalizers }, ...rest });
      return body.metadata.finalizers;
    };

    assert.deepEqual(await finalizersOf("a", []), [finalizer]);
    assert.deepEqual(await finalizersOf("b", ["x.y/z"]), ["x.y/z", finalizer]);
    assert.deepEqual(await finalizersOf("c", [finalizer]), [finalizer]);
    const patch = { metadata: { finalizers: null } };
    const updated = await server.call("PATCH", `${path}/a`, patch, { "content-type": "application/merge-patch+json" });
    assert.deepEqual([updated.code, updated.body.metadata.finalizers], [200, undefined]);
  });
}

test("StorageObjectInUseProtection ignores other resources", async () => {
  await using server = await startServer({ config: { admission: onlyPlugins("StorageObjectInUseProtection") } });

  const { body } = await server.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });

  assert.equal(body.metadata.finalizers, undefined);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { storageClasses } from "../api/storage.k8s.io/v1/storage-class.ts";
import { given } from "../testing/given.ts";
import { createStandardClass } from "./standard-class.ts";

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

test("a new cluster gets the default StorageClass standard", async () => {
  await using cluster = await given();

  await createStandardClass(cluster.client);

  const { metadata, ...rest } = await cluster.client.get(storageClasses, { name: "standard" });
  assert.equal(metadata.annotations?.[IS_DEFAULT], "true");
  assert.deepEqual(
    [rest.provisioner, rest.reclaimPolicy, rest.volumeBindingMode, rest.allowVolumeExpansion],
    ["k8ts.dev/local-path", "Delete", "WaitForFirstConsumer", true],
  );
});

test("a StorageClass standard that the user deleted or changed stays so", async () => {
  await using cluster = await given();
  await createStandardClass(cluster.client);

  await cluster.client.patch(
    storageClasses,
    { name: "standard" },
    { type: "merge", value: { metadata: { annotations: { [IS_DEFAULT]: "false" } } } },
  );
  await createStandardClass(cluster.client);
  const changed = await cluster.client.get(storageClasses, { name: "standard" });
  await cluster.client.delete(storageClasses, { name: "standard" });
  await createStandardClass(cluster.client);

  assert.equal(changed.metadata.annotations?.[IS_DEFAULT], "false");
  assert.deepEqual(await cluster.list(storageClasses), []);
});

test("beside another default class, standard is not the default", async () => {
  await using cluster = await given({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", annotations: { [IS_DEFAULT]: "true" } },
    provisioner: "example.com/disk",
  });

  await createStandardClass(cluster.client);

  const standard = await cluster.client.get(storageClasses, { name: "standard" });
  assert.equal(standard.metadata.annotations?.[IS_DEFAULT], "false");
});

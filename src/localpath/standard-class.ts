/**
 * The StorageClass `standard`, the default of a new cluster. Created once per cluster, which an annotation of the namespace kube-system
 * records: a class that the user changed or deleted stays so.
 */
import { namespaces } from "../api/core/v1/namespace.ts";
import type { StorageClass } from "../api/generated/storage.k8s.io/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { storageClasses } from "../api/storage.k8s.io/v1/storage-class.ts";
import type { Client } from "../client/client.ts";
import { LOCAL_PATH_PROVISIONER } from "../api/local-path.ts";

export const STANDARD_CLASS = "standard";

const SYSTEM_NAMESPACE = { name: "kube-system" };
const CREATED = "k8ts.dev/standard-storage-class-created";
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

/** `client`: of an administrator. */
export async function createStandardClass(client: Client): Promise<void> {
  const { metadata } = await client.get(namespaces, SYSTEM_NAMESPACE);
  if (metadata.annotations?.[CREATED] !== undefined) return;
  const { items } = await client.list(storageClasses);
  const hasDefault = items.some((one) => one.metadata.annotations?.[IS_DEFAULT] === "true");
  await client.create(storageClasses, standardClass({ isDefault: !hasDefault })).catch((error: unknown) => {
    if (!isReason(error, "AlreadyExists")) throw error;
  });
  await client.patch(namespaces, SYSTEM_NAMESPACE, { type: "merge", value: { metadata: { annotations: { [CREATED]: "true" } } } });
}

function standardClass({ isDefault }: { readonly isDefault: boolean }): StorageClass {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: STANDARD_CLASS, annotations: { [IS_DEFAULT]: String(isDefault) } },
    provisioner: LOCAL_PATH_PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  };
}

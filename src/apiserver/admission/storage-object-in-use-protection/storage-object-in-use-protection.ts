/**
 * Adds a finalizer to new PersistentVolumes, PersistentVolumeClaims and VolumeAttributesClasses, so that they are not deleted while in use;
 * a controller removes it once they are unused. Equivalent to upstream's plugin of this name: on create only.
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";

export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",

    mutate(request) {
      if (request.operation !== "CREATE" || request.subresource !== "") return undefined;
      const finalizer = finalizerOf(request);
      const object = request.object as KubeObject;
      const { finalizers = [] } = object.metadata;
      if (finalizer === undefined || finalizers.includes(finalizer)) return undefined;
      return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
    },
  };
}

function finalizerOf({ endpoint }: AdmissionRequest): string | undefined {
  const { group, plural } = endpoint.name;
  if (group === "" && plural === "persistentvolumes") return "kubernetes.io/pv-protection";
  if (group === "" && plural === "persistentvolumeclaims") return "kubernetes.io/pvc-protection";
  if (group === "storage.k8s.io" && plural === "volumeattributesclasses") return "kubernetes.io/vac-protection";
  return undefined;
}

/**
 * A claim may be expanded only if it is bound and its class allows volume expansion. Equivalent to upstream's plugin of this name: on
 * update. Shrinking is rejected by the resource's validation.
 */
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import type { PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { StorageClass } from "../../../api/generated/storage.k8s.io/v1.ts";
import { compareQuantities, parseQuantity, quantityOf, type Quantity } from "../../../api/machinery/quantity.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isUpdateOf, refused } from "../../shared/admission-request.ts";
import type { Objects } from "../../framework/objects.ts";

const STORAGE_CLASSES = { group: "storage.k8s.io", plural: "storageclasses" };

/** Legacy annotation that predates the field; it takes precedence. */
const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

const CANNOT_GROW = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

export function persistentVolumeClaimResize({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  return {
    name: "PersistentVolumeClaimResize",

    start: () => objects.load(STORAGE_CLASSES),

    validate(request) {
      if (!isUpdateOf(request, persistentVolumeClaims)) return;
      const { object: claim, oldObject: before } = request;
      if (compareQuantities(sizeOf(claim), sizeOf(before)) <= 0) return;
      if (before.status?.phase !== "Bound") throw refused(request, "Only bound persistent volume claims can be expanded");
      if (!allowsExpansion(objects, classOf(claim), classOf(before))) throw refused(request, CANNOT_GROW);
    },
  };
}

function sizeOf({ spec }: PersistentVolumeClaim): Quantity {
  const size = spec?.resources?.requests?.["storage"];
  return size === undefined ? quantityOf(0) : parseQuantity(size);
}

function classOf({ metadata: { annotations = {} }, spec }: PersistentVolumeClaim): string {
  return annotations[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

function allowsExpansion(objects: Objects, name: string, nameBefore: string): boolean {
  if (name === "" || name !== nameBefore) return false;
  return objects.cached<StorageClass>(STORAGE_CLASSES, { namespace: "", name })?.allowVolumeExpansion === true;
}

/**
 * Sets the default class on a PersistentVolumeClaim that names none; of several default classes, the newest wins. Equivalent to upstream's
 * plugin of this name: on create only; a claim created while no default existed is defaulted later by the PersistentVolume controller. The
 * class "" opts out of defaulting.
 */
import { persistentVolumeClaims } from "../../../api/core/v1/persistent-volume-claim.ts";
import type { PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";
import { byAge, PreferredObject } from "../../shared/preferred-object.ts";

const STORAGE_CLASSES = { group: "storage.k8s.io", plural: "storageclasses" };

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
const IS_DEFAULT_BETA = "storageclass.beta.kubernetes.io/is-default-class";

/** Legacy annotation that predates the field; still honoured. */
const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

export function defaultStorageClass({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  const defaultClass = new PreferredObject(isDefault, byAge);
  return {
    name: "DefaultStorageClass",

    start: () => objects.follow(STORAGE_CLASSES, defaultClass),

    mutate(request) {
      if (!isCreateOf(request, persistentVolumeClaims)) return undefined;
      const { object: claim } = request;
      if (hasClass(claim)) return undefined;
      const storageClassName = defaultClass.get()?.metadata.name;
      return storageClassName === undefined ? undefined : ({ ...claim, spec: { ...claim.spec, storageClassName } } as KubeObject);
    },
  };
}

function isDefault({ metadata: { annotations = {} } }: KubeObject): boolean {
  return annotations[IS_DEFAULT] === "true" || annotations[IS_DEFAULT_BETA] === "true";
}

function hasClass({ metadata: { annotations = {} }, spec }: PersistentVolumeClaim): boolean {
  return Object.hasOwn(annotations, CLASS_ANNOTATION) || spec?.storageClassName !== undefined;
}

/** Legacy annotations of a PersistentVolume; fields have replaced both. */
import { STORAGE_CLASS_ANNOTATION, STORAGE_CLASS_ANNOTATION_WARNING } from "../persistent-storage.ts";

export const MOUNT_OPTIONS_ANNOTATION = "volume.beta.kubernetes.io/mount-options";

/** Their deprecation warnings. */
export function* annotationWarnings(annotations: Readonly<Record<string, string>> = {}): Iterable<string> {
  if (annotations[STORAGE_CLASS_ANNOTATION] !== undefined) yield STORAGE_CLASS_ANNOTATION_WARNING;
  if (annotations[MOUNT_OPTIONS_ANNOTATION] === undefined) return;
  yield `metadata.annotations[${MOUNT_OPTIONS_ANNOTATION}]: deprecated since v1.31; use "mountOptions" attribute instead`;
}

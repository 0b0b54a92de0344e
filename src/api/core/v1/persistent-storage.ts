/** Shared by PersistentVolumes and claims: access modes, storage class, capacity, and their table cells. */
import { forbidden, invalid, notSupported, type FieldError } from "../../machinery/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../machinery/object.ts";
import { scaledValue } from "../../machinery/quantity.ts";
import { readQuantity } from "./pod/resource-list.ts";

/** Legacy annotation of the storage class; it takes precedence over the field. */
export const STORAGE_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
export const STORAGE_CLASS_ANNOTATION_WARNING = `metadata.annotations[${STORAGE_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`;

export const VOLUME_MODES = ["Block", "Filesystem"];
const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

export function* validateAccessModes(modes: readonly string[], at: string): Iterable<FieldError> {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) yield notSupported(at, mode, ACCESS_MODES);
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    yield forbidden(at, "may not use ReadWriteOncePod with other access modes");
  }
}

/** Validates a storage amount. Fractions of a byte are rounded up. */
export function* validateCapacity(text: string, at: string): Iterable<FieldError> {
  const value = scaledValue(readQuantity(text), 0);
  if (value < 0n) yield invalid(at, value, "must be a valid resource quantity");
}

export function storageClassOf({ annotations = {} }: ObjectMeta, className = ""): string {
  return annotations[STORAGE_CLASS_ANNOTATION] ?? className;
}

const ACCESS_MODE_CELLS = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

/** "RWO,ROX". */
export function accessModesCell(modes: readonly string[] = []): string {
  return ACCESS_MODE_CELLS.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(",");
}

/** A terminating object is shown as such, whatever its phase. */
export function phaseCell({ metadata, status }: KubeObject & { readonly status?: { readonly phase?: string } }): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
}

/** Table cell of an amount; upstream shows 0 for an absent one. */
export function sizeCell(list: Readonly<Record<string, string>> | undefined): string {
  return list?.["storage"] ?? "0";
}

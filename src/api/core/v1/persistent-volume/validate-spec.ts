/** Validation of a PersistentVolume's spec, also of an inline one in a VolumeAttachment, where fewer fields are allowed. */
import type { PersistentVolumeSpec } from "../../../generated/core/v1.ts";
import { element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { formatQuantity, signOf } from "../../../machinery/quantity.ts";
import { sortedMembers } from "../../../members.ts";
import { validateAccessModes, validateCapacity, VOLUME_MODES } from "../persistent-storage.ts";
import { dnsSubdomain } from "../pod/validation/checks.ts";
import { readQuantity } from "../pod/resource-list.ts";
import { validateNodeSelector } from "../pod/validation/affinity.ts";
import { validateSources } from "./validate-source.ts";

const RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"];

export function* validateVolumeSpec(spec: PersistentVolumeSpec, at: string, name: string): Iterable<FieldError> {
  yield* validateModes(spec, at);
  yield* validateSize(spec.capacity, `${at}.capacity`);
  const { persistentVolumeReclaimPolicy: policy = "Retain", nodeAffinity, storageClassName, volumeMode } = spec;
  if (!RECLAIM_POLICIES.includes(policy)) yield notSupported(`${at}.persistentVolumeReclaimPolicy`, policy, RECLAIM_POLICIES);
  const selector = nodeAffinity?.required;
  if (selector !== undefined) yield* errorsOf((errors) => validateNodeSelector(errors, selector, `${at}.nodeAffinity.required`));
  else if (nodeAffinity !== undefined) yield required(`${at}.nodeAffinity.required`, "must specify required node constraints");
  yield* validateSources(spec, at, { name, inline: false });
  yield* validateRecycling(spec, at);
  if (storageClassName) yield* dnsSubdomain(storageClassName, `${at}.storageClassName`);
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) yield notSupported(`${at}.volumeMode`, volumeMode, VOLUME_MODES);
  yield* validateAttributesClass(spec, at);
}

const NOT_INLINE = "may not be specified in the context of inline volumes";

/** Attaching an inline volume supports CSI only. */
export function* validateInlineVolumeSpec(spec: PersistentVolumeSpec, at: string): Iterable<FieldError> {
  const { claimRef, capacity = {}, csi, persistentVolumeReclaimPolicy: policy, volumeMode = "Filesystem" } = spec;
  if (claimRef !== undefined) yield forbidden(`${at}.claimRef`, NOT_INLINE);
  if (Object.keys(capacity).length > 0) yield forbidden(`${at}.capacity`, NOT_INLINE);
  if (csi === undefined) yield required(`${at}.csi`, "has to be specified in the context of inline volumes");
  yield* validateModes(spec, at);
  if (policy && policy !== "Retain") {
    yield forbidden(`${at}.persistentVolumeReclaimPolicy`, "may only be Retain in the context of inline volumes");
  }
  if (spec.nodeAffinity !== undefined) yield forbidden(`${at}.nodeAffinity`, NOT_INLINE);
  yield* validateSources(spec, at, { name: "", inline: true });
  yield* validateRecycling(spec, at);
  if (spec.storageClassName) yield forbidden(`${at}.storageClassName`, NOT_INLINE);
  if (volumeMode !== "Filesystem") {
    yield forbidden(`${at}.volumeMode`, "may not specify volumeMode other than Filesystem in the context of inline volumes");
  }
}

function* validateModes({ accessModes = [] }: PersistentVolumeSpec, at: string): Iterable<FieldError> {
  if (accessModes.length === 0) yield required(`${at}.accessModes`);
  yield* validateAccessModes(accessModes, `${at}.accessModes`);
}

function* validateSize(capacity: PersistentVolumeSpec["capacity"], at: string): Iterable<FieldError> {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) yield required(at);
  if (names.length !== 1 || names[0] !== "storage") yield notSupported(at, sortedMembers(capacity), ["storage"]);
  for (const [name, text] of Object.entries(capacity ?? {})) {
    yield* validateCapacity(text, element(at, name));
    const amount = readQuantity(text);
    if (signOf(amount) <= 0) yield invalid(element(at, name), formatQuantity(amount), "must be greater than zero");
  }
}

/** Recycling removes all files of the volume. */
function* validateRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec, at: string): Iterable<FieldError> {
  if (persistentVolumeReclaimPolicy !== "Recycle" || !isRoot(hostPath?.path ?? "")) return;
  yield forbidden(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'");
}

/** "/", "//", "/./", "/a/..": every path that resolves to the root. */
function isRoot(path: string): boolean {
  if (!path.startsWith("/")) return false;
  let depth = 0;
  for (const step of path.split("/")) {
    if (step === "..") depth = Math.max(0, depth - 1);
    else if (step !== "" && step !== ".") depth++;
  }
  return depth === 0;
}

function* validateAttributesClass({ volumeAttributesClassName, csi }: PersistentVolumeSpec, at: string): Iterable<FieldError> {
  if (volumeAttributesClassName === undefined) return;
  const here = `${at}.volumeAttributesClassName`;
  if (volumeAttributesClassName === "") yield required(here, "an empty string is disallowed");
  else yield* dnsSubdomain(volumeAttributesClassName, here);
  if (csi === undefined) yield required(`${at}.csi`, "has to be specified when using volumeAttributesClassName");
}

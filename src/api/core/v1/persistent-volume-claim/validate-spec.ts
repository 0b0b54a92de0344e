/** Validation of a claim's spec, also in the claim template of an ephemeral volume. */
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from "../../../generated/core/v1.ts";
import { invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../../machinery/selectors/label-selector.ts";
import { formatQuantity, signOf } from "../../../machinery/quantity.ts";
import { validateAccessModes, VOLUME_MODES } from "../persistent-storage.ts";
import { dnsLabel, dnsSubdomain } from "../pod/validation/checks.ts";
import { readQuantity } from "../pod/resource-list.ts";

export interface ClaimRules {
  /** The API groups of data sources are not validated: the kind was checked before. */
  readonly anyApiGroup?: boolean;
}

export function* validateClaimSpec(spec: PersistentVolumeClaimSpec, at: string, rules: ClaimRules = {}): Iterable<FieldError> {
  const { accessModes = [], selector, storageClassName, volumeMode, volumeAttributesClassName } = spec;
  if (accessModes.length === 0) yield required(`${at}.accessModes`, "at least 1 access mode is required");
  if (selector !== undefined) yield* validateLabelSelectorObject(selector, `${at}.selector`);
  yield* validateAccessModes(accessModes, `${at}.accessModes`);
  yield* validateStorage(spec.resources?.requests?.["storage"], `${at}.resources[storage]`);
  if (storageClassName) yield* dnsSubdomain(storageClassName, `${at}.storageClassName`);
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) yield notSupported(`${at}.volumeMode`, volumeMode, VOLUME_MODES);
  yield* validateDataSources(spec, at, rules);
  if (volumeAttributesClassName) yield* dnsSubdomain(volumeAttributesClassName, `${at}.volumeAttributesClassName`);
}

function* validateStorage(text: string | undefined, at: string): Iterable<FieldError> {
  if (text === undefined) return yield required(at);
  const storage = readQuantity(text);
  if (signOf(storage) <= 0) yield invalid(at, formatQuantity(storage), "must be greater than zero");
}

function* validateDataSources(
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
  at: string,
  rules: ClaimRules,
): Iterable<FieldError> {
  if (dataSource !== undefined) yield* validateDataSource(dataSource, `${at}.dataSource`, rules);
  if (dataSourceRef !== undefined) {
    yield* validateDataSource(dataSourceRef, `${at}.dataSourceRef`, rules);
    if (dataSourceRef.namespace) yield* dnsLabel(dataSourceRef.namespace, `${at}.dataSourceRef.namespace`);
  }
  if (dataSource === undefined || dataSourceRef === undefined) return;
  // The empty object is what upstream prints for the path that it means to name.
  if (dataSourceRef.namespace) {
    yield invalid(at, {}, "may not be specified when dataSourceRef.namespace is specified");
  } else if (
    dataSource.apiGroup !== dataSourceRef.apiGroup ||
    dataSource.kind !== dataSourceRef.kind ||
    dataSource.name !== dataSourceRef.name
  ) {
    yield invalid(at, {}, "must match dataSourceRef");
  }
}

function* validateDataSource(
  source: TypedLocalObjectReference | TypedObjectReference,
  at: string,
  { anyApiGroup = false }: ClaimRules,
): Iterable<FieldError> {
  if (!source.name) yield required(`${at}.name`);
  if (!source.kind) yield required(`${at}.kind`);
  if (!source.apiGroup && source.kind !== "PersistentVolumeClaim") {
    yield invalid(at, source.kind ?? "", "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (source.apiGroup && !anyApiGroup) yield* dnsSubdomain(source.apiGroup, `${at}.apiGroup`);
}

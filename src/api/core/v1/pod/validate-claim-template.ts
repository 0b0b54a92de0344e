/** The claim that is made for an ephemeral volume: its metadata, of which little may be said, and its spec. */
import type {
  EphemeralVolumeSource,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
  TypedObjectReference,
} from "../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../../machinery/label-selector.ts";
import { validateAnnotations, validateLabels } from "../../../machinery/metadata-validation.ts";
import { formatQuantity, signOf } from "../../../machinery/quantity.ts";
import { dnsLabel, dnsSubdomain } from "./checks.ts";
import { readQuantity } from "./resource-list.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];

export function* validateEphemeralVolume({ volumeClaimTemplate }: EphemeralVolumeSource, at: string): Iterable<FieldError> {
  const here = `${at}.volumeClaimTemplate`;
  if (volumeClaimTemplate === undefined) return yield required(here);
  yield* validateTemplateMetadata(volumeClaimTemplate.metadata ?? {}, `${here}.metadata`);
  yield* validateClaimSpec(volumeClaimTemplate.spec, `${here}.spec`);
}

/** The claim's name follows from the pod's: only labels and annotations can be given. */
function* validateTemplateMetadata(metadata: NonNullable<PersistentVolumeClaimTemplate["metadata"]>, at: string): Iterable<FieldError> {
  yield* validateAnnotations(metadata.annotations, `${at}.annotations`);
  yield* validateLabels(metadata.labels, `${at}.labels`);
  for (const [name, value] of Object.entries(metadata)) {
    if (name === "annotations" || name === "labels" || value === undefined || value === null || value === "") continue;
    yield forbidden(`${at}.${name}`, "cannot be set");
  }
}

function* validateClaimSpec(spec: PersistentVolumeClaimSpec, at: string): Iterable<FieldError> {
  const { accessModes = [], selector, storageClassName, volumeMode, volumeAttributesClassName } = spec;
  if (accessModes.length === 0) yield required(`${at}.accessModes`, "at least 1 access mode is required");
  if (selector !== undefined) yield* validateLabelSelectorObject(selector, `${at}.selector`);
  yield* validateAccessModes(accessModes, `${at}.accessModes`);
  yield* validateStorage(spec.resources?.requests?.["storage"], `${at}.resources[storage]`);
  if (storageClassName) yield* dnsSubdomain(storageClassName, `${at}.storageClassName`);
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) yield notSupported(`${at}.volumeMode`, volumeMode, VOLUME_MODES);
  yield* validateDataSources(spec, at);
  if (volumeAttributesClassName) yield* dnsSubdomain(volumeAttributesClassName, `${at}.volumeAttributesClassName`);
}

function* validateAccessModes(modes: readonly string[], at: string): Iterable<FieldError> {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) yield notSupported(at, mode, ACCESS_MODES);
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    yield forbidden(at, "may not use ReadWriteOncePod with other access modes");
  }
}

function* validateStorage(text: string | undefined, at: string): Iterable<FieldError> {
  if (text === undefined) return yield required(at);
  const storage = readQuantity(text);
  if (signOf(storage) <= 0) yield invalid(at, formatQuantity(storage), "must be greater than zero");
}

function* validateDataSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, at: string): Iterable<FieldError> {
  if (dataSource !== undefined) yield* validateDataSource(dataSource, `${at}.dataSource`);
  if (dataSourceRef !== undefined) {
    yield* validateDataSource(dataSourceRef, `${at}.dataSourceRef`);
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

function* validateDataSource(source: TypedLocalObjectReference | TypedObjectReference, at: string): Iterable<FieldError> {
  if (!source.name) yield required(`${at}.name`);
  if (!source.kind) yield required(`${at}.kind`);
  if (!source.apiGroup && source.kind !== "PersistentVolumeClaim") {
    yield invalid(at, source.kind ?? "", "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (source.apiGroup) yield* dnsSubdomain(source.apiGroup, `${at}.apiGroup`);
}

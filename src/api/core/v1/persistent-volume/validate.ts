/**
 * Validation of a PersistentVolume. The source is immutable, because the data would not move. Claim, capacity and reclaim policy may
 * change.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { changed, withChanges } from "../../../changes.ts";
import type {
  NodeSelectorTerm,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from "../../../generated/core/v1.ts";
import { forbidden, immutable, invalid, type FieldError } from "../../../machinery/field-error.ts";
import { without } from "../../../members.ts";
import { describeDifference } from "../pod/validation/difference.ts";
import { MOUNT_OPTIONS_ANNOTATION } from "./annotations.ts";
import { SOURCES } from "./validate-source.ts";
import { validateVolumeSpec } from "./validate-spec.ts";

export function* validateVolume(volume: PersistentVolume): Iterable<FieldError> {
  yield* validateVolumeSpec(volume.spec ?? {}, "spec", volume.metadata.name);
  yield* validateMountOptions(volume);
}

/** Sources that accept the mount options annotation. */
const MOUNTED_SOURCES = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk",
] as const satisfies readonly (keyof PersistentVolumeSource)[];

function* validateMountOptions({ metadata, spec = {} }: PersistentVolume): Iterable<FieldError> {
  if (metadata.annotations?.[MOUNT_OPTIONS_ANNOTATION] === undefined) return;
  if (MOUNTED_SOURCES.some((source) => spec[source] !== undefined)) return;
  yield forbidden(`metadata.annotations.${MOUNT_OPTIONS_ANNOTATION}`, "may not specify mount options for this volume type");
}

export function* validateVolumeUpdate(next: PersistentVolume, previous: PersistentVolume): Iterable<FieldError> {
  const [spec, before] = [next.spec ?? {}, previous.spec ?? {}];
  // Upstream validates the spec once more here, so that each error is reported twice.
  yield* validateVolumeSpec(spec, "spec", next.metadata.name);
  yield* validateSameSource(spec, before);
  if (spec.volumeMode !== before.volumeMode) yield immutable("volumeMode", spec.volumeMode);
  if (before.nodeAffinity !== undefined && !isSameAffinity(spec.nodeAffinity, before.nodeAffinity)) {
    const why = "field is immutable, except for updating from beta label to GA";
    yield invalid("nodeAffinity", shownAffinity(spec.nodeAffinity), why);
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    yield forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden");
  }
}

function* validateSameSource(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): Iterable<FieldError> {
  const [wanted, source] = [sourceOf(withoutNewSecret(spec, before)), sourceOf(before)];
  if (deepEqual(wanted, source)) return;
  const why = "spec.persistentvolumesource is immutable after creation";
  yield forbidden("spec.persistentvolumesource", `${why}\n${describeDifference(source, wanted)}`);
}

/** The expansion secret may be added later. */
function withoutNewSecret(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): PersistentVolumeSpec {
  if (before.csi === undefined || before.csi.controllerExpandSecretRef !== undefined) return spec;
  return withChanges(spec, { csi: changed(spec.csi, (csi) => without(csi, "controllerExpandSecretRef")) });
}

function sourceOf(spec: PersistentVolumeSpec): PersistentVolumeSource {
  return Object.fromEntries(SOURCES.flatMap((source) => (spec[source] === undefined ? [] : [[source, spec[source]] as const])));
}

/** Node labels that were renamed when they became stable. */
const STABLE_LABELS: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

/** True if both affinities select the same nodes; a label may have its newer name. */
function isSameAffinity(next: VolumeNodeAffinity | undefined, previous: VolumeNodeAffinity): boolean {
  return isSameList(termsOf(next) ?? [], termsOf(previous) ?? [], isSameTerm);
}

/** The type requires terms; a client may have omitted them. */
function termsOf(affinity: VolumeNodeAffinity | undefined): readonly NodeSelectorTerm[] | undefined {
  return affinity?.required?.nodeSelectorTerms;
}

function isSameTerm(next: NodeSelectorTerm, previous: NodeSelectorTerm): boolean {
  return (
    isSameList(next.matchExpressions ?? [], previous.matchExpressions ?? [], isSameRequirement) &&
    isSameList(next.matchFields ?? [], previous.matchFields ?? [], isSameRequirement)
  );
}

function isSameRequirement(next: NodeSelectorRequirement, previous: NodeSelectorRequirement): boolean {
  // Upstream accepts an empty key as the newer name of any other label; here it is rejected.
  return deepEqual(next, previous) || deepEqual(next, { ...previous, key: STABLE_LABELS.get(previous.key) ?? "" });
}

function isSameList<T>(next: readonly T[], previous: readonly T[], isSame: (next: T, previous: T) => boolean): boolean {
  return next.length === previous.length && next.every((item, index) => isSame(item, previous[index] as T));
}

/** In upstream's format: by the names of its internal types, with all members. */
function shownAffinity(affinity: VolumeNodeAffinity | undefined): unknown {
  if (affinity === undefined) return undefined;
  const terms = termsOf(affinity)?.map(({ matchExpressions, matchFields }) => ({
    MatchExpressions: shownRequirements(matchExpressions),
    MatchFields: shownRequirements(matchFields),
  }));
  return { Required: affinity.required === undefined ? null : { NodeSelectorTerms: terms ?? null } };
}

function shownRequirements(requirements: readonly NodeSelectorRequirement[] | undefined): unknown {
  return requirements?.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null;
}

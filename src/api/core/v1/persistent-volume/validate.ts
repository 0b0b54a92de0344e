/**
 * The rules for a PersistentVolume. Where its data is cannot change, because the data would not follow. What else may change, a
 * controller decides: the claim, the size, the policy.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { changed, changedItems, withChanges } from "../../../changes.ts";
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
import { describeDifference } from "../pod/difference.ts";
import { MOUNT_OPTIONS_ANNOTATION } from "./annotations.ts";
import { SOURCES } from "./validate-source.ts";
import { validateVolumeSpec } from "./validate-spec.ts";

export function* validateVolume(volume: PersistentVolume): Iterable<FieldError> {
  yield* validateVolumeSpec(volume.spec ?? {}, "spec", volume.metadata.name);
  yield* validateMountOptions(volume);
}

/** Those that take the options of the annotation. */
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
  // Upstream asks for the rules of the spec once more here, so that each mistake is a cause twice.
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

/** The secret with which a volume is made larger may be added later. */
function withoutNewSecret(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): PersistentVolumeSpec {
  if (before.csi === undefined || before.csi.controllerExpandSecretRef !== undefined) return spec;
  return withChanges(spec, { csi: changed(spec.csi, (csi) => without(csi, "controllerExpandSecretRef")) });
}

function sourceOf(spec: PersistentVolumeSpec): PersistentVolumeSource {
  return Object.fromEntries(SOURCES.flatMap((source) => (spec[source] === undefined ? [] : [[source, spec[source]] as const])));
}

/** Labels of nodes that got another name when they became stable. */
const STABLE_LABELS: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

/** Whether the same nodes are meant; a label may be called by its newer name. */
function isSameAffinity(next: VolumeNodeAffinity | undefined, previous: VolumeNodeAffinity): boolean {
  return next !== undefined && deepEqual(next, renamedAs(previous, next));
}

/** The affinity with the labels called as they are in `model`, where that is their newer name. */
function renamedAs(affinity: VolumeNodeAffinity, model: VolumeNodeAffinity): VolumeNodeAffinity {
  const modelTerms = model.required?.nodeSelectorTerms ?? [];
  return withChanges(affinity, {
    required: changed(affinity.required, (selector) => {
      const nodeSelectorTerms = selector.nodeSelectorTerms.map((term, index) => renamedTerm(term, modelTerms[index] ?? {}));
      return withChanges(selector, { nodeSelectorTerms });
    }),
  });
}

function renamedTerm(term: NodeSelectorTerm, model: NodeSelectorTerm): NodeSelectorTerm {
  return withChanges(term, {
    matchExpressions: renamedRequirements(term.matchExpressions, model.matchExpressions),
    matchFields: renamedRequirements(term.matchFields, model.matchFields),
  });
}

function renamedRequirements(
  requirements: readonly NodeSelectorRequirement[] | undefined,
  model: readonly NodeSelectorRequirement[] = [],
): readonly NodeSelectorRequirement[] | undefined {
  const keys = model.map(({ key }) => key);
  let index = 0;
  return changedItems(requirements, (requirement) => {
    const key = keys[index++];
    return key !== undefined && STABLE_LABELS.get(requirement.key) === key ? withChanges(requirement, { key }) : requirement;
  });
}

/** As upstream prints it: by the names of its internal types, with all members. */
function shownAffinity(affinity: VolumeNodeAffinity | undefined): unknown {
  if (affinity === undefined) return undefined;
  const terms = affinity.required?.nodeSelectorTerms.map(({ matchExpressions, matchFields }) => ({
    MatchExpressions: shownRequirements(matchExpressions),
    MatchFields: shownRequirements(matchFields),
  }));
  return { Required: terms === undefined ? null : { NodeSelectorTerms: terms } };
}

function shownRequirements(requirements: readonly NodeSelectorRequirement[] | undefined): unknown {
  return requirements?.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null;
}

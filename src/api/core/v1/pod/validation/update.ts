/**
 * Validation of Pod updates. Almost everything is immutable, since its containers may run already. Mutable are images, which restart a
 * container; a shorter deadline; more tolerations. While scheduling gates hold it back, the selection of nodes may also be narrowed.
 */
import { deepEqual } from "../../../../../base/deep.ts";
import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
  Toleration,
} from "../../../../generated/core/v1.ts";
import { child, element, forbidden, invalid, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { rangeMessage } from "../../../../machinery/names.ts";
import { withMembersOf } from "../../../../changes.ts";
import { describeDifference } from "./difference.ts";
import { isSameSpec } from "../same-spec.ts";
import { APP_ARMOR_PREFIX, MIRROR_ANNOTATION, type Annotations } from "./annotations.ts";
import { validateImageSpaces } from "./containers.ts";
import { specOf } from "./pod.ts";
import { validateTolerations } from "./scheduling.ts";

const CHANGEABLE =
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
  "`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const INT32_MAX = 2 ** 31 - 1;

export function validatePodUpdate(errors: FieldErrors, next: Pod, previous: Pod): void {
  validateAnnotationUpdates(errors, next.metadata.annotations ?? {}, previous.metadata.annotations ?? {});
  const [spec, before] = [specOf(next), specOf(previous)];
  if (spec === before) return;
  for (const member of ["containers", "initContainers"] as const) {
    const containers = spec[member] ?? [];
    // Containers can no longer be matched: further errors would only confuse.
    if (containers.length !== (before[member] ?? []).length) {
      return errors.add(forbidden(`spec.${member}`, "pod updates may not add or remove containers"));
    }
    validateImages(errors, containers, `spec.${member}`);
  }
  const { count } = errors;
  validateDeadline(errors, spec.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (errors.count > count && spec.activeDeadlineSeconds !== undefined) return;
  validateTolerationsKept(errors, spec.tolerations ?? [], before.tolerations ?? []);
  validateNoNewGates(errors, spec.schedulingGates ?? [], before.schedulingGates ?? []);
  if (isSameSpec(spec, before)) return;
  if ((before.schedulingGates ?? []).length > 0) validateNarrowing(errors, spec, before);
  const munged = withAllowedChangesUndone(spec, before);
  if (isSameSpec(munged, before)) return;
  errors.add(forbidden("spec", `pod updates may not change fields other than ${CHANGEABLE}\n${describeDifference(before, munged)}`));
}

/** The mirror Pod mark and legacy profile annotations are immutable. */
export function validateAnnotationUpdates(errors: FieldErrors, next: Annotations, previous: Annotations): void {
  if (next === previous) return;
  const at = "metadata.annotations";
  for (const [name, value] of Object.entries(previous)) {
    if (Object.hasOwn(next, name) && next[name] === value) continue;
    if (name.startsWith(APP_ARMOR_PREFIX)) errors.add(forbidden(`${at}[${name}]`, "may not remove or update AppArmor annotations"));
    if (name === MIRROR_ANNOTATION) errors.add(forbidden(`${at}[${name}]`, "may not remove or update mirror pod annotation"));
  }
  for (const name of Object.keys(next)) {
    if (Object.hasOwn(previous, name)) continue;
    if (name.startsWith(APP_ARMOR_PREFIX)) errors.add(forbidden(`${at}[${name}]`, "may not add AppArmor annotations"));
    if (name === MIRROR_ANNOTATION) errors.add(forbidden(`${at}[${name}]`, "may not add mirror pod annotation"));
  }
}

/** A deadline may be shortened but not removed. */
function validateDeadline(errors: FieldErrors, next: number | undefined, previous: number | undefined): void {
  const at = "spec.activeDeadlineSeconds";
  if (next === undefined) {
    if (previous !== undefined) errors.add(invalid(at, null, "must not update from a positive integer to nil value"));
  } else if (next < 0 || next > INT32_MAX) errors.add(invalid(at, next, rangeMessage(0, INT32_MAX)));
  else if (previous !== undefined && previous < next) errors.add(invalid(at, next, "must be less than or equal to previous value"));
}

/** Upstream validates all images once more, and repeats their errors. The same with tolerations, below. */
function validateImages(errors: FieldErrors, containers: readonly Container[], at: string): void {
  for (const [index, container] of containers.entries()) {
    const here = element(at, index);
    if ((container.image ?? "") === "") errors.add(required(child(here, "image")));
    validateImageSpaces(errors, container, here);
  }
}

function validateTolerationsKept(errors: FieldErrors, next: readonly Toleration[], previous: readonly Toleration[]): void {
  const kept = new Set(next.map(tolerationId));
  if (previous.every((old) => kept.has(tolerationId(old)))) validateTolerations(errors, next, "spec.tolerations");
  else errors.add(forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
}

/** All changes of immutable fields. */
function tolerationId({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

function validateNoNewGates(errors: FieldErrors, next: readonly PodSchedulingGate[], previous: readonly PodSchedulingGate[]): void {
  const known = new Set(previous.map(({ name }) => name));
  for (const [index, { name }] of next.entries()) {
    if (known.has(name)) continue;
    errors.add(forbidden(`spec.schedulingGates[${index}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`));
  }
}

/** The new spec with every mutable field as before: the remaining differences are not allowed. */
function withAllowedChangesUndone(spec: PodSpec, before: PodSpec): PodSpec {
  const oldImage = (container: Container, old: Container | undefined): Container =>
    old === undefined ? container : withMembersOf(container, old, "image");
  const munged: PodSpec = {
    ...withMembersOf(spec, before, "activeDeadlineSeconds", "schedulingGates", "tolerations"),
    containers: (spec.containers ?? []).map((container, index) => oldImage(container, before.containers?.[index])),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container, index) => oldImage(container, before.initContainers?.[index])),
    }),
  };
  const mayEnd = (before.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1;
  const ended = mayEnd ? withMembersOf(munged, before, "terminationGracePeriodSeconds") : munged;
  return (before.schedulingGates ?? []).length > 0 ? withNodeChoiceUndone(ended, before) : ended;
}

function withNodeChoiceUndone(spec: PodSpec, before: PodSpec): PodSpec {
  const affinity = withMembersOf(spec.affinity ?? {}, before.affinity ?? {}, "nodeAffinity");
  const isEmpty = Object.keys(affinity).length === 0 && before.affinity === undefined;
  const restored = isEmpty ? withMembersOf(spec, before, "affinity") : { ...spec, affinity };
  return withMembersOf(restored, before, "nodeSelector");
}

/** While no node has been chosen, the node selection may be narrowed. */
function validateNarrowing(errors: FieldErrors, spec: PodSpec, before: PodSpec): void {
  const next = spec.nodeSelector ?? {};
  if (Object.entries(before.nodeSelector ?? {}).some(([key, value]) => !Object.hasOwn(next, key) || next[key] !== value)) {
    errors.add(invalid("spec.nodeSelector", next, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
  }
  validateTermsNarrowed(errors, termsOf(spec.affinity?.nodeAffinity), termsOf(before.affinity?.nodeAffinity));
}

function termsOf(affinity: NodeAffinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

function validateTermsNarrowed(errors: FieldErrors, next: readonly NodeSelectorTerm[], previous: readonly NodeSelectorTerm[]): void {
  const at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  if (previous.length === 0) return;
  // Terms are ORed, so another term would widen the selection.
  if (next.length !== previous.length) {
    const shown = next.length === 0 ? null : next.map(shownTerm);
    return errors.add(invalid(at, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
  }
  for (const [index, term] of next.entries()) {
    if (hasOnlyAdditions(term, previous[index] ?? {})) continue;
    errors.add(invalid(`${at}[${index}]`, shownTerm(term), "only additions are allowed (no mutations or deletions)"));
  }
}

function hasOnlyAdditions(next: NodeSelectorTerm, previous: NodeSelectorTerm): boolean {
  const countOf = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): number => matchExpressions.length + matchFields.length;
  // A term without requirements matches no node: with any it would match some.
  if (countOf(previous) === 0) return countOf(next) === 0;
  const begins = (member: "matchExpressions" | "matchFields"): boolean => {
    const old = previous[member] ?? [];
    return deepEqual((next[member] ?? []).slice(0, old.length), old);
  };
  return begins("matchExpressions") && begins("matchFields");
}

/** In the format of upstream's type. */
function shownTerm({ matchExpressions, matchFields }: NodeSelectorTerm): unknown {
  const shown = (requirements: NodeSelectorTerm["matchFields"]): unknown =>
    requirements?.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null;
  return { MatchExpressions: shown(matchExpressions), MatchFields: shown(matchFields) };
}

/**
 * Validation of the two subresources that change a running Pod: `/resize` changes cpu and memory of its containers, `/ephemeralcontainers`
 * adds containers for debugging. All other changes through these paths are reverted before.
 */
import { deepEqual } from "../../../../../base/deep.ts";
import type { Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, type FieldError } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { withMembersOf } from "../../../../changes.ts";
import { WHOLE_OBJECT } from "./checks.ts";
import { isSidecar } from "../containers.ts";
import { describeDifference } from "./difference.ts";
import { qosClassOf } from "../qos.ts";
import type { ResourceList } from "../resource-list.ts";
import { isSameContainer, isSameRequirements, isSameSpec } from "../same-spec.ts";
import { annotation, MIRROR_ANNOTATION } from "./annotations.ts";
import { specOf, validateSpecOfPod } from "./pod.ts";

function isMirror(pod: Pod): boolean {
  return annotation(pod.metadata.annotations, MIRROR_ANNOTATION) !== undefined;
}

/** Ephemeral containers can be added; existing ones are immutable. */
export function validateEphemeralContainersUpdate(errors: FieldErrors, next: Pod, previous: Pod): void {
  if (isMirror(previous)) return errors.add(forbidden(WHOLE_OBJECT, "static pods do not support ephemeral containers"));
  validateSpecOfPod(errors, next);
  const byName = new Map<string, EphemeralContainer>((specOf(next).ephemeralContainers ?? []).map((each) => [each.name, each]));
  for (const old of specOf(previous).ephemeralContainers ?? []) {
    const fresh = byName.get(old.name);
    const title = `existing ephemeral containers ${JSON.stringify(old.name)}`;
    if (fresh === undefined) errors.add(forbidden("spec.ephemeralContainers", `${title} may not be removed\n`));
    else if (!deepEqual(old, fresh)) {
      errors.add(forbidden("spec.ephemeralContainers", `${title} may not be changed\n${describeDifference(old, fresh)}`));
    }
  }
}

export function validateResize(errors: FieldErrors, next: Pod, previous: Pod): void {
  if (isMirror(previous)) return errors.add(forbidden(WHOLE_OBJECT, "static pods cannot be resized"));
  if (specOf(previous).os?.name === "windows") return errors.add(forbidden(WHOLE_OBJECT, "windows pods cannot be resized"));
  const { count } = errors;
  validateSpecOfPod(errors, next);
  validateResizable(errors, next, previous);
  const countBeforeOrder = errors.count;
  validateContainersKept(errors, specOf(next), specOf(previous));
  if (errors.count > countBeforeOrder) return;
  validateContainerChanges(errors, specOf(next), specOf(previous));
  if (errors.count > count) return;
  if (!isSameSpec(withResizesUndone(specOf(next), specOf(previous)), specOf(previous))) errors.add(onlyCpuAndMemory("spec"));
}

function onlyCpuAndMemory(at: string): FieldError {
  return forbidden(at, "only cpu and memory resources are mutable");
}

function validateResizable(errors: FieldErrors, next: Pod, previous: Pod): void {
  const [spec, before] = [specOf(next), specOf(previous)];
  if ((previous.status?.qosClass ?? qosClassOf(before)) !== qosClassOf(spec)) {
    errors.add(invalid("spec", next.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing"));
  }
  // A kubelet that reports no resources of a running container cannot change them.
  const running = (previous.status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined);
  if (running !== undefined && running.resources === undefined) {
    errors.add(forbidden("spec", "Pod running on node without support for resize"));
  }
  if (hasAmounts(before.resources) || hasAmounts(spec.resources)) validatePodLevelResize(errors, spec.resources, before.resources);
  if ((previous.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0) {
    errors.add(forbidden("spec", "pods with node allocatable resource claims cannot be resized"));
  }
}

function hasAmounts(resources: ResourceRequirements | undefined): boolean {
  return Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;
}

function validatePodLevelResize(
  errors: FieldErrors,
  next: ResourceRequirements | undefined,
  previous: ResourceRequirements | undefined,
): void {
  if (previous !== undefined) {
    if (next === undefined) return errors.add(forbidden("spec.resources", "pod-level resources cannot be removed"));
    for (const part of ["requests", "limits"] as const) {
      if (isRemoved(next[part], previous[part]))
        errors.add(forbidden(`spec.resources.${part}`, `pod-level resource ${part} cannot be removed`));
    }
  }
  if (!isSameRequirements(withAmountsUndone(next, previous), previous)) {
    errors.add(forbidden("spec", "only cpu and memory resources are mutable at pod-level"));
  }
}

function isRemoved(next: ResourceList = {}, previous: ResourceList = {}): boolean {
  return Object.keys(previous).some((name) => !Object.hasOwn(next, name));
}

function validateContainersKept(errors: FieldErrors, spec: PodSpec, before: PodSpec): void {
  for (const member of ["containers", "initContainers"] as const) {
    const [next, previous] = [spec[member] ?? [], before[member] ?? []];
    if (next.length !== previous.length) errors.add(forbidden(`spec.${member}`, `${member} may not be added or removed on resize`));
    else {
      for (const [index, { name }] of previous.entries()) {
        if (next[index]?.name === name) continue;
        errors.add(forbidden(`spec.${member}[${index}].name`, `${member} may not be renamed or reordered on resize`));
      }
    }
  }
}

function validateContainerChanges(errors: FieldErrors, spec: PodSpec, before: PodSpec): void {
  const pairs = (member: "containers" | "initContainers"): (readonly [Container, Container])[] =>
    (before[member] ?? []).map((old, index) => [spec[member]?.[index] ?? old, old]);
  for (const member of ["initContainers", "containers"] as const) {
    for (const [index, [next, previous]] of pairs(member).entries()) {
      for (const part of ["requests", "limits"] as const) {
        if (!isRemoved(next.resources?.[part], previous.resources?.[part])) continue;
        errors.add(forbidden(`spec.${member}[${index}].resources.${part}`, `resource ${part} cannot be removed`));
      }
    }
  }
  for (const [next, previous] of pairs("containers")) {
    if (!isSameContainer(withResizeUndone(next, previous), previous)) errors.add(onlyCpuAndMemory("spec"));
  }
  for (const [index, [next, previous]] of pairs("initContainers").entries()) {
    validateInitContainerChange(errors, next, previous, `spec.initContainers[${index}]`);
  }
}

function validateInitContainerChange(errors: FieldErrors, next: Container, previous: Container, at: string): void {
  if (!isSameContainer(withResizeUndone(next, previous), previous)) {
    errors.add(forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"));
  }
  if (isSameContainer(next, previous) || isSidecar(next)) return;
  for (const { restartPolicy } of next.resizePolicy ?? []) {
    if (restartPolicy !== "RestartContainer") continue;
    errors.add(forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"));
  }
}

/** The new spec with the resizable fields as before. */
function withResizesUndone(spec: PodSpec, before: PodSpec): PodSpec {
  const undone = (containers: readonly Container[], old: readonly Container[]): readonly Container[] =>
    containers.map((container, index) => withResizeUndone(container, old[index] ?? container));
  return withMembersOf(
    {
      ...spec,
      containers: undone(spec.containers ?? [], before.containers ?? []),
      ...(spec.initContainers && { initContainers: undone(spec.initContainers, before.initContainers ?? []) }),
    },
    before,
    "resources",
  );
}

function withResizeUndone(container: Container, previous: Container): Container {
  const resources = withAmountsUndone(container.resources ?? {}, previous.resources);
  return resources === undefined ? withMembersOf(container, previous, "resources") : { ...container, resources };
}

/** Resource claims are kept: they cannot be resized. */
function withAmountsUndone(
  next: ResourceRequirements | undefined,
  previous: ResourceRequirements | undefined,
): ResourceRequirements | undefined {
  if (next === undefined) return undefined;
  const limits = withCpuAndMemoryOf(next.limits, previous?.limits);
  const requests = withCpuAndMemoryOf(next.requests, previous?.requests);
  const undone = { ...(next.claims && { claims: next.claims }), ...(limits && { limits }), ...(requests && { requests }) };
  return previous === undefined && Object.keys(undone).length === 0 ? undefined : undone;
}

function withCpuAndMemoryOf(next: ResourceList | undefined, previous: ResourceList | undefined): ResourceList | undefined {
  if (next === undefined && previous === undefined) return undefined;
  const others = Object.entries(next ?? {}).filter(([name]) => name !== "cpu" && name !== "memory");
  const old = Object.entries(previous ?? {}).filter(([name]) => name === "cpu" || name === "memory");
  const list = Object.fromEntries([...old, ...others]);
  return Object.keys(list).length === 0 && previous === undefined ? undefined : list;
}

/**
 * Validation of the two subresources that change a running Pod: `/resize` changes cpu and memory of its containers, `/ephemeralcontainers`
 * adds containers for debugging. All other changes through these paths are reverted before.
 */
import { deepEqual } from "../../../../../base/deep.ts";
import type { Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, type FieldError } from "../../../../machinery/field-error.ts";
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
export function* validateEphemeralContainersUpdate(next: Pod, previous: Pod): Iterable<FieldError> {
  if (isMirror(previous)) return yield forbidden(WHOLE_OBJECT, "static pods do not support ephemeral containers");
  yield* validateSpecOfPod(next);
  const byName = new Map<string, EphemeralContainer>((specOf(next).ephemeralContainers ?? []).map((each) => [each.name, each]));
  for (const old of specOf(previous).ephemeralContainers ?? []) {
    const fresh = byName.get(old.name);
    const title = `existing ephemeral containers ${JSON.stringify(old.name)}`;
    if (fresh === undefined) yield forbidden("spec.ephemeralContainers", `${title} may not be removed\n`);
    else if (!deepEqual(old, fresh)) {
      yield forbidden("spec.ephemeralContainers", `${title} may not be changed\n${describeDifference(old, fresh)}`);
    }
  }
}

export function* validateResize(next: Pod, previous: Pod): Iterable<FieldError> {
  if (isMirror(previous)) return yield forbidden(WHOLE_OBJECT, "static pods cannot be resized");
  if (specOf(previous).os?.name === "windows") return yield forbidden(WHOLE_OBJECT, "windows pods cannot be resized");
  const errors = [...validateSpecOfPod(next), ...validateResizable(next, previous)];
  yield* errors;
  const order = [...validateContainersKept(specOf(next), specOf(previous))];
  if (order.length > 0) return yield* order;
  const changes = [...validateContainerChanges(specOf(next), specOf(previous))];
  yield* changes;
  if (errors.length > 0 || changes.length > 0) return;
  if (!isSameSpec(withResizesUndone(specOf(next), specOf(previous)), specOf(previous))) yield onlyCpuAndMemory("spec");
}

function onlyCpuAndMemory(at: string): FieldError {
  return forbidden(at, "only cpu and memory resources are mutable");
}

function* validateResizable(next: Pod, previous: Pod): Iterable<FieldError> {
  const [spec, before] = [specOf(next), specOf(previous)];
  if ((previous.status?.qosClass ?? qosClassOf(before)) !== qosClassOf(spec)) {
    yield invalid("spec", next.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing");
  }
  // A kubelet that reports no resources of a running container cannot change them.
  const running = (previous.status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined);
  if (running !== undefined && running.resources === undefined) {
    yield forbidden("spec", "Pod running on node without support for resize");
  }
  if (hasAmounts(before.resources) || hasAmounts(spec.resources)) yield* validatePodLevelResize(spec.resources, before.resources);
  if ((previous.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0) {
    yield forbidden("spec", "pods with node allocatable resource claims cannot be resized");
  }
}

function hasAmounts(resources: ResourceRequirements | undefined): boolean {
  return Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;
}

function* validatePodLevelResize(next: ResourceRequirements | undefined, previous: ResourceRequirements | undefined): Iterable<FieldError> {
  if (previous !== undefined) {
    if (next === undefined) return yield forbidden("spec.resources", "pod-level resources cannot be removed");
    for (const part of ["requests", "limits"] as const) {
      if (isRemoved(next[part], previous[part])) yield forbidden(`spec.resources.${part}`, `pod-level resource ${part} cannot be removed`);
    }
  }
  if (!isSameRequirements(withAmountsUndone(next, previous), previous)) {
    yield forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

function isRemoved(next: ResourceList = {}, previous: ResourceList = {}): boolean {
  return Object.keys(previous).some((name) => !Object.hasOwn(next, name));
}

function* validateContainersKept(spec: PodSpec, before: PodSpec): Iterable<FieldError> {
  for (const member of ["containers", "initContainers"] as const) {
    const [next, previous] = [spec[member] ?? [], before[member] ?? []];
    if (next.length !== previous.length) yield forbidden(`spec.${member}`, `${member} may not be added or removed on resize`);
    else {
      for (const [index, { name }] of previous.entries()) {
        if (next[index]?.name === name) continue;
        yield forbidden(`spec.${member}[${index}].name`, `${member} may not be renamed or reordered on resize`);
      }
    }
  }
}

function* validateContainerChanges(spec: PodSpec, before: PodSpec): Iterable<FieldError> {
  const pairs = (member: "containers" | "initContainers"): (readonly [Container, Container])[] =>
    (before[member] ?? []).map((old, index) => [spec[member]?.[index] ?? old, old]);
  for (const member of ["initContainers", "containers"] as const) {
    for (const [index, [next, previous]] of pairs(member).entries()) {
      for (const part of ["requests", "limits"] as const) {
        if (!isRemoved(next.resources?.[part], previous.resources?.[part])) continue;
        yield forbidden(`spec.${member}[${index}].resources.${part}`, `resource ${part} cannot be removed`);
      }
    }
  }
  for (const [next, previous] of pairs("containers")) {
    if (!isSameContainer(withResizeUndone(next, previous), previous)) yield onlyCpuAndMemory("spec");
  }
  for (const [index, [next, previous]] of pairs("initContainers").entries()) {
    yield* validateInitContainerChange(next, previous, `spec.initContainers[${index}]`);
  }
}

function* validateInitContainerChange(next: Container, previous: Container, at: string): Iterable<FieldError> {
  if (!isSameContainer(withResizeUndone(next, previous), previous)) {
    yield forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable");
  }
  if (isSameContainer(next, previous) || isSidecar(next)) return;
  for (const { restartPolicy } of next.resizePolicy ?? []) {
    if (restartPolicy !== "RestartContainer") continue;
    yield forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
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

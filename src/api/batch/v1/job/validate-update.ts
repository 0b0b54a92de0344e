/**
 * Validation of Job updates: parallelism and suspension are mutable, and little else, since its Pods are created from it one by one. While
 * it is suspended and none of its Pods run, the scheduling directives and resources of its Pods are mutable too: that is how queues place
 * Jobs.
 */
import { deepEqual } from "../../../../base/deep.ts";
import { shownSelector } from "../../../apps/v1/workload.ts";
import { isSameSpec } from "../../../core/v1/pod/same-spec.ts";
import { withMembersOf } from "../../../changes.ts";
import type { Job, JobSpec } from "../../../generated/batch/v1.ts";
import type { Affinity, Container, PodSpec, PodTemplateSpec } from "../../../generated/core/v1.ts";
import { immutable, invalid, type FieldError } from "../../../machinery/field-error.ts";
import { without } from "../../../members.ts";
import { isTrue } from "./conditions.ts";
import { shownPodFailurePolicy, shownSuccessPolicy } from "./validate-policies.ts";
import { isIndexed } from "./validate-spec.ts";

export function* validateSpecUpdate(next: JobSpec, previous: JobSpec, previousJob: Job): Iterable<FieldError> {
  yield* validateCompletions(next, previous);
  if (!deepEqual(next.selector, previous.selector)) yield immutable("spec.selector", shownSelector(next.selector));
  yield* validateTemplateUpdate(next, previous, previousJob);
  if (next.completionMode !== previous.completionMode) yield immutable("spec.completionMode", next.completionMode);
  if (!deepEqual(next.podFailurePolicy, previous.podFailurePolicy)) {
    yield immutable("spec.podFailurePolicy", next.podFailurePolicy && shownPodFailurePolicy(next.podFailurePolicy));
  }
  for (const name of ["backoffLimitPerIndex", "managedBy"] as const) {
    if (next[name] !== previous[name]) yield immutable(`spec.${name}`, next[name]);
  }
  if (!deepEqual(next.successPolicy, previous.successPolicy)) {
    yield immutable("spec.successPolicy", next.successPolicy && shownSuccessPolicy(next.successPolicy));
  }
}

/** An elastic indexed Job can grow and shrink as long as all its indexes run in parallel. */
function* validateCompletions(next: JobSpec, previous: JobSpec): Iterable<FieldError> {
  const { completions, parallelism } = next;
  if (completions === previous.completions) return;
  if (!isIndexed(next)) yield immutable("spec.completions", completions);
  else if (completions !== undefined && completions !== parallelism) {
    yield invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism");
  }
}

function* validateTemplateUpdate(next: JobSpec, previous: JobSpec, previousJob: Job): Iterable<FieldError> {
  const [template, before] = [next.template, previous.template];
  if (template === before) return;
  if (!isAtRest(previousJob)) {
    if (!isSameTemplate(template, before)) yield immutable("spec.template", template);
    return;
  }
  const [spec, allowed] = [specOf(template), withResourcesOf(specOf(template), withPlacementOf(specOf(template), specOf(before)))];
  if (!isSameSpec(spec, allowed)) yield immutable("spec.template.spec", spec);
}

/** Suspended, observed as such, and without a running Pod. */
function isAtRest({ spec, status = {} }: Job): boolean {
  return spec?.suspend === true && isTrue(status, "Suspended") && (status.active ?? 0) === 0;
}

function specOf({ spec }: PodTemplateSpec): PodSpec {
  return spec ?? { containers: [] };
}

function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return deepEqual(a.metadata ?? {}, b.metadata ?? {}) && isSameSpec(specOf(a), specOf(b));
}

/** The previous template with the new scheduling directives. */
function withPlacementOf(next: PodSpec, previous: PodSpec): PodSpec {
  const placed = withMembersOf(previous, next, "nodeSelector", "tolerations", "schedulingGates");
  const affinity = affinityWithNodesOf(next.affinity, previous.affinity);
  return affinity === undefined ? without(placed, "affinity") : { ...placed, affinity };
}

/** Only node affinity may change; an otherwise empty affinity may also be removed. */
function affinityWithNodesOf(next: Affinity | undefined, previous: Affinity | undefined): Affinity | undefined {
  const others = previous === undefined ? undefined : without(previous, "nodeAffinity");
  if (next === undefined) return others === undefined || Object.keys(others).length === 0 ? undefined : others;
  return next.nodeAffinity === undefined ? (others ?? {}) : { ...others, nodeAffinity: next.nodeAffinity };
}

function withResourcesOf(next: PodSpec, previous: PodSpec): PodSpec {
  const containers = resourcesFrom(next.containers, previous.containers);
  const initContainers = resourcesFrom(next.initContainers, previous.initContainers);
  return {
    ...previous,
    ...(containers === undefined ? {} : { containers }),
    ...(initContainers === undefined ? {} : { initContainers }),
  };
}

/** Container by container, if their number is equal. */
function resourcesFrom(
  next: readonly Container[] | undefined,
  previous: readonly Container[] | undefined,
): readonly Container[] | undefined {
  if (next === undefined || previous?.length !== next.length) return previous;
  return previous.map((container, index) => {
    const wanted = next[index];
    return wanted?.name === container.name ? withMembersOf(container, wanted, "resources") : container;
  });
}

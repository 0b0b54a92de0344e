/**
 * Warns about existing pods that a stricter namespace policy would reject; the pods themselves stay. Pods with the same violations are
 * grouped. Bounded in number of pods and time: it is advice, and the response waits for it.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Clock } from "../../../base/clock.ts";
import { summarizeViolations, violationsOf } from "./evaluate.ts";
import { describe, type LevelVersion } from "./policy.ts";

/** Upstream's limits. */
const PODS_MAX = 3_000;
const DURATION_MS_MAX = 1_000;

export interface NewPolicy {
  readonly namespace: string;
  readonly enforce: LevelVersion;
  /** Pods of these runtime classes are exempt. */
  readonly runtimeClasses: readonly string[];
}

export function warningsOfPods(pods: readonly Pod[], { namespace, enforce, runtimeClasses }: NewPolicy, clock: Clock): readonly string[] {
  const concerned = oneOfEachOwnerFirst(pods.filter(({ spec }) => !isExempt(spec?.runtimeClassName, runtimeClasses)));
  const byProblem = new Map<string, string[]>();
  const endMs = clock.monotonic() + DURATION_MS_MAX;
  let checked = 0;
  for (const { metadata, spec } of concerned.slice(0, PODS_MAX)) {
    checked++;
    const violations = spec === undefined ? [] : violationsOf(enforce, { annotations: metadata.annotations ?? {}, spec });
    if (violations.length > 0) {
      const problem = summarizeViolations(violations);
      byProblem.set(problem, [...(byProblem.get(problem) ?? []), metadata.name]);
    }
    if (clock.monotonic() > endMs) break;
  }
  const partly = `new PodSecurity enforce level only checked against the first ${checked} of ${concerned.length} existing pods`;
  const heading = `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${describe(enforce)}"`;
  return [
    ...(checked < concerned.length ? [partly] : []),
    ...(byProblem.size > 0 ? [heading] : []),
    ...[...byProblem].map(([problem, names]) => `${namesOf(names)}: ${problem}`).toSorted(),
  ];
}

function isExempt(runtimeClass: string | undefined, exempt: readonly string[]): boolean {
  return runtimeClass !== undefined && exempt.includes(runtimeClass);
}

/** Pods of distinct controllers come first, since replicas have the same violations. */
function oneOfEachOwnerFirst(pods: readonly Pod[]): readonly Pod[] {
  const owners = new Set<string>();
  const [first, more]: [Pod[], Pod[]] = [[], []];
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    (owner !== undefined && owners.has(owner) ? more : first).push(pod);
    if (owner !== undefined) owners.add(owner);
  }
  return [...first, ...more];
}

function namesOf(names: readonly string[]): string {
  const [first = "", ...others] = names.toSorted();
  if (others.length === 0) return first;
  return `${first} (and ${others.length === 1 ? "1 other pod" : `${others.length} other pods`})`;
}

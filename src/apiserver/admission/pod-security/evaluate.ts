/** Evaluates a pod against a level of the Pod Security Standards. The checks of a level and version are computed once for each. */
import type { Check, CheckedPod, Judge, Violation } from "./check.ts";
import { all } from "./checks/all.ts";
import { LATEST, type Level, type LevelVersion } from "./policy.ts";

/** Later versions are evaluated as this one: no check has changed since. */
const NEWEST = Math.max(...all.flatMap(({ versions }) => versions.map(({ since }) => since)));

const known = new Map<string, readonly Judge[]>();

/** Violations in reporting order; empty if none exist. */
export function violationsOf({ level, version }: LevelVersion, pod: CheckedPod): readonly Violation[] {
  return level === "privileged" ? [] : judgesOf(level, minorOf(version)).flatMap((judge) => judge(pod) ?? []);
}

/** Message for a single pod. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}

/** Message for a group of pods. */
export function summarizeViolations(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(", ");
}

function minorOf(version: string): number {
  return version === LATEST ? NEWEST : Math.min(Number(version.slice("v1.".length)), NEWEST);
}

function judgesOf(level: Level, minor: number): readonly Judge[] {
  const key = `${level}:${minor}`;
  let judges = known.get(key);
  if (judges === undefined) known.set(key, (judges = chosenJudges(level, minor)));
  return judges;
}

function chosenJudges(level: Level, minor: number): readonly Judge[] {
  const inForce = all
    .filter((check) => level === "restricted" || check.level === "baseline")
    .toSorted(byLevelAndId)
    .flatMap((check) => {
      const version = check.versions.findLast(({ since }) => since <= minor);
      return version === undefined ? [] : [{ id: check.id, ...version }];
    });
  const replaced = inForce.map(({ replaces }) => replaces);
  return inForce.filter(({ id }) => !replaced.includes(id)).map(({ judge }) => judge);
}

/** Code unit order (upper case first), as upstream. */
function byLevelAndId(left: Check, right: Check): number {
  if (left.level !== right.level) return left.level === "baseline" ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}

/**
 * The contract of one check of the Pod Security Standards, and the message helpers that checks share. One file per check in checks/,
 * independent of each other; checks/all.ts lists them. A check decides from the pod alone. Messages are upstream's: users search for them.
 */
import type { Container, EphemeralContainer, PodSpec } from "../../../api/generated/core/v1.ts";

/** A pod or a pod template. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

export interface Violation {
  /** Short reason, by which pods with the same violation are grouped. */
  readonly reason: string;
  /** The violating containers and values, for a single pod. */
  readonly detail: string;
}

/** undefined: no violation. */
export type Judge = (pod: CheckedPod) => Violation | undefined;

export interface Check {
  /** Sorts the violations of one level. */
  readonly id: string;
  /** The least restrictive level that includes this check. */
  readonly level: "baseline" | "restricted";
  /** Oldest first. */
  readonly versions: readonly CheckVersion[];
}

export interface CheckVersion {
  /** First minor version of the policy to which this evaluation applies. */
  readonly since: number;
  readonly judge: Judge;
  /** A baseline check whose violations this one already covers. */
  readonly replaces?: string;
}

export type AnyContainer = Container | EphemeralContainer;

/** All containers of a pod, in the order in which checks report them. */
export function containersOf({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): readonly AnyContainer[] {
  // Templates without containers are rejected later, by validation.
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers];
}

/** Returns the names of the containers that match. */
export function containersThat({ spec }: CheckedPod, isSo: (container: AnyContainer) => boolean): readonly string[] {
  return containersOf(spec)
    .filter((container) => isSo(container))
    .map(({ name }) => name);
}

/** `containers "a", "b"` */
export function theContainers(names: readonly string[]): string {
  return `${plural("container", names.length)} ${quoted(names)}`;
}

/** `pod and container "a"`: where a forbidden value is set. */
export function setters({ pod, containers }: { readonly pod: boolean; readonly containers: readonly string[] }): readonly string[] {
  return [...(pod ? ["pod"] : []), ...(containers.length === 0 ? [] : [theContainers(containers)])];
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(", ");
}

/** Sorted and without duplicates. */
export function distinct(items: Iterable<string>): readonly string[] {
  return [...new Set(items)].toSorted();
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** Root in a user namespace is unprivileged outside of it. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false;
}

/** True if spec.os is Windows, for which validation forbids the fields that these checks require. */
export function isForWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === "windows";
}

/** Evaluates pods that are not exempt. */
export function unless(isExcused: (pod: CheckedPod) => boolean, judge: Judge): Judge {
  return (pod) => (isExcused(pod) ? undefined : judge(pod));
}

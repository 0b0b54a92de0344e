/**
 * The contract of one check of the pod security standards, and the words that checks share. One file per check in checks/, strangers to
 * each other; checks/all.ts lists them. A check decides from the pod alone. Its words are upstream's: people search for them.
 */
import type { Container, EphemeralContainer, PodSpec } from "../../../api/generated/core/v1.ts";

/** A pod, or what a template would make one from. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

export interface Violation {
  /** A few words, by which pods with the same problem are told of together. */
  readonly reason: string;
  /** Who does what, for the pod itself. */
  readonly detail: string;
}

/** undefined: nothing is wrong. */
export type Judge = (pod: CheckedPod) => Violation | undefined;

export interface Check {
  /** Of a level the checks are told in the order of these. */
  readonly id: string;
  /** The mildest level that asks for it. */
  readonly level: "baseline" | "restricted";
  /** Oldest first. */
  readonly versions: readonly CheckVersion[];
}

export interface CheckVersion {
  /** The minor version of the policy from which on it is judged so. */
  readonly since: number;
  readonly judge: Judge;
  /** A milder check that says nothing new beside this one. */
  readonly replaces?: string;
}

export type AnyContainer = Container | EphemeralContainer;

/** All of a pod, in the order in which checks tell of them. */
export function containersOf({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec): readonly AnyContainer[] {
  // Templates without containers are refused elsewhere, and later.
  return [...initContainers, ...(containers ?? []), ...ephemeralContainers];
}

/** The names of those that are so. */
export function containersThat({ spec }: CheckedPod, isSo: (container: AnyContainer) => boolean): readonly string[] {
  return containersOf(spec)
    .filter((container) => isSo(container))
    .map(({ name }) => name);
}

/** `containers "a", "b"` */
export function theContainers(names: readonly string[]): string {
  return `${plural("container", names.length)} ${quoted(names)}`;
}

/** `pod and container "a"`: who has set something that they should not have. */
export function setters({ pod, containers }: { readonly pod: boolean; readonly containers: readonly string[] }): readonly string[] {
  return [...(pod ? ["pod"] : []), ...(containers.length === 0 ? [] : [theContainers(containers)])];
}

export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(", ");
}

/** Each once, sorted. */
export function distinct(items: Iterable<string>): readonly string[] {
  return [...new Set(items)].toSorted();
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

/** Root in a user namespace is nobody outside of it. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false;
}

/** Says itself to be for Windows, where validation refuses what these checks ask for. */
export function isForWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === "windows";
}

/** The judge, for pods that are not excused. */
export function unless(isExcused: (pod: CheckedPod) => boolean, judge: Judge): Judge {
  return (pod) => (isExcused(pod) ? undefined : judge(pod));
}

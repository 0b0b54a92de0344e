/** Iterates over the containers of a Pod: all three kinds, in the order in which upstream visits and reports them. */
import type { Container, EphemeralContainer, PodSpec } from "../../../generated/core/v1.ts";

/** What the rules of every container can read. An ephemeral container has all fields of a container. */
export type AnyContainer = Container | EphemeralContainer;

export interface PlacedContainer {
  readonly container: AnyContainer;
  /** "spec.initContainers[0]". */
  readonly at: string;
}

/** Init containers first, then the regular, then the ephemeral ones. */
export function allContainers(spec: PodSpec, at: string): readonly PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  place(placed, spec.initContainers, `${at}.initContainers`);
  place(placed, spec.containers, `${at}.containers`);
  place(placed, spec.ephemeralContainers, `${at}.ephemeralContainers`);
  return placed;
}

/** Hot path (called several times per created Pod). */
function place(placed: PlacedContainer[], containers: readonly AnyContainer[] | undefined, at: string): void {
  if (containers === undefined) return;
  for (let index = 0; index < containers.length; index++)
    placed.push({ container: containers[index] as AnyContainer, at: `${at}[${index}]` });
}

/** The first of each name. A map, because a client controls how many there are and how often each is looked up. */
export function firstByName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  const byName = new Map<string, T>();
  for (const item of items) if (!byName.has(item.name)) byName.set(item.name, item);
  return byName;
}

/** A sidecar: an init container that keeps running beside the regular ones. */
export function isSidecar(initContainer: Container): boolean {
  return initContainer.restartPolicy === "Always";
}

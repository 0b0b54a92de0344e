/**
 * Chooses the node whose instance of a driver the built-in sidecars call for a volume. Volumes of a driver that is bound to its node can be
 * created, deleted and grown by the instance on that node only; for others any instance will do. Pure, so that every pass of a volume calls
 * the same instance while its node is ready.
 */
import { isNodeReady, readyCondition } from "../../api/core/v1/node/health.ts";
import { NodeTerms } from "../../api/core/v1/node/node-selector.ts";
import type { Node, PersistentVolume } from "../../api/generated/core/v1.ts";
import type { CSINode } from "../../api/generated/storage.k8s.io/v1.ts";

export interface NodeWish {
  readonly driver: string;
  /** Of a volume that exists: nodes without access to it are not called. */
  readonly volume?: PersistentVolume;
  /** Called if it has the driver and is ready. */
  readonly preferred?: string | undefined;
  /** Selected by the scheduler: if it has the driver, no other is called, because a volume of another node would be of no use. */
  readonly selected?: string | undefined;
}

export interface NodeView {
  readonly nodes: readonly Node[];
  readonly csiNodes: readonly CSINode[];
}

/** Name of the node; undefined if no ready node with access has the driver. */
export function chooseNode({ driver, volume, preferred, selected = "" }: NodeWish, { nodes, csiNodes }: NodeView): string | undefined {
  const withDriver = new Set(csiNodes.filter((csiNode) => hasDriver(csiNode, driver)).map(({ metadata }) => metadata.name));
  const required = volume?.spec?.nodeAffinity?.required;
  const terms = required === undefined ? undefined : new NodeTerms(required);
  const names = nodes
    .filter((node) => withDriver.has(node.metadata.name) && isUsable(node) && terms?.matches(node) !== false)
    .map(({ metadata }) => metadata.name)
    .filter((name) => name === selected || !withDriver.has(selected))
    .toSorted();
  return preferred !== undefined && names.includes(preferred) ? preferred : names[0];
}

/** A node that has not reported yet has registered the driver just now. */
function isUsable(node: Node): boolean {
  return readyCondition(node) === undefined || isNodeReady(node);
}

export function hasDriver({ spec }: CSINode, driver: string): boolean {
  const drivers: CSINode["spec"]["drivers"] | null | undefined = spec.drivers;
  return drivers?.some(({ name }) => name === driver) === true;
}

/**
 * Index definitions, and the ownership indexes, one per kind. An index is identified by reference, so that recreating it would rebuild it
 * every time: define it once, beside the code that uses it.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../client.ts";
import type { Index } from "./informer.ts";

/** `const podsByNode = defineIndex(pods, (pod) => [pod.spec?.nodeName ?? ""])`. `values` is pure: the same object, the same values. */
export function defineIndex<T extends KubeObject>(kind: ResourceKind<T>, values: (object: T) => Iterable<string>): Index<T> {
  return Object.freeze({ kind, values });
}

/** By the uid of the controller. */
export const byController = onePerKind(({ metadata }) => {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  return controller === undefined ? [] : [controller.uid];
});

/** Objects without a controller, by namespace ("" for cluster-scoped). */
export const withoutController = onePerKind(({ metadata }) => {
  const isControlled = metadata.ownerReferences?.some((reference) => reference.controller === true) === true;
  return isControlled ? [] : [metadata.namespace ?? ""];
});

/** By the uids of all owners, controller or not. */
export const byOwner = onePerKind(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []);

function onePerKind(values: (object: KubeObject) => Iterable<string>): <T extends KubeObject>(kind: ResourceKind<T>) => Index<T> {
  const indexes = new WeakMap<object, Index>();
  return (kind) => {
    let index = indexes.get(kind);
    if (index === undefined) indexes.set(kind, (index = defineIndex(kind as ResourceKind, values)));
    return index as never;
  };
}

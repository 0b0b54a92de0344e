/**
 * Which owners are queued by a change of a dependent: its controller; or, for an orphan, every owner whose selector matches. Terminating
 * objects are not adopted. Adoption itself is in adoption.ts.
 */
import { deepEqual } from "../../base/deep.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Change, KeysOf } from "../runtime/controller.ts";
import { controllerReference, itsController, keyOf } from "../runtime/keys.ts";

/** `selectorOf`: undefined for an owner that adopts nothing. Called for all owners of a namespace: cache what is expensive. */
export function itsControllerOrAdopters<O extends KubeObject>(
  owners: ResourceKind<O>,
  selectorOf: (owner: O) => LabelSelector | undefined,
): KeysOf {
  const controllers = itsController(owners);
  return function* (change, read) {
    yield* controllers(change, read);
    if (!mayBeAdoptedNow(change)) return;
    const { labels, namespace } = change.object.metadata;
    for (const owner of read.list(owners, namespace)) {
      if (selectorOf(owner)?.matches(labels) === true) yield keyOf(owner);
    }
  };
}

/** It is an orphan, and that, or its labels, is new. */
function mayBeAdoptedNow({ is, object, previous }: Change): boolean {
  if (is === "deleted" || object.metadata.deletionTimestamp !== undefined || controllerReference(object) !== undefined) return false;
  if (previous === undefined || controllerReference(previous) !== undefined) return true;
  return !deepEqual(object.metadata.labels, previous.metadata.labels);
}

/**
 * Parsed selectors, cached while their object lives. Undefined for one that selects everything, nothing or is invalid: validation prevents
 * these, and acting on one would be destructive.
 */
export function keepSelectors<S extends object>(
  make: (selector: S) => LabelSelector,
): (selector: S | undefined) => LabelSelector | undefined {
  const kept = new WeakMap<S, LabelSelector | "unusable">();
  return (selector) => {
    if (selector === undefined) return undefined;
    let found = kept.get(selector);
    if (found === undefined) kept.set(selector, (found = usable(make, selector) ?? "unusable"));
    return found === "unusable" ? undefined : found;
  };
}

function usable<S>(make: (selector: S) => LabelSelector, selector: S): LabelSelector | undefined {
  try {
    const made = make(selector);
    return made.isEverything || made.isNothing ? undefined : made;
  } catch {
    return undefined;
  }
}

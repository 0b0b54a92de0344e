/**
 * Who is woken by a change of what can be owned: its controller; or, if nobody controls it, everybody who would take it. What is going is
 * nobody's to take. The other half, the taking, is adoption.ts.
 */
import { deepEqual } from "../../base/deep.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Change, KeysOf } from "../runtime/controller.ts";
import { controllerReference, itsController, keyOf } from "../runtime/keys.ts";

/** `selectorOf`: undefined for an owner that takes nothing. It is asked for all owners of a namespace: keep what is costly to make. */
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

/** Nobody controls it, and that, or what it is called by, is new. */
function mayBeAdoptedNow({ is, object, previous }: Change): boolean {
  if (is === "deleted" || object.metadata.deletionTimestamp !== undefined || controllerReference(object) !== undefined) return false;
  if (previous === undefined || controllerReference(previous) !== undefined) return true;
  return !deepEqual(object.metadata.labels, previous.metadata.labels);
}

/**
 * Selectors as they are made from the objects that hold them, each made once while that object lives. Undefined for one that selects all,
 * nothing or cannot be read: no validation lets such a one in, and acting on it would do harm without end.
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

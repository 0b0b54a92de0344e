/** The keys that most controllers are woken by, and their text. */
import type { KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import { groupResourceOf, parseApiVersion } from "../../api/machinery/object.ts";
import type { ObjectKey, ResourceKind } from "../../client/client.ts";
import type { Change, KeysOf, WorkKey } from "./controller.ts";

export function keyOf({ metadata }: KubeObject): WorkKey {
  return metadata.namespace === undefined ? { name: metadata.name } : { namespace: metadata.namespace, name: metadata.name };
}

/** "default/web", "node-1": as logs and messages name objects. */
export function objectText({ namespace, name }: ObjectKey): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/**
 * "deployments.apps default/web". It can be taken apart again: no name has a slash in it, and of those that may have spaces (roles) none
 * has a percent sign, so that can stand for the space.
 */
export function keyText(key: WorkKey): string {
  const object = objectText(key).replaceAll(" ", SPACE);
  return key.kind === undefined ? object : `${key.kind} ${object}`;
}

const SPACE = "%20";

export function parseKey(text: string): WorkKey {
  const space = text.indexOf(" ");
  const object = text.slice(space + 1);
  const slash = object.indexOf("/");
  return {
    ...(space < 0 ? {} : { kind: text.slice(0, space) }),
    ...(slash < 0 ? {} : { namespace: object.slice(0, slash) }),
    name: object.slice(slash + 1).replaceAll(SPACE, " "),
  };
}

/** "deployments.apps": how a kind stands in a key. */
export function kindName({ plural, storage }: Pick<ResourceKind, "plural" | "storage">): string {
  return groupResourceOf(storage.group, plural);
}

/** The object itself. */
export function* itself({ object }: Change): Iterable<WorkKey> {
  yield keyOf(object);
}

/** The owner that says `controller: true`. */
export function controllerReference({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Of what is owned: its controller, if it is of this kind; and if it was taken from one, that one as well. */
export function itsController(owner: ResourceKind): KeysOf {
  return function* ({ object, previous }) {
    const now = controllerKey(object, owner);
    if (now !== undefined) yield now;
    const before = previous === undefined || previous === object ? undefined : controllerKey(previous, owner);
    if (before !== undefined && before.name !== now?.name) yield before;
  };
}

function controllerKey(object: KubeObject, owner: ResourceKind): WorkKey | undefined {
  const reference = controllerReference(object);
  if (reference === undefined || reference.kind !== owner.kind) return undefined;
  if (parseApiVersion(reference.apiVersion)?.group !== owner.storage.group) return undefined;
  const { namespace } = object.metadata;
  return owner.scope === "Cluster" || namespace === undefined ? { name: reference.name } : { namespace, name: reference.name };
}

/** The reference by which `owner` controls something that it makes. */
export function controlledBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true, blockOwnerDeletion: true };
}

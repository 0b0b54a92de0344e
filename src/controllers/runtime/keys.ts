/** Common mappings of changes to keys, and the text form of keys. */
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
 * "deployments.apps default/web". Unambiguous: no name has a slash, and of those that may have spaces (roles) none has a percent sign,
 * which therefore escapes the space.
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

/** "deployments.apps": a kind in a key. */
export function kindName({ plural, storage }: Pick<ResourceKind, "plural" | "storage">): string {
  return groupResourceOf(storage.group, plural);
}

/** The object itself. */
export function* itself({ object }: Change): Iterable<WorkKey> {
  yield keyOf(object);
}

/** The owner reference with `controller: true`. */
export function controllerReference({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** For a dependent: its controller, if it is of this kind; and its previous one, if it changed. */
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

/** The controller reference to `owner`. */
export function controlledBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true, blockOwnerDeletion: true };
}

/** For the garbage collector's tests: ConfigMaps that own each other, which is all that matters. */
import { configMaps } from "../../../api/core/v1/config-map.ts";
import type { ConfigMap } from "../../../api/generated/core/v1.ts";
import type { KubeObject, OwnerReference } from "../../../api/machinery/object.ts";
import type { Client } from "../../../client/client.ts";

export interface MapOptions {
  /** Default: "default". */
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export function makeMap(
  client: Client,
  name: string,
  { namespace = "default", owners = [], finalizers = [] }: MapOptions = {},
): Promise<ConfigMap> {
  const metadata = { name, namespace, ownerReferences: owners, finalizers };
  return client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
}

/** Reference with blockOwnerDeletion. */
export function heldBy(owner: KubeObject): OwnerReference {
  return { ...ownedBy(owner), blockOwnerDeletion: true };
}

export function ownedBy({ apiVersion, kind, metadata: { name, uid = "" } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid };
}

/** Replaces its owners. */
export function giveOwners(
  client: Client,
  { metadata: { namespace, name } }: KubeObject,
  owners: readonly OwnerReference[],
): Promise<ConfigMap> {
  const value = { metadata: { ownerReferences: owners.map((owner) => ({ ...owner })) } };
  return client.patch(configMaps, { namespace, name }, { type: "merge", value });
}

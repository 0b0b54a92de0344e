/**
 * The expected number of Pods: the sum of the scales of their controllers. Deployments, ReplicaSets, StatefulSets and
 * ReplicationControllers are cached; any other owner is queried through its `scale` subresource.
 */
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { statefulSets } from "../../api/apps/v1/stateful-set.ts";
import { replicationControllers } from "../../api/core/v1/replication-controller.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { groupResourceOf, parseApiVersion, type KubeObject, type OwnerReference } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { controllerReference } from "../runtime/keys.ts";

/** A retry does not help: the objects must change. The message has upstream's wording. */
export class UncountablePods extends Error {}

export interface ExpectedScale {
  readonly scale: number;
  /** Pods without a controller. */
  readonly unmanaged: readonly Pod[];
}

interface Scaled extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

/** Former API group of workloads. It is no longer served, but owner references remain. */
const WORKLOAD_GROUPS = ["apps", "extensions"];

/** Rejects with UncountablePods, or like a request to the server. */
export async function expectedScale(pods: readonly Pod[], pass: Pass): Promise<ExpectedScale> {
  const unmanaged = pods.filter((pod) => controllerReference(pod) === undefined);
  const scaleOf = new Map<string, number>();
  const asked = new Set<string>();
  for (const pod of pods) {
    const reference = controllerReference(pod);
    if (reference === undefined || asked.has(reference.uid)) continue;
    asked.add(reference.uid);
    const owner = ownerInCache(reference, pod, pass) ?? (await ownerByScale(reference, pod, pass));
    if (owner === undefined) throw new UncountablePods(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`);
    scaleOf.set(owner.metadata.uid ?? "", owner.spec?.replicas ?? 0);
  }
  return { scale: [...scaleOf.values()].reduce((sum, scale) => sum + scale, 0), unmanaged };
}

/** For a ReplicaSet of a Deployment, the Deployment's scale counts. */
function ownerInCache(reference: OwnerReference, pod: Pod, pass: Pass): Scaled | undefined {
  const find = <T extends Scaled>(kind: ResourceKind<T>, groups: readonly string[], by = reference): T | undefined => {
    const isMeant = by.kind === kind.kind && groups.includes(parseApiVersion(by.apiVersion)?.group ?? "none");
    const found = isMeant ? pass.read.get(kind, { namespace: pod.metadata.namespace, name: by.name }) : undefined;
    return found?.metadata.uid === by.uid ? found : undefined;
  };
  const replicaSet = find(replicaSets, WORKLOAD_GROUPS);
  if (replicaSet === undefined) return find(replicationControllers, [""]) ?? find(statefulSets, ["apps"]);
  const above = controllerReference(replicaSet);
  return above?.kind === deployments.kind ? find(deployments, WORKLOAD_GROUPS, above) : replicaSet;
}

type ResourceEntry = {
  readonly name: string;
  readonly kind: string;
};

async function ownerByScale(reference: OwnerReference, pod: Pod, { write }: Pass): Promise<Scaled | undefined> {
  const { apiVersion, kind, name, uid } = reference;
  const storage = parseApiVersion(apiVersion);
  if (storage === undefined) throw new UncountablePods(`unexpected GroupVersion string: ${apiVersion}`);
  const entries = await resourcesOf(apiVersion, write);
  const plural = entries.find((entry) => entry.kind === kind && !entry.name.includes("/"))?.name;
  if (plural === undefined)
    throw new UncountablePods(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
  if (!entries.some((entry) => entry.name === `${plural}/scale` && entry.kind === "Scale")) {
    throw new UncountablePods(`${groupResourceOf(storage.group, plural)} does not implement the scale subresource`);
  }
  const { namespace } = pod.metadata;
  const resource: ResourceKind<Scaled> = { kind, plural, scope: "Namespaced", storage };
  try {
    const scale = await write.get(resource, { namespace, name }, { subresource: "scale" });
    return scale.metadata.uid === uid ? scale : undefined;
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function resourcesOf(apiVersion: string, write: Pass["write"]): Promise<readonly ResourceEntry[]> {
  try {
    const document = await write.document(apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
    return (document["resources"] ?? []) as readonly ResourceEntry[];
  } catch (error) {
    if (isReason(error, "NotFound")) return [];
    throw error;
  }
}

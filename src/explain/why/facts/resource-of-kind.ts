/** The resource of a reference by kind, as far as the cluster has an object of it or the kind is a workload. */
import { groupResourceOf, parseApiVersion } from "../../../api/machinery/object.ts";
import type { ClusterView } from "../cluster-view.ts";

/** Plurals of kinds that references name most: an empty list has no object that shows its kind. */
const PLURALS: Readonly<Record<string, string>> = {
  Deployment: "deployments",
  ReplicaSet: "replicasets",
  StatefulSet: "statefulsets",
  ReplicationController: "replicationcontrollers",
};

/** Undefined: not known. */
export function resourceOfKind(view: ClusterView, apiVersion: string, kind: string): string | undefined {
  const group = parseApiVersion(apiVersion)?.group ?? "";
  const plural = PLURALS[kind];
  if (plural !== undefined) return groupResourceOf(group, plural);
  for (const [resource, objects] of view.objects)
    if (resource.split(".").slice(1).join(".") === group && objects.some((object) => object.kind === kind)) return resource;
  return undefined;
}

/** Looks up and verifies the object that a token is to be bound to. Messages are upstream's. */
import type { BoundObjectReference } from "../../../api/generated/authentication.k8s.io/v1.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { badRequest, conflict, notFound } from "../../../api/machinery/status-error.ts";
import type { KindName, Objects } from "../../framework/objects.ts";
import type { ObjectName } from "../../framework/storage/object-key.ts";
import type { ObjectClaim } from "../../shared/bound-claims.ts";

export interface BoundObjects {
  readonly pod?: ObjectClaim;
  readonly secret?: ObjectClaim;
  readonly node?: ObjectClaim;
}

const PODS: KindName = { group: "", plural: "pods" };
const SECRETS: KindName = { group: "", plural: "secrets" };
const NODES: KindName = { group: "", plural: "nodes" };

/** `serviceAccount`: the account of the token. Throws a StatusError. */
export async function findBoundObjects(
  objects: Objects,
  serviceAccount: ObjectName,
  reference: BoundObjectReference | undefined,
): Promise<BoundObjects> {
  if (reference === undefined) return {};
  const { kind = "", name = "" } = reference;
  const { group, version } = groupVersionOf(reference.apiVersion ?? "");
  const { namespace } = serviceAccount;
  switch (group === "" ? kind : "") {
    case "Pod": {
      const pod = (await find(objects, PODS, { namespace, name })) as Pod;
      if ((pod.spec?.serviceAccountName ?? "") !== serviceAccount.name)
        throw badRequest(
          `cannot bind token for serviceaccount "${serviceAccount.name}" to pod running with different serviceaccount name.`,
        );
      return { pod: claimOf(pod, reference), ...(await nodeOf(objects, pod)) };
    }
    case "Node":
      return { node: claimOf(await find(objects, NODES, { namespace: "", name }), reference) };
    case "Secret":
      return { secret: claimOf(await find(objects, SECRETS, { namespace, name }), reference) };
    default:
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
}

async function find(objects: Objects, kind: KindName, name: ObjectName): Promise<KubeObject> {
  if (name.name === "") throw badRequest("Name parameter required.");
  const found = await objects.getExact(kind, name);
  if (found === undefined) throw notFound(kind, name.name);
  return found;
}

/** Returns the existing object if its uid matches. */
function claimOf({ metadata }: KubeObject, { kind = "", name = "", uid: meant = "" }: BoundObjectReference): ObjectClaim {
  const { uid = "" } = metadata;
  if (meant === "" || meant === uid) return { name: metadata.name, uid };
  const why = `the UID in the bound object reference (${meant}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict({ group: "", plural: kind }, name, why);
}

/** The node of the Pod. The name of a missing node is still useful in the token. */
async function nodeOf(objects: Objects, { spec }: Pod): Promise<{ readonly node?: ObjectClaim }> {
  const name = spec?.nodeName ?? "";
  if (name === "") return {};
  const node = await objects.get(NODES, { namespace: "", name });
  return { node: { name, uid: node?.metadata.uid ?? "" } };
}

/** Parsed as upstream: anything other than `version` or `group/version` is empty. */
function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const parts = apiVersion.split("/");
  if (parts.length > 2) return { group: "", version: "" };
  const [first = "", second] = parts;
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
}

/**
 * A node may create mirror pods, and update the status of, evict and delete pods bound to it; no other part of a pod is writable by nodes.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf } from "../../shared/admission-request.ts";
import { checkMirrorPod } from "./mirror-pod.ts";
import { missing, refuse } from "./errors.ts";

export const PODS = { group: "", plural: "pods" };

export function checkPod(request: AdmissionRequest, node: string, dependencies: AdmissionDependencies): Promise<void> | void {
  switch (request.subresource) {
    case "":
      return checkWholePod(request, node, dependencies);
    case "status":
      return checkStatus(request, node);
    case "eviction":
      // An eviction writes the pod internally under the same user; the eviction itself was checked before.
      return request.operation === "CREATE" ? checkEviction(request, node, dependencies) : undefined;
    default:
      return refuse(request, `unexpected pod subresource ${quoteGo(request.subresource)}, only 'status' and 'eviction' are allowed`);
  }
}

function checkWholePod(request: AdmissionRequest, node: string, dependencies: AdmissionDependencies): Promise<void> | void {
  const { operation, oldObject } = request;
  if (isCreateOf(request, pods)) return checkMirrorPod(request, node, dependencies);
  if (operation !== "DELETE") {
    return refuse(request, `unexpected operation ${quoteGo(operation)}, node ${quoteGo(node)} can only create and delete mirror pods`);
  }
  if (nodeOf(oldObject as Pod) === node) return undefined;
  return refuse(request, `node ${quoteGo(node)} can only delete pods with spec.nodeName set to itself`);
}

function checkStatus(request: AdmissionRequest, node: string): void {
  if (!isUpdateOf(request, pods, "status")) return refuse(request, `unexpected operation ${quoteGo(request.operation)}`);
  const { object: next, oldObject: previous } = request;
  const whose = `node ${quoteGo(node)}`;
  if (nodeOf(previous) !== node) refuse(request, `${whose} can only update pod status for pods with spec.nodeName set to itself`);
  if (!deepEqual(next.metadata.labels ?? {}, previous.metadata.labels ?? {})) {
    refuse(request, `${whose} cannot update labels through pod status`);
  }
  // A claim in the pod's status would grant access to that claim.
  if (!deepEqual(next.status?.resourceClaimStatuses ?? [], previous.status?.resourceClaimStatuses ?? [])) {
    refuse(request, `${whose} cannot update resource claim statues`);
  }
  if (!deepEqual(next.status?.extendedResourceClaimStatus, previous.status?.extendedResourceClaimStatus)) {
    refuse(request, `${whose} cannot update extended resource claim status`);
  }
}

async function checkEviction(request: AdmissionRequest, node: string, { objects }: AdmissionDependencies): Promise<void> {
  const { namespace, name } = request;
  const pod = await objects.get<Pod>(PODS, { namespace, name });
  if (pod === undefined) throw missing({ singular: "pod", name });
  if (nodeOf(pod) !== node) refuse(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? "";
}

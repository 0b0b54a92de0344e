/** A node may request certificates only for Pods bound to it, and only with the true identities of Pod, node and service account. */
import { podCertificateRequests } from "../../../api/certificates.k8s.io/v1beta1/pod-certificate-request.ts";
import { isMirror } from "../../../api/core/v1/pod/references.ts";
import type { Node, Pod, ServiceAccount } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";
import { missing, refuse } from "./errors.ts";
import { nodeOf, PODS } from "./pod.ts";

const NODES = { group: "", plural: "nodes" };
const SERVICE_ACCOUNTS = { group: "", plural: "serviceaccounts" };

export async function checkPodCertificateRequest(
  request: AdmissionRequest,
  node: string,
  { objects }: AdmissionDependencies,
): Promise<void> {
  if (!isCreateOf(request, podCertificateRequests)) return refuse(request, `unexpected operation ${request.operation}`);
  const { namespace, object } = request;
  const { podName, podUID, nodeName, nodeUID, serviceAccountName, serviceAccountUID } = object.spec;
  const pod = quoteGo(`${namespace}/${podName}`);
  if (nodeName !== node) {
    refuse(request, `PodCertificateRequest.Spec.NodeName=${quoteGo(nodeName)}, which is not the requesting node ${quoteGo(node)}`);
  }
  const ofNode = await objects.get<Node>(NODES, { namespace: "", name: nodeName });
  if (ofNode === undefined) throw missing({ singular: "node", name: nodeName });
  if (ofNode.metadata.uid !== nodeUID) {
    const is = `inconsistent with the running node (${quoteGo(ofNode.metadata.uid ?? "")})`;
    refuse(request, `PodCertificateRequest for pod ${pod} names node UID ${quoteGo(nodeUID)}, ${is}`);
  }
  const running = await objects.get<Pod>(PODS, { namespace, name: podName });
  if (running === undefined) throw missing({ singular: "pod", name: podName });
  if (running.metadata.uid !== podUID) {
    const is = `which differs from running pod ${quoteGo(running.metadata.uid ?? "")}`;
    refuse(request, `PodCertificateRequest for pod ${pod} contains pod UID (${quoteGo(podUID)}) ${is}`);
  }
  if (nodeOf(running) !== nodeName) {
    refuse(request, `pod ${pod} is not running on node ${quoteGo(nodeName)} named in the PodCertificateRequest`);
  }
  if (isMirror(running)) refuse(request, `pod ${pod} is a mirror pod`);
  const accountName = running.spec?.serviceAccountName ?? "";
  if (accountName !== serviceAccountName) {
    const is = `that differs from running pod (${quoteGo(accountName)})`;
    refuse(request, `PodCertificateRequest for pod ${pod} contains serviceAccountName (${quoteGo(serviceAccountName)}) ${is}`);
  }
  const account = await objects.get<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name: serviceAccountName });
  if (account === undefined) throw missing({ singular: "serviceaccount", name: serviceAccountName });
  if (account.metadata.uid !== serviceAccountUID) {
    const is = `which differs from the running service account (${quoteGo(account.metadata.uid ?? "")})`;
    refuse(request, `PodCertificateRequest for pod ${pod} names service account UID ${quoteGo(serviceAccountUID)}, ${is}`);
  }
}

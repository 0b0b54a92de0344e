/** A node may request certificates of the kubelet signers for its own identity only. */
import { certificateSigningRequests } from "../../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { parsePemRequest } from "../../../api/machinery/x509/certificate-request.ts";
import { X509Error } from "../../../api/machinery/x509/error.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";
import { NODE_USER_PREFIX } from "../../shared/node-identity.ts";
import { refuse } from "./errors.ts";

const NODE_SIGNERS: readonly string[] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

export function checkCertificateRequest(request: AdmissionRequest, node: string): void {
  if (!isCreateOf(request, certificateSigningRequests)) return;
  const { spec } = request.object;
  if (!NODE_SIGNERS.includes(spec.signerName)) return;
  const user = `${NODE_USER_PREFIX}${node}`;
  if (commonNameOf(request, spec.request ?? "") !== user) refuse(request, `can only create a node CSR with CN=${user}`);
}

function commonNameOf(request: AdmissionRequest, base64: string): string {
  try {
    return parsePemRequest(decodeBase64(base64)).subject.commonName;
  } catch (error) {
    if (error instanceof X509Error) return refuse(request, `unable to parse csr: ${error.message}`);
    throw error;
  }
}

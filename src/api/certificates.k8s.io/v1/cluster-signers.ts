/**
 * The built-in signers, and the requests that each of them accepts. Errors have upstream's messages: they become the message of a
 * condition. Not here: who may request, approve and sign (apiserver/admission), and issuing certificates.
 */
import type { CertificateRequest } from "../../machinery/x509/certificate-request.ts";

export const CLUSTER_SIGNER = {
  /** Client certificates for the API server. */
  client: "kubernetes.io/kube-apiserver-client",
  /** The same for kubelets, with automatic approval. */
  kubeletClient: "kubernetes.io/kube-apiserver-client-kubelet",
  /** Serving certificates of kubelets. */
  kubeletServing: "kubernetes.io/kubelet-serving",
  /** Legacy signer of the API version without signer names. */
  legacy: "kubernetes.io/legacy-unknown",
} as const;

export type ClusterSigner = (typeof CLUSTER_SIGNER)[keyof typeof CLUSTER_SIGNER];

export const CLUSTER_SIGNERS: readonly ClusterSigner[] = Object.values(CLUSTER_SIGNER);

const NODES = "system:nodes";
const NODE_PREFIX = "system:node:";

/** Undefined: it signs this. */
export function signerProblem(signer: ClusterSigner, request: CertificateRequest, usages: readonly string[]): string | undefined {
  switch (signer) {
    case CLUSTER_SIGNER.client:
      return clientProblem(usages);
    case CLUSTER_SIGNER.kubeletClient:
      return kubeletClientProblem(request, usages);
    case CLUSTER_SIGNER.kubeletServing:
      return kubeletServingProblem(request, usages);
    case CLUSTER_SIGNER.legacy:
      return undefined;
  }
}

function clientProblem(usages: readonly string[]): string | undefined {
  const allowed = ["digital signature", "key encipherment", "client auth"];
  const wrong = usages.find((usage) => !allowed.includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}

/** The order of the checks decides which of several errors is reported. */
export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return "subject organization is not system:nodes";
  if (request.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (request.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (request.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return nodeNameProblem(request) ?? usagesProblem(usages, "client auth");
}

function kubeletServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(request)) return "subject organization is not system:nodes";
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return "DNS or IP subjectAltName is required";
  if (request.emailAddresses.length > 0) return "Email subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return usagesProblem(usages, "server auth") ?? nodeNameProblem(request);
}

function isOfNodes({ subject: { organizations } }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODES;
}

function nodeNameProblem({ subject: { commonName } }: CertificateRequest): string | undefined {
  return commonName.startsWith(NODE_PREFIX) ? undefined : "subject common name does not begin with system:node:";
}

/** Key encipherment is for RSA keys, so that usage is optional for others. */
function usagesProblem(usages: readonly string[], purpose: "client auth" | "server auth"): string | undefined {
  const required = ["digital signature", purpose];
  const allowed = [...required, "key encipherment"];
  const isMatch = usages.every((usage) => allowed.includes(usage)) && required.every((usage) => usages.includes(usage));
  return isMatch ? undefined : `usages did not match [${allowed.toSorted().join(" ")}]`;
}

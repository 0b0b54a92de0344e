/**
 * certificates.k8s.io/v1beta1 ClusterTrustBundle: certificates of authorities that workloads may trust, of a signer or of any origin. Pods
 * get them as files by a projected volume. Served if the feature gate ClusterTrustBundle is on. Not here: who may write bundles of a signer
 * (admission plugin ClusterTrustBundleAttest).
 */
import type { ClusterTrustBundle } from "../../generated/certificates.k8s.io/v1beta1.ts";
import { nameColumn, orNone, textColumn } from "../../machinery/columns.ts";
import { immutable, invalid, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { byteLength, validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { parseCertificates } from "../../machinery/x509/certificate.ts";
import { X509Error } from "../../machinery/x509/error.ts";
import { pemBlocks, type PemBlock } from "../../machinery/x509/pem.ts";
import { validateSignerName } from "../v1/signer-name.ts";
import { trustBundleNameProblems } from "./signers.ts";

/** Upstream's limit. */
const TRUST_BUNDLE_MAX_BYTES = 1024 * 1024;

/** A bundle is too long to be quoted. */
const OMITTED = "<value omitted>";

export const clusterTrustBundles = defineResource<ClusterTrustBundle>({
  kind: "ClusterTrustBundle",
  plural: "clustertrustbundles",
  singular: "clustertrustbundle",
  scope: "Cluster",
  served: [{ group: "certificates.k8s.io", version: "v1beta1", schema: "io.k8s.api.certificates.v1beta1.ClusterTrustBundle" }],
  unconditionalUpdate: false,

  // The rule depends on the signer: validate has it.
  validateName: validatePathSegmentName,
  *validate({ metadata, spec }, previous) {
    const { signerName = "", trustBundle } = spec;
    for (const message of trustBundleNameProblems(metadata.name, signerName)) yield invalid("metadata.name", metadata.name, message);
    if (signerName !== "") yield* validateSignerName(signerName, "spec.signerName");
    if (previous?.spec.trustBundle !== trustBundle) yield* validateTrustBundle(trustBundle, "spec.trustBundle");
  },
  *validateUpdate({ spec: next }, { spec: previous }) {
    if ((next.signerName ?? "") !== (previous.signerName ?? "")) yield immutable("spec.signerName", next.signerName ?? "");
  },

  selectableFields: { "spec.signerName": ({ spec }) => spec.signerName ?? "" },

  columns: [nameColumn, textColumn("SignerName", "Signer of the certificates", ({ spec }) => orNone(spec.signerName))],
});

function* validateTrustBundle(bundle: string, at: string): Iterable<FieldError> {
  if (byteLength(bundle) > TRUST_BUNDLE_MAX_BYTES) {
    yield tooLong(at, TRUST_BUNDLE_MAX_BYTES);
    return;
  }
  const indices = new Map<string, number[]>();
  let isMalformed = false;
  for (const [index, block] of [...pemBlocks(new TextEncoder().encode(bundle))].entries()) {
    const problem = anchorProblem(block);
    if (problem !== undefined) {
      isMalformed = true;
      yield invalid(at, OMITTED, `entry ${index} ${problem}`);
      continue;
    }
    const key = block.bytes.join();
    const same = indices.get(key);
    if (same === undefined) indices.set(key, [index]);
    else same.push(index);
  }
  if (isMalformed) return;
  if (indices.size === 0) yield invalid(at, OMITTED, "at least one trust anchor must be provided");
  for (const same of indices.values()) {
    if (same.length > 1) yield invalid(at, OMITTED, `duplicate trust anchor (indices [${same.join(" ")}])`);
  }
}

function anchorProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  if (hasHeaders) return "has PEM block headers";
  try {
    const [certificate, ...more] = parseCertificates(bytes);
    if (certificate === undefined || more.length > 0) return "does not parse as X.509";
    return certificate.isAuthority ? undefined : "does not have the CA bit set";
  } catch (error) {
    if (error instanceof X509Error) return "does not parse as X.509";
    throw error;
  }
}

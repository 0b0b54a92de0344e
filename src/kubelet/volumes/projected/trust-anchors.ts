/**
 * The file of a clusterTrustBundle source: the certificates of all selected bundles, each once. Their order says nothing, and does not change
 * with that of the bundles; upstream shuffles them, so that no program relies on one. Pure.
 */
import type { ClusterTrustBundle } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import type { ClusterTrustBundleProjection } from "../../../api/generated/core/v1.ts";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import { pemBlocks, pemText } from "../../../api/machinery/x509/pem.ts";
import { sha256 } from "../../../base/crypto/hash.ts";
import { MissingSourceError, VolumeError } from "../framework/volume-error.ts";

/** PEM; "" if an optional source selects nothing. Throws a VolumeError. */
export function trustAnchors(source: ClusterTrustBundleProjection, bundles: readonly ClusterTrustBundle[]): string {
  const selected = selectBundles(source, bundles);
  const anchors = new Map<string, string>();
  for (const { spec } of selected) {
    for (const { bytes } of pemBlocks(new TextEncoder().encode(spec.trustBundle))) {
      anchors.set(encodeBase64(sha256(bytes)), pemText("CERTIFICATE", bytes));
    }
  }
  return [...anchors]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pem]) => pem)
    .join("");
}

function selectBundles(source: ClusterTrustBundleProjection, bundles: readonly ClusterTrustBundle[]): readonly ClusterTrustBundle[] {
  const { name, signerName, optional = false } = source;
  if (name !== undefined) {
    const named = bundles.filter(({ metadata }) => metadata.name === name);
    if (named.length > 0 || optional) return named;
    throw new MissingSourceError(`while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "${name}" not found`);
  }
  if (signerName === undefined) throw new VolumeError("ClusterTrustBundle projection requires either name or signerName to be set");
  // Without a selector nothing is selected, with an empty one everything.
  const selector = labelSelectorFromObject(source.labelSelector);
  const selected = bundles.filter(({ metadata, spec }) => spec.signerName === signerName && selector.matches(metadata.labels ?? {}));
  if (selected.length > 0 || optional) return selected;
  throw new MissingSourceError("combination of signerName and labelSelector matched zero ClusterTrustBundles");
}

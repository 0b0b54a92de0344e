/**
 * Writing a ClusterTrustBundle of a signer requires the verb `attest` on that signer, or on all signers of its domain: bundles
 * decide whom workloads trust. Equivalent to upstream's plugin of this name.
 */
import { clusterTrustBundles } from "../../../api/certificates.k8s.io/v1beta1/cluster-trust-bundle.ts";
import type { ClusterTrustBundle } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf, refused } from "../../shared/admission-request.ts";
import { maySign } from "../../shared/signer-access.ts";

export function clusterTrustBundleAttest({ authorizer }: AdmissionDependencies): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",

    validate(request) {
      const isUpdate = isUpdateOf(request, clusterTrustBundles);
      if (!isUpdate && !isCreateOf(request, clusterTrustBundles)) return;
      const { signerName = "" } = request.object.spec;
      if (signerName === "" || (isUpdate && changesOwnersOnly(request.object, request.oldObject))) return;
      if (maySign(authorizer, request.context.user, { verb: "attest", signerName })) return;
      throw refused(request, `user not permitted to attest for signerName ${quoteGo(signerName)}`);
    },
  };
}

/** The garbage collector and a storage migration need no permission to attest. */
function changesOwnersOnly(next: ClusterTrustBundle, previous: ClusterTrustBundle): boolean {
  return deepEqual(withoutOwners(next), withoutOwners(previous));
}

function withoutOwners({ metadata, spec }: ClusterTrustBundle): unknown {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, resourceVersion: _version, ...rest } = metadata;
  return { metadata: rest, spec };
}

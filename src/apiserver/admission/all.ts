/**
 * The admission plugins in upstream's order: a mutating plugin sees the changes of those before it. Keys are the names used by
 * --enable-admission-plugins and --disable-admission-plugins.
 */
import type { AdmissionPluginFactory } from "../framework/admission.ts";
import { certificateApproval } from "./certificate-approval/certificate-approval.ts";
import { certificateSigning } from "./certificate-signing/certificate-signing.ts";
import { certificateSubjectRestriction } from "./certificate-subject-restriction/certificate-subject-restriction.ts";
import { clusterTrustBundleAttest } from "./cluster-trust-bundle-attest/cluster-trust-bundle-attest.ts";
import { defaultIngressClass } from "./default-ingress-class/default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class/default-storage-class.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds/default-toleration-seconds.ts";
import { limitRanger } from "./limit-ranger/limit-ranger.ts";
import { mutatingAdmissionPolicy } from "./mutating-admission-policy/mutating-admission-policy.ts";
import { mutatingAdmissionWebhook } from "./mutating-admission-webhook/mutating-admission-webhook.ts";
import { namespaceLifecycle } from "./namespace-lifecycle/namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction/node-restriction.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize/persistent-volume-claim-resize.ts";
import { podResizeValidator } from "./pod-resize-validator/pod-resize-validator.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { podTopologyLabels } from "./pod-topology-labels/pod-topology-labels.ts";
import { priority } from "./priority/priority.ts";
import { resourceQuota } from "./resource-quota/resource-quota.ts";
import { runtimeClass } from "./runtime-class/runtime-class.ts";
import { serviceAccount } from "./service-account/service-account.ts";
import { storageObjectInUseProtection } from "./storage-object-in-use-protection/storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition/taint-nodes-by-condition.ts";
import { validatingAdmissionPolicy } from "./validating-admission-policy/validating-admission-policy.ts";
import { validatingAdmissionWebhook } from "./validating-admission-webhook/validating-admission-webhook.ts";

export interface ListedPlugin {
  readonly make: AdmissionPluginFactory;
  /** Enabled by default. */
  readonly byDefault: boolean;
  /** True if the plugin may change the object being written or, as a side effect, other objects. */
  readonly changesObjects: boolean;
}

export const all: Readonly<Record<string, ListedPlugin>> = {
  NamespaceLifecycle: { make: namespaceLifecycle, byDefault: true, changesObjects: false },
  LimitRanger: { make: limitRanger, byDefault: true, changesObjects: true },
  ServiceAccount: { make: serviceAccount, byDefault: true, changesObjects: true },
  // Off by default upstream for the sake of older clusters; every installer enables it.
  NodeRestriction: { make: nodeRestriction, byDefault: true, changesObjects: false },
  TaintNodesByCondition: { make: taintNodesByCondition, byDefault: true, changesObjects: true },
  PodSecurity: { make: podSecurity, byDefault: true, changesObjects: false },
  Priority: { make: priority, byDefault: true, changesObjects: true },
  DefaultTolerationSeconds: { make: defaultTolerationSeconds, byDefault: true, changesObjects: true },
  DefaultStorageClass: { make: defaultStorageClass, byDefault: true, changesObjects: true },
  StorageObjectInUseProtection: { make: storageObjectInUseProtection, byDefault: true, changesObjects: true },
  PersistentVolumeClaimResize: { make: persistentVolumeClaimResize, byDefault: true, changesObjects: false },
  RuntimeClass: { make: runtimeClass, byDefault: true, changesObjects: true },
  CertificateApproval: { make: certificateApproval, byDefault: true, changesObjects: false },
  CertificateSigning: { make: certificateSigning, byDefault: true, changesObjects: false },
  ClusterTrustBundleAttest: { make: clusterTrustBundleAttest, byDefault: true, changesObjects: false },
  CertificateSubjectRestriction: { make: certificateSubjectRestriction, byDefault: true, changesObjects: false },
  DefaultIngressClass: { make: defaultIngressClass, byDefault: true, changesObjects: true },
  PodTopologyLabels: { make: podTopologyLabels, byDefault: true, changesObjects: true },
  PodResizeValidator: { make: podResizeValidator, byDefault: true, changesObjects: false },
  MutatingAdmissionPolicy: { make: mutatingAdmissionPolicy, byDefault: true, changesObjects: true },
  MutatingAdmissionWebhook: { make: mutatingAdmissionWebhook, byDefault: true, changesObjects: true },
  ValidatingAdmissionPolicy: { make: validatingAdmissionPolicy, byDefault: true, changesObjects: false },
  ValidatingAdmissionWebhook: { make: validatingAdmissionWebhook, byDefault: true, changesObjects: false },
  ResourceQuota: { make: resourceQuota, byDefault: true, changesObjects: true },
};

/**
 * Every built-in kind. Discovery lists groups in the order in which they first occur here, and that is upstream's order, which clients use
 * when a short name could mean several kinds. So: groups in upstream's order (core first), kinds of one group by their plural name, and a
 * kind that two groups serve with the second of them.
 */
import { mutatingAdmissionPolicyBindings } from "./admissionregistration.k8s.io/v1/mutating-admission-policy-binding.ts";
import { mutatingAdmissionPolicies } from "./admissionregistration.k8s.io/v1/mutating-admission-policy.ts";
import { mutatingWebhookConfigurations } from "./admissionregistration.k8s.io/v1/mutating-webhook-configuration.ts";
import { validatingAdmissionPolicyBindings } from "./admissionregistration.k8s.io/v1/validating-admission-policy-binding.ts";
import { validatingAdmissionPolicies } from "./admissionregistration.k8s.io/v1/validating-admission-policy.ts";
import { validatingWebhookConfigurations } from "./admissionregistration.k8s.io/v1/validating-webhook-configuration.ts";
import { customResourceDefinitions } from "./apiextensions.k8s.io/v1/custom-resource-definition.ts";
import { apiServices } from "./apiregistration.k8s.io/v1/api-service.ts";
import { controllerRevisions } from "./apps/v1/controller-revision.ts";
import { daemonSets } from "./apps/v1/daemon-set.ts";
import { deployments } from "./apps/v1/deployment.ts";
import { replicaSets } from "./apps/v1/replica-set.ts";
import { statefulSets } from "./apps/v1/stateful-set.ts";
import { selfSubjectReviews } from "./authentication.k8s.io/v1/self-subject-review.ts";
import { tokenReviews } from "./authentication.k8s.io/v1/token-review.ts";
import { localSubjectAccessReviews } from "./authorization.k8s.io/v1/local-subject-access-review.ts";
import { selfSubjectAccessReviews } from "./authorization.k8s.io/v1/self-subject-access-review.ts";
import { selfSubjectRulesReviews } from "./authorization.k8s.io/v1/self-subject-rules-review.ts";
import { subjectAccessReviews } from "./authorization.k8s.io/v1/subject-access-review.ts";
import { horizontalPodAutoscalers } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJobs } from "./batch/v1/cron-job.ts";
import { jobs } from "./batch/v1/job.ts";
import { certificateSigningRequests } from "./certificates.k8s.io/v1/certificate-signing-request.ts";
import { clusterTrustBundles } from "./certificates.k8s.io/v1beta1/cluster-trust-bundle.ts";
import { podCertificateRequests } from "./certificates.k8s.io/v1beta1/pod-certificate-request.ts";
import { leases } from "./coordination.k8s.io/v1/lease.ts";
import { bindings } from "./core/v1/binding.ts";
import { componentStatuses } from "./core/v1/component-status.ts";
import { configMaps } from "./core/v1/config-map.ts";
import { endpoints } from "./core/v1/endpoints.ts";
import { events } from "./core/v1/event.ts";
import { limitRanges } from "./core/v1/limit-range.ts";
import { namespaces } from "./core/v1/namespace.ts";
import { nodes } from "./core/v1/node.ts";
import { persistentVolumeClaims } from "./core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "./core/v1/persistent-volume.ts";
import { podTemplates } from "./core/v1/pod-template.ts";
import { pods } from "./core/v1/pod.ts";
import { replicationControllers } from "./core/v1/replication-controller.ts";
import { resourceQuotas } from "./core/v1/resource-quota.ts";
import { secrets } from "./core/v1/secret.ts";
import { serviceAccounts } from "./core/v1/service-account.ts";
import { services } from "./core/v1/service.ts";
import { endpointSlices } from "./discovery.k8s.io/v1/endpoint-slice.ts";
import { flowSchemas } from "./flowcontrol.apiserver.k8s.io/v1/flow-schema.ts";
import { priorityLevelConfigurations } from "./flowcontrol.apiserver.k8s.io/v1/priority-level-configuration.ts";
import { DEFAULT_FEATURE_GATES, dropDisabledFields, FEATURE_GATES, type FeatureGate, type FeatureGates } from "./feature-gates.ts";
import type { Resource } from "./machinery/resource.ts";
import { ingresses } from "./networking.k8s.io/v1/ingress.ts";
import { nodeMetrics } from "./metrics.k8s.io/v1beta1/node-metrics.ts";
import { podMetrics } from "./metrics.k8s.io/v1beta1/pod-metrics.ts";
import { ingressClasses } from "./networking.k8s.io/v1/ingress-class.ts";
import { ipAddresses } from "./networking.k8s.io/v1/ip-address.ts";
import { networkPolicies } from "./networking.k8s.io/v1/network-policy.ts";
import { serviceCidrs } from "./networking.k8s.io/v1/service-cidr.ts";
import { runtimeClasses } from "./node.k8s.io/v1/runtime-class.ts";
import { podDisruptionBudgets } from "./policy/v1/pod-disruption-budget.ts";
import { clusterRoleBindings } from "./rbac.authorization.k8s.io/v1/cluster-role-binding.ts";
import { clusterRoles } from "./rbac.authorization.k8s.io/v1/cluster-role.ts";
import { roleBindings } from "./rbac.authorization.k8s.io/v1/role-binding.ts";
import { roles } from "./rbac.authorization.k8s.io/v1/role.ts";
import { deviceClasses } from "./resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "./resource.k8s.io/v1/resource-claim.ts";
import { resourceClaimTemplates } from "./resource.k8s.io/v1/resource-claim-template.ts";
import { resourceSlices } from "./resource.k8s.io/v1/resource-slice.ts";
import { priorityClasses } from "./scheduling.k8s.io/v1/priority-class.ts";
import { csiDrivers } from "./storage.k8s.io/v1/csi-driver.ts";
import { csiNodes } from "./storage.k8s.io/v1/csi-node.ts";
import { csiStorageCapacities } from "./storage.k8s.io/v1/csi-storage-capacity.ts";
import { storageClasses } from "./storage.k8s.io/v1/storage-class.ts";
import { volumeAttachments } from "./storage.k8s.io/v1/volume-attachment.ts";
import { volumeAttributesClasses } from "./storage.k8s.io/v1/volume-attributes-class.ts";

const kinds: readonly Resource[] = [
  // core
  bindings,
  componentStatuses,
  configMaps,
  endpoints,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podTemplates,
  replicationControllers,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
  // apiregistration.k8s.io
  apiServices,
  // apps
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  // events.k8s.io, and core
  events,
  // authentication.k8s.io
  selfSubjectReviews,
  tokenReviews,
  // authorization.k8s.io
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  // autoscaling
  horizontalPodAutoscalers,
  // batch
  cronJobs,
  jobs,
  // certificates.k8s.io
  certificateSigningRequests,
  clusterTrustBundles,
  podCertificateRequests,
  // networking.k8s.io
  ingressClasses,
  ingresses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
  // policy
  podDisruptionBudgets,
  // rbac.authorization.k8s.io
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  // storage.k8s.io
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
  // admissionregistration.k8s.io
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  // apiextensions.k8s.io
  customResourceDefinitions,
  // scheduling.k8s.io
  priorityClasses,
  // coordination.k8s.io
  leases,
  // node.k8s.io
  runtimeClasses,
  // discovery.k8s.io
  endpointSlices,
  // resource.k8s.io
  deviceClasses,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  // flowcontrol.apiserver.k8s.io
  flowSchemas,
  priorityLevelConfigurations,
  // metrics.k8s.io
  nodeMetrics,
  podMetrics,
];

/** Kinds that are served only if a feature gate is on. */
const GATES: ReadonlyMap<Resource, FeatureGate> = new Map<Resource, FeatureGate>([
  [clusterTrustBundles, "ClusterTrustBundle"],
  [podCertificateRequests, "PodCertificateRequest"],
]);

/** By the gates that are on: equal gates give the same values, so that a kind can be compared by identity. */
const builtResources = new Map<string, readonly Resource[]>();

/** The kinds that are served with these feature gates. */
export function resourcesWith(gates: FeatureGates): readonly Resource[] {
  const key = FEATURE_GATES.filter((gate) => gates[gate]).join();
  const built = builtResources.get(key) ?? buildResources(gates);
  builtResources.set(key, built);
  return built;
}

function buildResources(gates: FeatureGates): readonly Resource[] {
  const served = kinds.filter((resource) => {
    const gate = GATES.get(resource);
    return gate === undefined || gates[gate];
  });
  return dropDisabledFields(served, gates);
}

export const all = resourcesWith(DEFAULT_FEATURE_GATES);

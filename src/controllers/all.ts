/**
 * All controllers, in the order of upstream's list. A new one is its folder and one line here. Those that need settings of the cluster are
 * functions of them.
 */
import { attachDetachController, type AttachDetachSettings } from "./attach-detach/attach-detach-controller.ts";
import { bootstrapSignerController } from "./bootstrap-signer/bootstrap-signer-controller.ts";
import { certificateSigningRequestApprovingController } from "./certificate-signing-request-approving/certificate-signing-request-approving-controller.ts";
import { certificateSigningRequestCleanerController } from "./certificate-signing-request-cleaner/certificate-signing-request-cleaner-controller.ts";
import {
  certificateSigningRequestSigningController,
  type SigningSettings,
} from "./certificate-signing-request-signing/certificate-signing-request-signing-controller.ts";
import { clusterRoleAggregationController } from "./cluster-role-aggregation/cluster-role-aggregation-controller.ts";
import { cronJobController, type CronJobSettings } from "./cron-job/cron-job-controller.ts";
import { daemonSetController } from "./daemon-set/daemon-set-controller.ts";
import { deploymentController } from "./deployment/deployment-controller.ts";
import { deviceTaintEvictionController } from "./device-taint-eviction/device-taint-eviction-controller.ts";
import { disruptionController } from "./disruption/disruption-controller.ts";
import { endpointSliceMirroringController } from "./endpoint-slice-mirroring/endpoint-slice-mirroring-controller.ts";
import { endpointSliceController, type EndpointSliceSettings } from "./endpoint-slice/endpoint-slice-controller.ts";
import { endpointsController } from "./endpoints/endpoints-controller.ts";
import { ephemeralVolumeController } from "./ephemeral-volume/ephemeral-volume-controller.ts";
import { garbageCollectorController } from "./garbage-collector/garbage-collector-controller.ts";
import { horizontalPodAutoscalerController } from "./horizontal-pod-autoscaler/horizontal-pod-autoscaler-controller.ts";
import type { HorizontalPodAutoscalerSettings } from "./horizontal-pod-autoscaler/settings.ts";
import { jobController } from "./job/job-controller.ts";
import {
  legacyServiceAccountTokenCleanerController,
  type LegacyTokenCleanerSettings,
} from "./legacy-service-account-token-cleaner/legacy-service-account-token-cleaner-controller.ts";
import { namespaceController } from "./namespace/namespace-controller.ts";
import { nodeIpamController, type NodeIpamControllerSettings } from "./node-ipam/node-ipam-controller.ts";
import { nodeLifecycleController } from "./node-lifecycle/node-lifecycle-controller.ts";
import type { NodeLifecycleSettings } from "./node-lifecycle/settings.ts";
import { persistentVolumeBinderController } from "./persistent-volume-binder/persistent-volume-binder-controller.ts";
import {
  claimProtectionController,
  type ClaimProtectionSettings,
} from "./persistent-volume-claim-protection/persistent-volume-claim-protection-controller.ts";
import { persistentVolumeExpanderController } from "./persistent-volume-expander/persistent-volume-expander-controller.ts";
import { persistentVolumeProtectionController } from "./persistent-volume-protection/persistent-volume-protection-controller.ts";
import {
  podGarbageCollectorController,
  type PodGarbageCollectorSettings,
} from "./pod-garbage-collector/pod-garbage-collector-controller.ts";
import { replicaSetController } from "./replica-set/replica-set-controller.ts";
import { replicationControllerController } from "./replication-controller/replication-controller-controller.ts";
import { resourceClaimController } from "./resource-claim/resource-claim-controller.ts";
import { resourceQuotaController } from "./resource-quota/resource-quota-controller.ts";
import {
  rootCaCertificatePublisherController,
  type RootCaSettings,
} from "./root-ca-certificate-publisher/root-ca-certificate-publisher-controller.ts";
import type { Controller } from "./runtime/controller.ts";
import { serviceAccountController } from "./service-account/service-account-controller.ts";
import {
  serviceAccountTokenController,
  type ServiceAccountTokenSettings,
} from "./service-account-token/service-account-token-controller.ts";
import { serviceCidrController } from "./service-cidr/service-cidr-controller.ts";
import { serviceLoadBalancerController, type LoadBalancerSettings } from "./service-load-balancer/service-load-balancer-controller.ts";
import { statefulSetController } from "./stateful-set/stateful-set-controller.ts";
import { taintEvictionController } from "./taint-eviction/taint-eviction-controller.ts";
import { tokenCleanerController } from "./token-cleaner/token-cleaner-controller.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished/ttl-after-finished-controller.ts";
import { ttlController } from "./ttl/ttl-controller.ts";
import { validatingAdmissionPolicyStatusController } from "./validating-admission-policy-status/validating-admission-policy-status-controller.ts";
import { volumeAttributesClassProtectionController } from "./volume-attributes-class-protection/volume-attributes-class-protection-controller.ts";

/** Settings of the controllers of a cluster; optional ones have upstream's defaults. */
export interface ControllerSettings
  extends
    RootCaSettings,
    EndpointSliceSettings,
    SigningSettings,
    LoadBalancerSettings,
    NodeIpamControllerSettings,
    CronJobSettings,
    ServiceAccountTokenSettings {
  readonly nodeLifecycle?: Partial<NodeLifecycleSettings>;
  readonly claimProtection?: Partial<ClaimProtectionSettings>;
  readonly attachDetach?: Partial<AttachDetachSettings>;
  readonly podGarbageCollector?: Partial<PodGarbageCollectorSettings>;
  readonly legacyTokenCleaner?: Partial<LegacyTokenCleanerSettings>;
  readonly horizontalPodAutoscaler?: Partial<HorizontalPodAutoscalerSettings>;
}

export function all(settings: ControllerSettings): readonly Controller[] {
  return [
    serviceAccountTokenController(settings),
    endpointsController,
    endpointSliceController(settings),
    endpointSliceMirroringController({}),
    replicationControllerController,
    podGarbageCollectorController(settings.podGarbageCollector),
    resourceQuotaController,
    namespaceController,
    serviceAccountController,
    garbageCollectorController,
    daemonSetController,
    jobController,
    deploymentController,
    replicaSetController,
    horizontalPodAutoscalerController(settings.horizontalPodAutoscaler),
    disruptionController,
    statefulSetController,
    cronJobController(settings),
    certificateSigningRequestSigningController(settings),
    certificateSigningRequestApprovingController,
    certificateSigningRequestCleanerController,
    ttlController,
    bootstrapSignerController,
    tokenCleanerController,
    nodeIpamController(settings),
    nodeLifecycleController(settings.nodeLifecycle),
    taintEvictionController,
    deviceTaintEvictionController,
    serviceLoadBalancerController(settings),
    persistentVolumeBinderController(),
    attachDetachController(settings.attachDetach),
    persistentVolumeExpanderController,
    clusterRoleAggregationController,
    claimProtectionController(settings.claimProtection),
    persistentVolumeProtectionController,
    volumeAttributesClassProtectionController,
    ttlAfterFinishedController,
    rootCaCertificatePublisherController(settings),
    ephemeralVolumeController,
    resourceClaimController,
    legacyServiceAccountTokenCleanerController(settings.legacyTokenCleaner),
    serviceCidrController,
    validatingAdmissionPolicyStatusController,
  ];
}

/**
 * The permissions of each bootstrap role, in lines as rights.ts describes them: the answers of upstream's server 1.36 to a review of every
 * verb with every resource and path. For admin, edit and view they are those of a user with all roles that a controller aggregates into
 * them; kubeadm:bootstrap-signer-clusterinfo is defined by kubeadm, not by the server, system:aggregated-metrics-reader by
 * metrics-server, and system:k8ts-ingress is ours.
 */

/** Bound cluster-wide. */
export const CLUSTER_ROLES: Readonly<Record<string, string>> = {
  admin: `
    nodes.metrics.k8s.io, pods.metrics.k8s.io: get list watch
    bindings, controllerrevisions.apps, cronjobs.batch/status, daemonsets.apps/status, daemonsets.extensions/status: get list watch
    deployments.apps/status, deployments.extensions/status, endpoints, endpointslices.discovery.k8s.io: get list watch
    horizontalpodautoscalers.autoscaling/status, ingresses.extensions/status, ingresses.networking.k8s.io/status: get list watch
    jobs.batch/status, limitranges, namespaces, namespaces/status, persistentvolumeclaims/status: get list watch
    poddisruptionbudgets.policy/status, pods/log, pods/status, replicasets.apps/status, replicasets.extensions/status: get list watch
    replicationcontrollers/status, resourceclaims.resource.k8s.io/status, resourcequotas, resourcequotas/status: get list watch
    services/status, statefulsets.apps/status: get list watch
    configmaps, cronjobs.batch, daemonsets.apps, daemonsets.extensions: get list watch create update patch delete deletecollection
    deployments.apps, deployments.apps/scale, deployments.extensions: get list watch create update patch delete deletecollection
    deployments.extensions/scale, events, events.events.k8s.io: get list watch create update patch delete deletecollection
    horizontalpodautoscalers.autoscaling, ingresses.extensions: get list watch create update patch delete deletecollection
    ingresses.networking.k8s.io, jobs.batch, leases.coordination.k8s.io: get list watch create update patch delete deletecollection
    networkpolicies.extensions, networkpolicies.networking.k8s.io: get list watch create update patch delete deletecollection
    persistentvolumeclaims, poddisruptionbudgets.policy, pods, pods/attach: get list watch create update patch delete deletecollection
    pods/exec, pods/portforward, pods/proxy, replicasets.apps: get list watch create update patch delete deletecollection
    replicasets.apps/scale, replicasets.extensions, replicasets.extensions/scale: get list watch create update patch delete deletecollection
    replicationcontrollers, replicationcontrollers.extensions/scale: get list watch create update patch delete deletecollection
    replicationcontrollers/scale, resourceclaims.resource.k8s.io: get list watch create update patch delete deletecollection
    resourceclaimtemplates.resource.k8s.io: get list watch create update patch delete deletecollection
    rolebindings.rbac.authorization.k8s.io, roles.rbac.authorization.k8s.io: get list watch create update patch delete deletecollection
    secrets, services, services/proxy, statefulsets.apps: get list watch create update patch delete deletecollection
    statefulsets.apps/scale: get list watch create update patch delete deletecollection
    deployments.apps/rollback, deployments.extensions/rollback: create update patch delete deletecollection
    localsubjectaccessreviews.authorization.k8s.io, pods/eviction, serviceaccounts/token: create
    serviceaccounts: get list watch create update patch delete deletecollection impersonate
  `,
  "cluster-admin": `
    *: *
    /*: *
  `,
  edit: `
    nodes.metrics.k8s.io, pods.metrics.k8s.io: get list watch
    bindings, controllerrevisions.apps, cronjobs.batch/status, daemonsets.apps/status, daemonsets.extensions/status: get list watch
    deployments.apps/status, deployments.extensions/status, endpoints, endpointslices.discovery.k8s.io: get list watch
    horizontalpodautoscalers.autoscaling/status, ingresses.extensions/status, ingresses.networking.k8s.io/status: get list watch
    jobs.batch/status, limitranges, namespaces, namespaces/status, persistentvolumeclaims/status: get list watch
    poddisruptionbudgets.policy/status, pods/log, pods/status, replicasets.apps/status, replicasets.extensions/status: get list watch
    replicationcontrollers/status, resourceclaims.resource.k8s.io/status, resourcequotas, resourcequotas/status: get list watch
    services/status, statefulsets.apps/status: get list watch
    configmaps, cronjobs.batch, daemonsets.apps, daemonsets.extensions: get list watch create update patch delete deletecollection
    deployments.apps, deployments.apps/scale, deployments.extensions: get list watch create update patch delete deletecollection
    deployments.extensions/scale, events, events.events.k8s.io: get list watch create update patch delete deletecollection
    horizontalpodautoscalers.autoscaling, ingresses.extensions: get list watch create update patch delete deletecollection
    ingresses.networking.k8s.io, jobs.batch, leases.coordination.k8s.io: get list watch create update patch delete deletecollection
    networkpolicies.extensions, networkpolicies.networking.k8s.io: get list watch create update patch delete deletecollection
    persistentvolumeclaims, poddisruptionbudgets.policy, pods, pods/attach: get list watch create update patch delete deletecollection
    pods/exec, pods/portforward, pods/proxy, replicasets.apps: get list watch create update patch delete deletecollection
    replicasets.apps/scale, replicasets.extensions, replicasets.extensions/scale: get list watch create update patch delete deletecollection
    replicationcontrollers, replicationcontrollers.extensions/scale: get list watch create update patch delete deletecollection
    replicationcontrollers/scale, resourceclaims.resource.k8s.io: get list watch create update patch delete deletecollection
    resourceclaimtemplates.resource.k8s.io, secrets, services, services/proxy: get list watch create update patch delete deletecollection
    statefulsets.apps, statefulsets.apps/scale: get list watch create update patch delete deletecollection
    deployments.apps/rollback, deployments.extensions/rollback: create update patch delete deletecollection
    pods/eviction, serviceaccounts/token: create
    serviceaccounts: get list watch create update patch delete deletecollection impersonate
  `,
  "system:aggregate-to-admin": `
    localsubjectaccessreviews.authorization.k8s.io: create
    rolebindings.rbac.authorization.k8s.io, roles.rbac.authorization.k8s.io: get list watch create update patch delete deletecollection
  `,
  "system:aggregate-to-edit": `
    configmaps, cronjobs.batch, daemonsets.apps, daemonsets.extensions, deployments.apps: create update patch delete deletecollection
    deployments.apps/rollback, deployments.apps/scale, deployments.extensions: create update patch delete deletecollection
    deployments.extensions/rollback, deployments.extensions/scale, events, events.events.k8s.io: create update patch delete deletecollection
    horizontalpodautoscalers.autoscaling, ingresses.extensions, ingresses.networking.k8s.io: create update patch delete deletecollection
    jobs.batch, networkpolicies.extensions, networkpolicies.networking.k8s.io: create update patch delete deletecollection
    persistentvolumeclaims, poddisruptionbudgets.policy, pods, replicasets.apps: create update patch delete deletecollection
    replicasets.apps/scale, replicasets.extensions, replicasets.extensions/scale: create update patch delete deletecollection
    replicationcontrollers, replicationcontrollers.extensions/scale: create update patch delete deletecollection
    replicationcontrollers/scale, resourceclaims.resource.k8s.io: create update patch delete deletecollection
    resourceclaimtemplates.resource.k8s.io, services, statefulsets.apps: create update patch delete deletecollection
    statefulsets.apps/scale: create update patch delete deletecollection
    leases.coordination.k8s.io, pods/attach, pods/exec, pods/portforward: get list watch create update patch delete deletecollection
    pods/proxy, secrets, services/proxy: get list watch create update patch delete deletecollection
    pods/eviction, serviceaccounts/token: create
    serviceaccounts: create update patch delete deletecollection impersonate
  `,
  "system:aggregate-to-view": `
    bindings, configmaps, controllerrevisions.apps, cronjobs.batch, cronjobs.batch/status, daemonsets.apps: get list watch
    daemonsets.apps/status, daemonsets.extensions, daemonsets.extensions/status, deployments.apps, deployments.apps/scale: get list watch
    deployments.apps/status, deployments.extensions, deployments.extensions/scale, deployments.extensions/status, endpoints: get list watch
    endpointslices.discovery.k8s.io, events, events.events.k8s.io, horizontalpodautoscalers.autoscaling: get list watch
    horizontalpodautoscalers.autoscaling/status, ingresses.extensions, ingresses.extensions/status: get list watch
    ingresses.networking.k8s.io, ingresses.networking.k8s.io/status, jobs.batch, jobs.batch/status, limitranges, namespaces: get list watch
    namespaces/status, networkpolicies.extensions, networkpolicies.networking.k8s.io, persistentvolumeclaims: get list watch
    persistentvolumeclaims/status, poddisruptionbudgets.policy, poddisruptionbudgets.policy/status, pods, pods/log: get list watch
    pods/status, replicasets.apps, replicasets.apps/scale, replicasets.apps/status, replicasets.extensions: get list watch
    replicasets.extensions/scale, replicasets.extensions/status, replicationcontrollers: get list watch
    replicationcontrollers.extensions/scale, replicationcontrollers/scale, replicationcontrollers/status: get list watch
    resourceclaims.resource.k8s.io, resourceclaims.resource.k8s.io/status, resourceclaimtemplates.resource.k8s.io: get list watch
    resourcequotas, resourcequotas/status, serviceaccounts, services, services/status, statefulsets.apps: get list watch
    statefulsets.apps/scale, statefulsets.apps/status: get list watch
  `,
  "system:aggregated-metrics-reader": "nodes.metrics.k8s.io, pods.metrics.k8s.io: get list watch",
  "system:auth-delegator": "subjectaccessreviews.authorization.k8s.io, tokenreviews.authentication.k8s.io: create",
  "system:basic-user": `
    selfsubjectaccessreviews.authorization.k8s.io, selfsubjectreviews.authentication.k8s.io: create
    selfsubjectrulesreviews.authorization.k8s.io: create
  `,
  "system:certificates.k8s.io:certificatesigningrequests:nodeclient": "certificatesigningrequests.certificates.k8s.io/nodeclient: create",
  "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": `
    certificatesigningrequests.certificates.k8s.io/selfnodeclient: create
  `,
  "system:certificates.k8s.io:kube-apiserver-client-approver": "signers.certificates.k8s.io kubernetes.io/kube-apiserver-client: approve",
  "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver": `
    signers.certificates.k8s.io kubernetes.io/kube-apiserver-client-kubelet: approve
  `,
  "system:certificates.k8s.io:kubelet-serving-approver": "signers.certificates.k8s.io kubernetes.io/kubelet-serving: approve",
  "system:certificates.k8s.io:legacy-unknown-approver": "signers.certificates.k8s.io kubernetes.io/legacy-unknown: approve",
  "system:controller:attachdetach-controller": `
    csidrivers.storage.k8s.io, csinodes.storage.k8s.io, nodes: get list watch
    events, events.events.k8s.io: create update patch
    nodes/status: update patch
    persistentvolumeclaims, persistentvolumes, pods: list watch
    volumeattachments.storage.k8s.io: get list watch create delete
  `,
  "system:controller:certificate-controller": `
    certificatesigningrequests.certificates.k8s.io: get list watch delete
    certificatesigningrequests.certificates.k8s.io/approval, certificatesigningrequests.certificates.k8s.io/status: update
    events, events.events.k8s.io: create update patch
    signers.certificates.k8s.io kubernetes.io/kube-apiserver-client, signers.certificates.k8s.io kubernetes.io/kubelet-serving: sign
    signers.certificates.k8s.io kubernetes.io/legacy-unknown: sign
    signers.certificates.k8s.io kubernetes.io/kube-apiserver-client-kubelet: approve sign
    subjectaccessreviews.authorization.k8s.io: create
  `,
  "system:controller:clusterrole-aggregation-controller": "clusterroles.rbac.authorization.k8s.io: get list watch update patch escalate",
  "system:controller:cronjob-controller": `
    cronjobs.batch: get list watch update
    cronjobs.batch/finalizers, cronjobs.batch/status: update
    events, events.events.k8s.io: create update patch
    jobs.batch: get list watch create update patch delete
    pods: list watch delete
  `,
  "system:controller:daemon-set-controller": `
    controllerrevisions.apps: get list watch create update patch delete
    daemonsets.apps, daemonsets.extensions: get list watch
    daemonsets.apps/finalizers, daemonsets.apps/status, daemonsets.extensions/finalizers, daemonsets.extensions/status: update
    events, events.events.k8s.io: create update patch
    nodes: list watch
    pods: list watch create patch delete
    pods/binding: create
  `,
  "system:controller:deployment-controller": `
    deployments.apps, deployments.extensions, pods: get list watch update
    deployments.apps/finalizers, deployments.apps/status, deployments.extensions/finalizers, deployments.extensions/status: update
    events, events.events.k8s.io: create update patch
    replicasets.apps, replicasets.extensions: get list watch create update patch delete
  `,
  "system:controller:device-taint-eviction-controller": `
    deviceclasses.resource.k8s.io, resourceclaims.resource.k8s.io, resourceslices.resource.k8s.io: get list watch
    events, events.events.k8s.io: create update patch
    pods: get list watch delete
    pods/status: update patch
  `,
  "system:controller:disruption-controller": `
    deployments.apps, deployments.extensions, poddisruptionbudgets.policy, replicasets.apps, replicasets.extensions: get list watch
    replicationcontrollers, statefulsets.apps: get list watch
    deployments.apps/scale, deployments.extensions/scale, replicasets.apps/scale, replicasets.extensions/scale: get
    replicationcontrollers.extensions/scale, replicationcontrollers/scale, statefulsets.apps/scale, things.example.com/scale: get
    events, events.events.k8s.io: create update patch
    poddisruptionbudgets.policy/status: update
    pods/status: update patch
  `,
  "system:controller:endpoint-controller": `
    endpoints: get list watch create update delete
    endpoints/restricted: create
    events, events.events.k8s.io: create update patch
    pods, services: get list watch
  `,
  "system:controller:endpointslice-controller": `
    endpointslices.discovery.k8s.io: get list watch create update delete
    events, events.events.k8s.io: create update patch
    nodes, pods, services: get list watch
    services/finalizers: update
  `,
  "system:controller:endpointslicemirroring-controller": `
    endpoints, services: get list watch
    endpoints/finalizers, services/finalizers: update
    endpointslices.discovery.k8s.io: get list watch create update delete
    events, events.events.k8s.io: create update patch
  `,
  "system:controller:ephemeral-volume-controller": `
    events, events.events.k8s.io: create update patch
    persistentvolumeclaims: get list watch create
    pods: get list watch
    pods/finalizers: update
  `,
  "system:controller:expand-controller": `
    events, events.events.k8s.io: create update patch
    persistentvolumeclaims: get list watch
    persistentvolumeclaims/status: update patch
    persistentvolumes: get list watch update patch
  `,
  "system:controller:generic-garbage-collector": `
    *: get list watch update patch delete
    events, events.events.k8s.io: create
  `,
  "system:controller:horizontal-pod-autoscaler": `
    deployments.apps/scale, deployments.extensions/scale, replicasets.apps/scale, replicasets.extensions/scale: get update
    replicationcontrollers.extensions/scale, replicationcontrollers/scale, statefulsets.apps/scale, things.example.com/scale: get update
    events, events.events.k8s.io: create update patch
    horizontalpodautoscalers.autoscaling, things.custom.metrics.k8s.io, things.external.metrics.k8s.io: get list watch
    horizontalpodautoscalers.autoscaling/status: update
    pods, pods.metrics.k8s.io: list watch
  `,
  "system:controller:job-controller": `
    events, events.events.k8s.io: create update patch
    jobs.batch: get list watch update patch
    jobs.batch/finalizers, jobs.batch/status: update
    pods: list watch create patch delete
  `,
  "system:controller:legacy-service-account-token-cleaner": `
    configmaps kube-apiserver-legacy-service-account-token-tracking: get
    secrets: patch delete
  `,
  "system:controller:namespace-controller": `
    *: get list watch delete deletecollection
    namespaces/finalize, namespaces/status: update
  `,
  "system:controller:node-controller": `
    events, events.events.k8s.io: create update patch
    nodes: get list watch update patch delete
    nodes/status, pods/status: update patch
    pods: get list watch delete
  `,
  "system:controller:persistent-volume-binder": `
    events: watch create update patch
    events.events.k8s.io: create update patch
    nodes: list watch
    persistentvolumeclaims: get list watch update
    persistentvolumeclaims/status, persistentvolumes/status: update
    persistentvolumes: get list watch create update delete
    pods: get list watch create delete
    storageclasses.storage.k8s.io: get list watch
  `,
  "system:controller:pod-garbage-collector": `
    nodes: get list watch
    pods: list watch delete
    pods/status: patch
  `,
  "system:controller:pv-protection-controller": `
    events, events.events.k8s.io: create update patch
    persistentvolumes: get list watch update
  `,
  "system:controller:pvc-protection-controller": `
    events, events.events.k8s.io: create update patch
    persistentvolumeclaims: get list watch update
    persistentvolumeclaims/status: update
    pods: get list watch
  `,
  "system:controller:replicaset-controller": `
    events, events.events.k8s.io: create update patch
    pods: list watch create patch delete
    replicasets.apps, replicasets.extensions: get list watch update
    replicasets.apps/finalizers, replicasets.apps/status, replicasets.extensions/finalizers, replicasets.extensions/status: update
  `,
  "system:controller:replication-controller": `
    events, events.events.k8s.io: create update patch
    pods: list watch create patch delete
    replicationcontrollers: get list watch update
    replicationcontrollers/finalizers, replicationcontrollers/status: update
  `,
  "system:controller:resource-claim-controller": `
    events, events.events.k8s.io: create update patch
    pods: get list watch
    pods/finalizers: update
    pods/status, resourceclaims.resource.k8s.io/binding, resourceclaims.resource.k8s.io/status: update patch
    resourceclaims.resource.k8s.io: get list watch create update patch delete
  `,
  "system:controller:resourcequota-controller": `
    *: list watch
    events, events.events.k8s.io: create update patch
    resourcequotas/status: update
  `,
  "system:controller:root-ca-cert-publisher": `
    configmaps: create update
    events, events.events.k8s.io: create update patch
  `,
  "system:controller:route-controller": `
    events, events.events.k8s.io: create update patch
    nodes: list watch
    nodes/status: patch
  `,
  "system:controller:selinux-warning-controller": `
    csidrivers.storage.k8s.io, persistentvolumeclaims, persistentvolumes, pods: get list watch
    events, events.events.k8s.io: create update patch
  `,
  "system:controller:service-account-controller": `
    events, events.events.k8s.io: create update patch
    serviceaccounts: create
  `,
  "system:controller:service-cidrs-controller": `
    events, events.events.k8s.io: create update patch
    ipaddresses.networking.k8s.io: get list watch
    servicecidrs.networking.k8s.io: get list watch update patch
    servicecidrs.networking.k8s.io/finalizers, servicecidrs.networking.k8s.io/status: update patch
  `,
  "system:controller:service-controller": `
    events, events.events.k8s.io: create update patch
    ingresses.networking.k8s.io, nodes, pods: list watch
    services: get list watch
    services/status: update patch
  `,
  "system:controller:statefulset-controller": `
    controllerrevisions.apps, pods: get list watch create update patch delete
    events, events.events.k8s.io: create update patch
    persistentvolumeclaims: get list watch create update delete
    pods/finalizers, statefulsets.apps/finalizers, statefulsets.apps/status: update
    statefulsets.apps: get list watch
  `,
  "system:controller:ttl-after-finished-controller": `
    events, events.events.k8s.io: create update patch
    jobs.batch: get list watch delete
  `,
  "system:controller:ttl-controller": `
    events, events.events.k8s.io: create update patch
    nodes: list watch update patch
  `,
  "system:controller:validatingadmissionpolicy-status-controller": `
    events, events.events.k8s.io: create update patch
    validatingadmissionpolicies.admissionregistration.k8s.io: get list watch
    validatingadmissionpolicies.admissionregistration.k8s.io/status: get update patch
  `,
  "system:controller:volumeattributesclass-protection-controller": `
    events, events.events.k8s.io: create update patch
    persistentvolumeclaims, persistentvolumes: get list watch
    volumeattributesclasses.storage.k8s.io: get list watch update
  `,
  "system:discovery": "/api, /api/any, /apis, /apis/any, /healthz, /livez, /openapi, /openapi/any, /readyz, /version, /version/: get",
  "system:heapster": "deployments.extensions, events, namespaces, nodes, pods: get list watch",
  "system:k8ts-ingress": `
    endpointslices.discovery.k8s.io, secrets, services: list watch
    events, events.events.k8s.io: create update patch
    ingressclasses.networking.k8s.io: get list watch create
    ingresses.networking.k8s.io: get list watch
    ingresses.networking.k8s.io/status: update patch
  `,
  "system:kube-aggregator": "endpoints, services: get list watch",
  "system:kube-controller-manager": `
    *: list watch
    configmaps, namespaces: get
    events, events.events.k8s.io: create update patch
    leases.coordination.k8s.io, serviceaccounts/token, subjectaccessreviews.authorization.k8s.io, tokenreviews.authentication.k8s.io: create
    leases.coordination.k8s.io kube-controller-manager, serviceaccounts: get create update
    secrets: get create update delete
  `,
  "system:kube-dns": "endpoints, services: list watch",
  "system:kube-scheduler": `
    bindings, leases.coordination.k8s.io, pods/binding, subjectaccessreviews.authorization.k8s.io: create
    tokenreviews.authentication.k8s.io: create
    csidrivers.storage.k8s.io, csinodes.storage.k8s.io, csistoragecapacities.storage.k8s.io, deviceclasses.resource.k8s.io: get list watch
    namespaces, nodes, persistentvolumeclaims, persistentvolumes, poddisruptionbudgets.policy, replicasets.apps: get list watch
    replicasets.extensions, replicationcontrollers, resourceslices.resource.k8s.io, services, statefulsets.apps: get list watch
    volumeattachments.storage.k8s.io: get list watch
    events, events.events.k8s.io: create update patch
    leasecandidates.coordination.k8s.io: get list watch create update patch delete deletecollection
    leases.coordination.k8s.io kube-scheduler: get list watch create update
    pods: get list watch delete
    pods/finalizers: update
    pods/status, resourceclaims.resource.k8s.io/binding: update patch
    resourceclaims.resource.k8s.io: get list watch create update patch delete
    resourceclaims.resource.k8s.io/status: get list watch update patch
  `,
  "system:kubelet-api-admin": `
    nodes: get list watch proxy
    nodes/configz, nodes/healthz, nodes/log, nodes/metrics, nodes/pods, nodes/proxy, nodes/stats: *
  `,
  "system:monitoring": `
    nodes/metrics: get
    /flagz, /healthz, /healthz/any, /livez, /livez/any, /metrics, /metrics/slis, /readyz, /readyz/any, /statusz: get
  `,
  "system:node": `
    certificatesigningrequests.certificates.k8s.io: get list watch create
    configmaps, csidrivers.storage.k8s.io, runtimeclasses.node.k8s.io, secrets, services: get list watch
    csinodes.storage.k8s.io, leases.coordination.k8s.io: get create update patch delete
    endpoints, persistentvolumeclaims, persistentvolumes, resourceclaims.resource.k8s.io, serviceaccounts: get
    volumeattachments.storage.k8s.io: get
    events, events.events.k8s.io: create update patch
    localsubjectaccessreviews.authorization.k8s.io, pods/eviction, serviceaccounts/token, subjectaccessreviews.authorization.k8s.io: create
    tokenreviews.authentication.k8s.io: create
    nodes: get list watch create update patch
    nodes/status, pods/status: update patch
    persistentvolumeclaims/status: get update patch
    pods: get list watch create delete
    resourceslices.resource.k8s.io: deletecollection
  `,
  "system:node-bootstrapper": "certificatesigningrequests.certificates.k8s.io: get list watch create",
  "system:node-problem-detector": `
    events, events.events.k8s.io: create update patch
    nodes: get
    nodes/status: patch
  `,
  "system:node-proxier": `
    endpoints, endpointslices.discovery.k8s.io, servicecidrs.networking.k8s.io, services: list watch
    events, events.events.k8s.io: create update patch
    nodes: get list watch
  `,
  "system:persistent-volume-provisioner": `
    events: watch create update patch
    events.events.k8s.io: create update patch
    persistentvolumeclaims: get list watch update
    persistentvolumes: get list watch create delete
    storageclasses.storage.k8s.io: get list watch
  `,
  "system:public-info-viewer": "/healthz, /livez, /readyz, /version, /version/: get",
  "system:service-account-issuer-discovery": `
    /.well-known/openid-configuration, /.well-known/openid-configuration/, /openid/v1/jwks, /openid/v1/jwks/: get
  `,
  "system:volume-scheduler": `
    persistentvolumeclaims, persistentvolumes: get list watch update patch
    storageclasses.storage.k8s.io: get list watch
  `,
  view: `
    nodes.metrics.k8s.io, pods.metrics.k8s.io: get list watch
    bindings, configmaps, controllerrevisions.apps, cronjobs.batch, cronjobs.batch/status, daemonsets.apps: get list watch
    daemonsets.apps/status, daemonsets.extensions, daemonsets.extensions/status, deployments.apps, deployments.apps/scale: get list watch
    deployments.apps/status, deployments.extensions, deployments.extensions/scale, deployments.extensions/status, endpoints: get list watch
    endpointslices.discovery.k8s.io, events, events.events.k8s.io, horizontalpodautoscalers.autoscaling: get list watch
    horizontalpodautoscalers.autoscaling/status, ingresses.extensions, ingresses.extensions/status: get list watch
    ingresses.networking.k8s.io, ingresses.networking.k8s.io/status, jobs.batch, jobs.batch/status, limitranges, namespaces: get list watch
    namespaces/status, networkpolicies.extensions, networkpolicies.networking.k8s.io, persistentvolumeclaims: get list watch
    persistentvolumeclaims/status, poddisruptionbudgets.policy, poddisruptionbudgets.policy/status, pods, pods/log: get list watch
    pods/status, replicasets.apps, replicasets.apps/scale, replicasets.apps/status, replicasets.extensions: get list watch
    replicasets.extensions/scale, replicasets.extensions/status, replicationcontrollers: get list watch
    replicationcontrollers.extensions/scale, replicationcontrollers/scale, replicationcontrollers/status: get list watch
    resourceclaims.resource.k8s.io, resourceclaims.resource.k8s.io/status, resourceclaimtemplates.resource.k8s.io: get list watch
    resourcequotas, resourcequotas/status, serviceaccounts, services, services/status, statefulsets.apps: get list watch
    statefulsets.apps/scale, statefulsets.apps/status: get list watch
  `,
};

/** Bound in their namespace. */
export const ROLES: Readonly<Record<string, string>> = {
  "kube-public/kubeadm:bootstrap-signer-clusterinfo": "configmaps cluster-info: get",
  "kube-public/system:controller:bootstrap-signer": `
    configmaps: get list watch
    configmaps cluster-info: get list watch update
    events, events.events.k8s.io: create update patch
  `,
  "kube-system/extension-apiserver-authentication-reader": "configmaps extension-apiserver-authentication: get list watch",
  "kube-system/system::leader-locking-kube-controller-manager": `
    leasecandidates.coordination.k8s.io, leases.coordination.k8s.io: get list watch create update
  `,
  "kube-system/system::leader-locking-kube-scheduler": `
    leasecandidates.coordination.k8s.io, leases.coordination.k8s.io: get list watch create update
  `,
  "kube-system/system:controller:bootstrap-signer": "secrets: get list watch",
  "kube-system/system:controller:cloud-provider": "configmaps: get list watch create",
  "kube-system/system:controller:token-cleaner": `
    events, events.events.k8s.io: create update patch
    secrets: get list watch delete
  `,
};

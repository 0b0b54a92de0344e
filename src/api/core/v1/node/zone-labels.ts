/** Labels of nodes and volumes for their zone and region, and those before Kubernetes 1.17. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";
export const REGION_LABEL = "topology.kubernetes.io/region";
export const ZONE_LABEL_BETA = "failure-domain.beta.kubernetes.io/zone";
export const REGION_LABEL_BETA = "failure-domain.beta.kubernetes.io/region";

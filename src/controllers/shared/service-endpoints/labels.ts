/** What is written on Endpoints and EndpointSlices for those who look for them, in upstream's words. */

/** On a slice: the Service that it is of. */
export const SERVICE_NAME = "kubernetes.io/service-name";
/** On a slice: who writes it. Whoever finds another name there leaves it alone. */
export const SLICE_MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** On both: the Service has no address of its own. */
export const HEADLESS = "service.kubernetes.io/headless";
/** An annotation: when that happened because of which it was written. From it, proxies know how late they are. */
export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";
/** An annotation: older programs elect their leader with Endpoints, which belong to no Service. */
export const LEADER = "control-plane.alpha.kubernetes.io/leader";

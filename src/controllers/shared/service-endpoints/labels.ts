/** Labels and annotations of Endpoints and EndpointSlices, as upstream's. */

/** On a slice: its Service. */
export const SERVICE_NAME = "kubernetes.io/service-name";
/** On a slice: its manager. Slices with another value are ignored. */
export const SLICE_MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** On both: the Service is headless. */
export const HEADLESS = "service.kubernetes.io/headless";
/** An annotation: time of the triggering change. Proxies compute their latency from it. */
export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";
/** An annotation: Endpoints used for leader election by older programs, which belong to no Service. */
export const LEADER = "control-plane.alpha.kubernetes.io/leader";

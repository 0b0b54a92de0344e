/**
 * Every built-in kind. Discovery lists groups in the order in which they first occur here, and that is upstream's order, which clients use
 * when a short name could mean several kinds. So: groups in upstream's order (core first), kinds of one group by their plural name, and a
 * kind that two groups serve with the second of them.
 */
import { deployments } from "./apps/v1/deployment.ts";
import { replicaSets } from "./apps/v1/replica-set.ts";
import { subjectAccessReviews } from "./authorization.k8s.io/v1/subject-access-review.ts";
import { horizontalPodAutoscalers } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { leases } from "./coordination.k8s.io/v1/lease.ts";
import { configMaps } from "./core/v1/config-map.ts";
import { events } from "./core/v1/event.ts";
import { namespaces } from "./core/v1/namespace.ts";
import { nodes } from "./core/v1/node.ts";
import { pods } from "./core/v1/pod.ts";
import { secrets } from "./core/v1/secret.ts";
import { services } from "./core/v1/service.ts";
import type { Resource } from "./machinery/resource.ts";

export const all: readonly Resource[] = [
  // core
  configMaps,
  namespaces,
  nodes,
  pods,
  secrets,
  services,
  // apps
  deployments,
  replicaSets,
  // events.k8s.io, and core
  events,
  // authorization.k8s.io
  subjectAccessReviews,
  // autoscaling
  horizontalPodAutoscalers,
  // coordination.k8s.io
  leases,
];

/** The bootstrap steps in order: namespaces before their contents, IP ranges before the first allocation. */
import type { BootstrapStep } from "./bootstrap.ts";
import { clusterInfoAccess } from "./cluster-info.ts";
import { extensionAuthentication } from "./extension-authentication.ts";
import { flowControl } from "./flow-control.ts";
import { kubernetesService } from "./kubernetes-service.ts";
import { legacyTokenTracking } from "./legacy-token-tracking.ts";
import { namespaces } from "./namespaces.ts";
import { policy } from "./policy/policy.ts";
import { priorityClasses } from "./priority-classes.ts";
import { serviceCidr } from "./service-cidr.ts";

export const all: readonly BootstrapStep[] = [
  namespaces,
  policy,
  clusterInfoAccess,
  extensionAuthentication,
  legacyTokenTracking,
  flowControl,
  priorityClasses,
  serviceCidr,
  { hook: "start-service-ip-repair-controllers", make: async ({ server }) => server.extension("", "services")?.repair?.(), keeps: [] },
  kubernetesService,
];

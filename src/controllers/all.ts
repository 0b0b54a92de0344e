/**
 * Every controller, in the order of upstream's list. One more is its folder and one line here. Those that need to know something of the
 * cluster are functions of their settings.
 */
import { clusterRoleAggregationController } from "./cluster-role-aggregation/cluster-role-aggregation-controller.ts";
import { resourceQuotaController } from "./resource-quota/resource-quota-controller.ts";
import {
  rootCaCertificatePublisherController,
  type RootCaSettings,
} from "./root-ca-certificate-publisher/root-ca-certificate-publisher-controller.ts";
import type { Controller } from "./runtime/controller.ts";
import { serviceAccountController } from "./service-account/service-account-controller.ts";

/** What the controllers of a cluster must be told; what can be left out has upstream's default. */
export type ControllerSettings = RootCaSettings;

export function all(settings: ControllerSettings): readonly Controller[] {
  return [
    resourceQuotaController,
    serviceAccountController,
    clusterRoleAggregationController,
    rootCaCertificatePublisherController(settings),
  ];
}

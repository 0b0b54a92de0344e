/** Explainers in the order of asking: the first that recognizes the situation of an object explains it. Deletion comes before everything. */
import { apiService } from "./api-service.ts";
import { autoscaler } from "./autoscaler.ts";
import { certificateRequest } from "./access/certificate-request.ts";
import { claim } from "./claim.ts";
import { conditions } from "./conditions.ts";
import { disruptionBudget } from "./disruption-budget.ts";
import { dnsName } from "./dns-name.ts";
import type { Explainer } from "./explainer.ts";
import { ingress } from "./ingress.ts";
import { job } from "./job.ts";
import { node } from "./node.ts";
import { podContainers } from "./pod-containers.ts";
import { podUnscheduled } from "./pod-unscheduled.ts";
import { request } from "./access/request.ts";
import { resourceClaim } from "./resource-claim.ts";
import { roleBinding } from "./access/role-binding.ts";
import { service } from "./service.ts";
import { terminating } from "./terminating.ts";
import { volume } from "./volume.ts";
import { webhookService } from "./webhook-service.ts";
import { workload } from "./workload.ts";

export const all: readonly Explainer[] = [
  terminating,
  podUnscheduled,
  podContainers,
  workload,
  job,
  service,
  claim,
  volume,
  node,
  ingress,
  dnsName,
  request,
  autoscaler,
  disruptionBudget,
  apiService,
  resourceClaim,
  certificateRequest,
  roleBinding,
  webhookService,
  conditions,
];

/** Metrics of the ResourceClaim controller, with upstream's names and labels. */
import type { ResourceClaim } from "../../api/generated/resource.k8s.io/v1.ts";
import type { CounterDefinition, GaugeDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import type { Change } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { ObjectCounts } from "../shared/object-counts.ts";
import { POD_CLAIM_ANNOTATION } from "./generated-claim.ts";

const CREATES: CounterDefinition = {
  type: "counter",
  name: "resourceclaim_controller_creates_total",
  help: "Number of requests to create a ResourceClaim, by result and admin access",
};
const CLAIMS: GaugeDefinition = {
  type: "gauge",
  name: "resourceclaim_controller_resource_claims",
  help: "Number of ResourceClaims, by allocation, admin access and source: a template, an extended resource, or empty for those of users",
};

/** On claims that the scheduler creates for extended resources. */
const EXTENDED_CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim";

/** Per run of the controller. */
const counts = new WeakMap<MetricSet, ObjectCounts>();

export function countClaim({ is, object }: Change<ResourceClaim>, metrics: MetricSet): void {
  let counted = counts.get(metrics);
  if (counted === undefined) counts.set(metrics, (counted = new ObjectCounts()));
  counted.set(objectText(object.metadata), is === "deleted" ? [] : [{ definition: CLAIMS, labels: labelsOf(object) }], metrics);
}

export function countCreation(status: "success" | "failure", claim: Pick<ResourceClaim, "spec">, metrics: MetricSet): void {
  metrics.count(CREATES, { status, admin_access: adminAccess(claim) });
}

function labelsOf(claim: ResourceClaim) {
  const allocated = String(claim.status?.allocation !== undefined);
  return { allocated, admin_access: adminAccess(claim), source: sourceOf(claim) };
}

function sourceOf({ metadata: { annotations = {} } }: ResourceClaim): string {
  if (annotations[EXTENDED_CLAIM_ANNOTATION] === "true") return "extended_resource";
  return (annotations[POD_CLAIM_ANNOTATION] ?? "") === "" ? "" : "resource_claim_template";
}

/** Alternatives of a request never have it. */
function adminAccess({ spec }: Pick<ResourceClaim, "spec">): string {
  return String(spec.devices?.requests?.some(({ exactly }) => exactly?.adminAccess === true) ?? false);
}

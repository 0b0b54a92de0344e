/**
 * Rejects writes that would exceed the quotas of their namespace. Equivalent to upstream's plugin of this name, and exact: see
 * quota-charger.ts. Usage of objects is computed in api/core/v1/resource-quota.
 */
import type { ResourceQuota } from "../../../api/generated/core/v1.ts";
import type { QuotaWrite } from "../../../api/core/v1/resource-quota/evaluator.ts";
import { evaluatorOf, isNeverCounted } from "../../../api/core/v1/resource-quota/evaluators.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { ByNamespace } from "../../shared/by-namespace.ts";
import { QUOTAS } from "./quota-usage.ts";
import { QuotaCharger } from "./quota-charger.ts";

/** Subresources that write an object of the resource; all others are actions on it. */
const WRITTEN = ["", "status", "resize"];

export function resourceQuota(dependencies: AdmissionDependencies): AdmissionPlugin {
  const quotas = new ByNamespace<ResourceQuota>();
  const charger = new QuotaCharger(dependencies, quotas);
  return {
    name: "ResourceQuota",
    start: () => dependencies.objects.follow(QUOTAS, quotas),

    validate(request) {
      if (quotas.of(request.namespace).length === 0 || !isCountable(request)) return undefined;
      const { group, plural } = request.endpoint.name;
      const evaluator = evaluatorOf(group, plural);
      const write = writeOf(request);
      return evaluator.handles(write) ? charger.charge({ request, evaluator, write }) : undefined;
    },
  };
}

function isCountable(request: AdmissionRequest): boolean {
  const { operation, subresource, namespace, endpoint } = request;
  if ((operation !== "CREATE" && operation !== "UPDATE") || namespace === "" || !WRITTEN.includes(subresource)) return false;
  return endpoint.resource.stored && endpoint.resource.scope === "Namespaced" && !isNeverCounted(endpoint.name);
}

function writeOf({ operation, subresource, endpoint, object, oldObject }: AdmissionRequest): QuotaWrite {
  const stored = (value: KubeObject) => endpoint.served.toStorage?.(value) ?? value;
  return {
    operation,
    subresource,
    object: stored(object as KubeObject),
    ...(oldObject === undefined ? {} : { oldObject: stored(oldObject) }),
  };
}

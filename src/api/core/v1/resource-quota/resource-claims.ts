/**
 * Usage of ResourceClaims: their number and devices, by device class. Containers can also request a class, as an extended resource or by
 * its own name; a claim that was created for such a Pod uses only what the Pod does not use already.
 */
import type { Pod } from "../../../generated/core/v1.ts";
import type { DeviceRequest, ResourceClaim } from "../../../generated/resource.k8s.io/v1.ts";
import { addQuantities, quantityOf, type Quantity } from "../../../machinery/quantity.ts";
import { parseTime } from "../../../machinery/time.ts";
import { excessOf, ONE, type Amounts } from "./amounts.ts";
import { countName, type QuotaEvaluator, type QuotaSurroundings } from "./evaluator.ts";
import { DEVICE_CLASS_PREFIX, isExtendedName, podUsage } from "./pods.ts";

const COUNT = countName("resource.k8s.io", "resourceclaims");
const OF_CLASS = ".deviceclass.resource.k8s.io/devices";
const REQUESTS = "requests.";
const MADE_FOR_POD = "resource.kubernetes.io/extended-resource-claim";
/** Count of "all devices": the maximum of a claim. */
const DEVICES_MAX = 32;

export const resourceClaimEvaluator: QuotaEvaluator = {
  group: "resource.k8s.io",
  plural: "resourceclaims",
  handles: ({ operation, subresource }) => subresource === "" && (operation === "CREATE" || operation === "UPDATE"),
  namesAmong: (hard, surroundings) =>
    [...hard].filter((name) => name === COUNT || name.endsWith(OF_CLASS) || isOfClass(name, surroundings)),
  usageOf: (object, surroundings) => usageOf(object as ResourceClaim, surroundings),
};

/** Quota name of a device class that containers request. */
function isOfClass(name: string, { deviceClasses }: QuotaSurroundings): boolean {
  if (!isExtendedName(name)) return false;
  const resource = name.slice(REQUESTS.length);
  return deviceClasses.some(
    ({ metadata, spec }) => resource === spec.extendedResourceName || resource === DEVICE_CLASS_PREFIX + metadata.name,
  );
}

function usageOf(claim: ResourceClaim, surroundings: QuotaSurroundings): Amounts {
  const devices = new Map<string, Quantity>();
  for (const request of claim.spec.devices?.requests ?? []) {
    for (const [deviceClass, count] of mostDevicesOf(request)) {
      devices.set(deviceClass, addQuantities(devices.get(deviceClass) ?? quantityOf(0), quantityOf(count)));
    }
  }
  const byClass = [...devices].map(([deviceClass, quantity]) => [deviceClass + OF_CLASS, quantity] as const);
  return new Map([[COUNT, ONE], ...byClass, ...byExtendedName(claim, devices, surroundings)]);
}

/** Of alternatives the maximum, per class. */
function mostDevicesOf({ exactly, firstAvailable = [] }: DeviceRequest): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const alternatives = firstAvailable.length > 0 ? firstAvailable : exactly === undefined ? [] : [exactly];
  for (const { deviceClassName, allocationMode, count = 0 } of alternatives) {
    const wanted = allocationMode === "ExactCount" ? count : allocationMode === "All" ? DEVICES_MAX : 0;
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, wanted));
  }
  return most;
}

function byExtendedName(claim: ResourceClaim, devices: Amounts, surroundings: QuotaSurroundings): Amounts {
  const extended = new Map<string, Quantity>();
  for (const [deviceClass, quantity] of devices) {
    if (deviceClass === "") continue;
    extended.set(REQUESTS + DEVICE_CLASS_PREFIX + deviceClass, quantity);
    const found = surroundings.deviceClasses.find(({ metadata }) => metadata.name === deviceClass);
    const { extendedResourceName = "" } = found?.spec ?? {};
    if (extendedResourceName !== "") extended.set(REQUESTS + extendedResourceName, quantity);
  }
  const pod = podOf(claim, surroundings);
  return excessOf(extended, pod === undefined ? new Map() : podUsage(pod, surroundings.nowMs));
}

/** The Pod of this claim, if the Pod's status agrees: only its one claim is covered by its requests. */
function podOf(claim: ResourceClaim, surroundings: QuotaSurroundings): Pod | undefined {
  const owner = ownerOf(claim);
  if (owner === undefined) return undefined;
  const pod = surroundings.podOf(owner.name);
  if (pod?.metadata.uid !== owner.uid) return undefined;
  const named = pod.status?.extendedResourceClaimStatus;
  if (named !== undefined) return named.resourceClaimName === claim.metadata.name ? pod : undefined;
  const others = surroundings.claims.filter((other) => ownerOf(other)?.uid === owner.uid);
  return others.some((other) => isEarlier(other, claim)) ? undefined : pod;
}

function ownerOf({ metadata }: ResourceClaim) {
  if (metadata.annotations?.[MADE_FOR_POD] !== "true") return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === "Pod" && owner.apiVersion === "v1" ? owner : undefined;
}

/** Of the same second the first by name. */
function isEarlier(a: ResourceClaim, b: ResourceClaim): boolean {
  const [left, right] = [a, b].map(({ metadata }) => parseTime(metadata.creationTimestamp ?? "") ?? -Infinity) as [number, number];
  return left < right || (left === right && a.metadata.name < b.metadata.name);
}

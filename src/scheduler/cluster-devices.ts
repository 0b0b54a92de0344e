/** Objects of dynamic resource allocation for plugins, from the scheduler's informers. */
import type { DeviceClass } from "../api/generated/resource.k8s.io/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { deviceClasses } from "../api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceSlices } from "../api/resource.k8s.io/v1/resource-slice.ts";
import { defineIndex } from "../client/informer/index.ts";
import type { Informer, Informers } from "../client/informer/informer.ts";
import type { DeviceView, ObjectListener } from "./framework/device-view.ts";

/** Every class stands for an extended resource of this prefix and its name. */
const CLASS_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/";

const claimsByPod = defineIndex(resourceClaims, ({ metadata }) =>
  (metadata.ownerReferences ?? []).flatMap(({ kind, uid, controller }) => (kind === "Pod" && controller === true ? [uid] : [])),
);
const classesByResource = defineIndex(deviceClasses, ({ spec }) =>
  spec.extendedResourceName === undefined ? [] : [spec.extendedResourceName],
);

/** Starts the informers; resolves when all are synced. */
export async function watchDevices(informers: Informers, signal: AbortSignal): Promise<DeviceView> {
  const [claims, classes, slices] = [informers.of(resourceClaims), informers.of(deviceClasses), informers.of(resourceSlices)] as const;
  await Promise.all([claims.synced(signal), classes.synced(signal), slices.synced(signal)]);
  return {
    claim: (namespace, name) => claims.get({ namespace, name }),
    claimsOfPod: (uid) => claims.indexed(claimsByPod, uid),
    deviceClass: (name) => classes.get({ name }),
    classOfResource(resourceName) {
      if (resourceName.startsWith(CLASS_RESOURCE_PREFIX)) return classes.get({ name: resourceName.slice(CLASS_RESOURCE_PREFIX.length) });
      return newest(classes.indexed(classesByResource, resourceName));
    },
    onClaims: (listener) => listen(claims, listener),
    onSlices: (listener) => listen(slices, listener),
  };
}

/** Several classes have the name only while users migrate to a newer one. Of equal age, the first by name. */
function newest(classes: readonly DeviceClass[]): DeviceClass | undefined {
  const ageOf = ({ metadata }: DeviceClass): string => metadata.creationTimestamp ?? "";
  return classes.reduce<DeviceClass | undefined>(
    (best, each) => (best === undefined || ageOf(each) > ageOf(best) ? each : best),
    undefined,
  );
}

function listen<T extends KubeObject>(informer: Informer<T>, { changed, deleted }: ObjectListener<T>): void {
  informer.listen({ added: (object) => changed(object, undefined), updated: changed, deleted });
}

/**
 * Mirrors custom Endpoints into EndpointSlices, so that proxies need only read those. A Service with a selector already has slices, and
 * authors of their own slices opt out by a label on the Endpoints. The slices are deleted when the Endpoints or the Service are, or when
 * they are no longer to be mirrored. Not here: Services with a selector (controllers/endpoint-slice).
 */
import { endpoints } from "../../api/core/v1/endpoints.ts";
import { services } from "../../api/core/v1/service.ts";
import { selectorOf } from "../../api/core/v1/service/backends.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Endpoints, Service } from "../../api/generated/core/v1.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { LEADER } from "../shared/service-endpoints/labels.ts";
import { slicesManagedBy, writeSlices } from "../shared/service-endpoints/slices.ts";
import { MIRROR_MANAGER, planMirror, type MirrorPlan } from "./mirrored-slices.ts";

export interface MirroringSettings {
  /** --mirroring-max-endpoints-per-subset, 1 to 1000: maximum mirrored addresses per subset. Default: 1000, the maximum of a slice. */
  readonly maxEndpointsPerSubset?: number;
}

const ENDPOINTS_PER_SUBSET = 1000;
/** Opt-out label of Endpoints. */
const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";

const managedSlices = slicesManagedBy(MIRROR_MANAGER);

export function endpointSliceMirroringController({ maxEndpointsPerSubset = ENDPOINTS_PER_SUBSET }: MirroringSettings = {}): Controller {
  return defineController({
    name: "endpointslice-mirroring-controller",
    aliases: ["endpointslicemirroring"],
    account: "endpointslicemirroring-controller",
    component: "endpoint-slice-mirroring-controller",
    rules: [
      { apiGroups: [""], resources: ["services", "endpoints"], verbs: ["get", "list", "watch"] },
      // Slices set blockOwnerDeletion, which requires permission to finalize the owner.
      { apiGroups: [""], resources: ["endpoints/finalizers"], verbs: ["update"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(endpoints, mirroredEndpoints), watch(services, servicesWithoutSelector), watch(endpointSlices, managedSlices.keys)],
    reconcile: (key, pass) => reconcile(key, pass, maxEndpointsPerSubset),
  });
}

function* mirroredEndpoints({ object, previous }: Change<Endpoints>): Iterable<WorkKey> {
  if (isMirrored(object) || (previous !== undefined && isMirrored(previous))) yield keyOf(object);
}

function isMirrored({ metadata: { labels, annotations } }: Endpoints): boolean {
  return labels?.[SKIP_MIRROR] !== "true" && annotations?.[LEADER] === undefined;
}

/** Nothing else of a Service matters. */
function* servicesWithoutSelector({ object, previous }: Change<Service>): Iterable<WorkKey> {
  const has = selectorOf(object) !== undefined;
  const had = previous === undefined ? undefined : selectorOf(previous) !== undefined;
  if (had === undefined ? !has : has !== had) yield keyOf(object);
}

async function reconcile(key: WorkKey, pass: Pass, maxEndpointsPerSubset: number): Promise<Outcome> {
  const existing = managedSlices.of(key, pass.read);
  const source = sourceOf(key, pass.read);
  if (source === undefined) {
    await writeSlices({ create: [], update: [], remove: existing }, pass);
    return onChange;
  }
  const plan = planMirror({ endpoints: source, existing, maxEndpointsPerSubset });
  report(source, plan, maxEndpointsPerSubset, pass);
  await writeSlices(plan, pass);
  return onChange;
}

/** Undefined if there is nothing to mirror. */
function sourceOf(key: WorkKey, read: Reader): Endpoints | undefined {
  const source = read.get(endpoints, key);
  if (source === undefined || !isMirrored(source)) return undefined;
  const service = read.get(services, key);
  return service === undefined || selectorOf(service) !== undefined ? undefined : source;
}

function report(source: Endpoints, { invalid, skipped }: MirrorPlan, max: number, { events }: Pass): void {
  if (invalid > 0) {
    const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    events.record(source, { type: "Warning", reason: "InvalidIPAddress", message });
  }
  if (skipped > invalid) {
    const message = `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    events.record(source, { type: "Warning", reason: "TooManyAddressesToMirror", message });
  }
}

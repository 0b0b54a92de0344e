/**
 * Maintains the EndpointSlices of every Service with a selector: in each address family, the addresses and ports of the selected Pods, at
 * most a hundred per slice, with as few writes as possible (slice-packing.ts). No state is required: lost, modified or stale slices are
 * repaired when observed. Not here: deleting slices of deleted Services (garbage collector, by their owner), Services without a selector
 * (controllers/endpoint-slice-mirroring), the slice of the API servers themselves (apiserver/bootstrap).
 */
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Node, Pod, Service } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import { familiesOf, followsPods, selectorOf, selects } from "../../api/core/v1/service/backends.ts";
import type { IpFamily } from "../../api/core/v1/service/validate-cluster-ips.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
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
import { itself, keyOf, keyText } from "../runtime/keys.ts";
import { messageOf } from "../shared/pod-control.ts";
import { servicesOfPod } from "../shared/service-endpoints/keys.ts";
import { slicesManagedBy, writeSlices, type SlicePlan } from "../shared/service-endpoints/slices.ts";
import { ZONE_LABEL } from "./desired-endpoints.ts";
import { hasTopologyMode } from "./hints.ts";
import { countsAfter, recordChanges, recordSync, SliceCounts } from "./slice-metrics.ts";
import { planFamily, SLICE_MANAGER, type FamilyPlan } from "./slice-plan.ts";
import { sameShare, zoneShares } from "./zone-shares.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

export interface EndpointSliceSettings {
  /** --max-endpoints-per-slice, 1 to 1000: larger slices are fewer, but each is sent to every node as a whole. Default: 100. */
  readonly maxEndpointsPerSlice?: number;
}

const ENDPOINTS_PER_SLICE = 100;

const managedSlices = slicesManagedBy(SLICE_MANAGER);
const podsByNode = defineIndex(pods, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
const ENABLED = "Topology Aware Hints has been enabled";
const FAMILIES: readonly IpFamily[] = ["IPv4", "IPv6"];
const TOPOLOGY = "topology";
const servicesByTopologyMode = defineIndex(services, (service) => (hasTopologyMode(service) ? [TOPOLOGY] : []));

export function endpointSliceController({ maxEndpointsPerSlice = ENDPOINTS_PER_SLICE }: EndpointSliceSettings = {}): Controller {
  return defineController({
    name: "endpointslice-controller",
    aliases: ["endpointslice"],
    account: "endpointslice-controller",
    component: "endpoint-slice-controller",
    rules: [
      { apiGroups: [""], resources: ["services", "pods", "nodes"], verbs: ["get", "list", "watch"] },
      // Slices set blockOwnerDeletion, which requires permission to finalize the owner.
      { apiGroups: [""], resources: ["services/finalizers"], verbs: ["update"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
    watches: [watch(services, itself), watch(pods, servicesOfPod), watch(nodes, servicesOfNode), watch(endpointSlices, managedSlices.keys)],
    start() {
      const memory: Memory = { maxEndpointsPerSlice, reported: new Map(), counts: new SliceCounts() };
      return (key, pass) => reconcile(key, pass, memory);
    },
  });
}

/** Services of the Pods on it, if their zone may change; and those with topology hints, if the zone's share may. */
function* servicesOfNode({ object: node, previous }: Change<Node>, read: Reader): Iterable<WorkKey> {
  if (previous === undefined || previous.metadata.labels?.[ZONE_LABEL] !== node.metadata.labels?.[ZONE_LABEL]) {
    for (const pod of read.indexed(podsByNode, node.metadata.name)) yield* servicesOfPod({ is: "added", object: pod }, read);
  }
  if (previous !== undefined && sameShare(previous, node)) return;
  for (const service of read.indexed(servicesByTopologyMode, TOPOLOGY)) yield keyOf(service);
}

interface Memory {
  readonly maxEndpointsPerSlice: number;
  /** Last reported hint state of a Service and family; if lost, it is reported again. Nothing else depends on it. */
  readonly reported: Map<string, string>;
  /** For metrics. */
  readonly counts: SliceCounts;
}

async function reconcile(key: WorkKey, pass: Pass, memory: Memory): Promise<Outcome> {
  const service = pass.read.get(services, key);
  if (service === undefined) for (const family of FAMILIES) memory.reported.delete(hintsKey(key, family));
  if (service === undefined) memory.counts.set(keyText(key), undefined, pass.metrics);
  if (service === undefined || !followsPods(service)) return onChange;

  const existing = managedSlices.of(key, pass.read);
  const plan = planService(service, key, pass.read, memory);
  await writePlan(service, plan, pass);
  recordChanges(plan, existing, pass.metrics);
  memory.counts.set(keyText(key), countsAfter(plan, existing, memory.maxEndpointsPerSlice), pass.metrics);
  for (const event of eventsOf(service, plan.families, memory.reported)) pass.events.record(service, event);
  return onChange; // The node of an omitted Pod triggers a reconciliation when it appears.
}

async function writePlan(service: Service, plan: SlicePlan, pass: Pass): Promise<void> {
  const key = keyText(keyOf(service));
  try {
    await writeSlices(plan, pass, (action, error) => {
      pass.events.record(service, failure(service, `failed to ${action} for Service ${key}: ${messageOf(error)}`));
    });
    recordSync("success", pass.metrics);
  } catch (error) {
    recordSync("error", pass.metrics);
    throw error;
  }
}

interface ServicePlan extends SlicePlan {
  readonly families: readonly FamilyPlan[];
}

function planService(service: Service, key: WorkKey, read: Reader, { maxEndpointsPerSlice }: Memory): ServicePlan {
  const selector = selectorOf(service) ?? {};
  const selected = read.list(pods, key.namespace).filter((pod) => selects(selector, pod.metadata.labels));
  const existing = managedSlices.of(key, read);
  const isOfFamily = (family: string) => (slice: EndpointSlice) => slice.addressType === family;
  const families = familiesOf(service).map((family) =>
    planFamily({
      service,
      family,
      pods: selected,
      existing: existing.filter(isOfFamily(family)),
      maxEndpointsPerSlice,
      node: (name) => read.get(nodes, { name }),
      zoneShares: () => zoneShares(read.list(nodes)),
    }),
  );
  const ofLostFamilies = existing.filter((slice) => !familiesOf(service).some((family) => isOfFamily(family)(slice)));
  return {
    families,
    create: families.flatMap(({ create }) => create),
    update: families.flatMap(({ update }) => update),
    remove: [...families.flatMap(({ remove }) => remove), ...ofLostFamilies],
  };
}

// ── report ──────────────────────────────────────────────────────────────────────────────────────────

function* eventsOf(service: Service, plans: readonly FamilyPlan[], reported: Map<string, string>): Iterable<RecordedEvent> {
  const skipped = new Set(plans.flatMap((plan) => plan.skipped));
  if (skipped.size > 0) yield failure(service, joinedErrors([...skipped].map((pod) => skippedText(service, pod))));
  for (const plan of plans) yield* hintEvents(service, plan, reported);
}

function failure(service: Service, what: string): RecordedEvent {
  const message = `Error updating Endpoint Slices for Service ${keyText(keyOf(service))}: ${what}`;
  return { type: "Warning", reason: "FailedToUpdateEndpointSlices", message };
}

function skippedText(service: Service, { metadata, spec }: Pod): string {
  return `skipping Pod ${metadata.name} for Service ${keyText(keyOf(service))}: Node ${spec?.nodeName ?? ""} Not Found`;
}

/** Reported once per state. */
function* hintEvents(service: Service, { family, hintsRefused }: FamilyPlan, reported: Map<string, string>): Iterable<RecordedEvent> {
  const key = hintsKey(keyOf(service), family);
  const before = reported.get(key);
  const now = hintsRefused ?? (hasTopologyMode(service) ? ENABLED : undefined);
  if (now === before) return;
  if (now === undefined) reported.delete(key);
  else reported.set(key, now);

  if (now === ENABLED) yield { type: "Normal", reason: "TopologyAwareHintsEnabled", message: `${ENABLED}, addressType: ${family}` };
  const loss = now === undefined && before === ENABLED ? "Topology Aware Hints has been disabled" : hintsRefused;
  if (loss !== undefined) yield { type: "Warning", reason: "TopologyAwareHintsDisabled", message: `${loss}, addressType: ${family}` };
}

function hintsKey(key: WorkKey, family: IpFamily): string {
  return `${family} ${keyText(key)}`;
}

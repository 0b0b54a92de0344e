/**
 * Marks ServiceCIDRs as ready, and holds a terminating one with a finalizer while a Service has an address that no other ServiceCIDR
 * contains. Not here: whether that is so (orphaned-addresses.ts).
 */
import type { IPAddress, ServiceCIDR } from "../../api/generated/networking.k8s.io/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { cidrsOverlap } from "../../api/machinery/ip/ip-address.ts";
import { formatTime, parseTime } from "../../api/machinery/time.ts";
import { ipAddresses } from "../../api/networking.k8s.io/v1/ip-address.ts";
import { serviceCidrs } from "../../api/networking.k8s.io/v1/service-cidr.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { isUnprotected, putFinalizer, takeFinalizer, type Protection } from "../shared/protection.ts";
import { cidrsOf, isAddressIn, isRemovable, serviceAddressOf } from "./orphaned-addresses.ts";

const PROTECTION: Protection<ServiceCIDR> = { kind: serviceCidrs, finalizer: "networking.k8s.io/service-cidr-finalizer" };

/** Until every API server has received the deletion and allocates no more addresses from it. */
const DELETION_GRACE_PERIOD_MS = 10_000;

const FIELD_MANAGER = "service-cidr-controller";
const READY = { type: "Ready", status: "True", reason: "", message: "Kubernetes Service CIDR is ready" } as const;
const IN_USE = {
  type: "Ready",
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
} as const;

export const serviceCidrController = defineController({
  name: "service-cidr-controller",
  account: "service-cidrs-controller",
  component: "service-cidr-controller",
  rules: [
    { apiGroups: ["networking.k8s.io"], resources: ["servicecidrs"], verbs: ["update"] },
    { apiGroups: ["networking.k8s.io"], resources: ["servicecidrs/status"], verbs: ["patch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [watch(serviceCidrs, keysOfServiceCidr), watch(ipAddresses, keysOfAddress)],
  reconcile,
});

/** The others that overlap, too: one that waits for its addresses can be removed when another contains them. */
function* keysOfServiceCidr({ is, object }: Change<ServiceCIDR>, read: Reader): Iterable<WorkKey> {
  yield keyOf(object);
  if (is !== "added") return;
  const own = cidrsOf(object);
  for (const other of read.list(serviceCidrs)) {
    if (cidrsOf(other).some((cidr) => own.some((overlapping) => cidrsOverlap(cidr, overlapping)))) yield keyOf(other);
  }
}

/** An address allocated or released may hold or release a ServiceCIDR that is terminating. */
function* keysOfAddress({ is, object }: Change<IPAddress>, read: Reader): Iterable<WorkKey> {
  const address = is === "updated" ? undefined : serviceAddressOf(object);
  if (address === undefined) return;
  for (const found of read.list(serviceCidrs)) {
    if (found.metadata.deletionTimestamp !== undefined && isAddressIn(address, found)) yield keyOf(found);
  }
}

async function reconcile({ name }: WorkKey, pass: Pass): Promise<Outcome> {
  const found = pass.read.get(serviceCidrs, { name });
  if (found === undefined) return onChange;
  if (found.metadata.deletionTimestamp !== undefined) return release(found, pass);
  if (isUnprotected(found, PROTECTION)) await putFinalizer(PROTECTION, found, pass.write);
  try {
    await report(found, READY, pass);
  } catch (error) {
    const message = "The ServiceCIDR Status can not be set to Ready=True";
    pass.events.record(found, { type: "Warning", reason: "KubernetesServiceCIDRError", message });
    throw error;
  }
  return onChange;
}

async function release(found: ServiceCIDR, pass: Pass): Promise<Outcome> {
  const { read, write, clock } = pass;
  if (!found.metadata.finalizers?.includes(PROTECTION.finalizer)) return onChange;
  if (!isRemovable(found, read.list(serviceCidrs), read.list(ipAddresses))) {
    await report(found, IN_USE, pass);
    return onChange;
  }
  const leftMs = (parseTime(found.metadata.deletionTimestamp ?? "") ?? 0) + DELETION_GRACE_PERIOD_MS - clock.now();
  if (leftMs > 0) return after(leftMs);
  await takeFinalizer(PROTECTION, found, write);
  return onChange;
}

async function report({ metadata, status }: ServiceCIDR, wanted: typeof READY | typeof IN_USE, { write, clock }: Pass): Promise<void> {
  const current = findCondition(status?.conditions, wanted.type);
  if (current?.status === wanted.status && current.reason === wanted.reason && current.message === wanted.message) return;
  const conditions = [{ ...wanted, lastTransitionTime: formatTime(clock.now()) }];
  const object = {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: metadata.name },
    status: { conditions },
  } as const;
  await write.apply(serviceCidrs, object, { subresource: "status", fieldManager: FIELD_MANAGER, force: true });
}

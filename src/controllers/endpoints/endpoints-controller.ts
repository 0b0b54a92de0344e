/**
 * Maintains the Endpoints of every Service with a selector: one object of the Service's name with the addresses of the selected Pods. It is
 * deleted with the Service, whichever client wrote it. Not here: EndpointSlices, its successor (controllers/endpoint-slice); Endpoints of
 * Services without a selector, which belong to their authors.
 */
import { endpoints } from "../../api/core/v1/endpoints.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { services } from "../../api/core/v1/service.ts";
import { followsPods, selectorOf, selects } from "../../api/core/v1/service/backends.ts";
import type { Endpoints } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { itself, keyOf, keyText } from "../runtime/keys.ts";
import { messageOf } from "../shared/pod-control.ts";
import { servicesOfPod } from "../shared/service-endpoints/keys.ts";
import { LEADER } from "../shared/service-endpoints/labels.ts";
import { changedEndpoints, MANAGED_BY, MANAGER } from "./desired-endpoints.ts";

export const endpointsController = defineController({
  name: "endpoints-controller",
  aliases: ["endpoint"],
  account: "endpoint-controller",
  rules: [
    { apiGroups: [""], resources: ["services", "pods"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["endpoints"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [watch(services, itself), watch(pods, servicesOfPod), watch(endpoints, ownEndpoints)],
  start({ read }) {
    let isFirst = true;
    return async (key, pass) => {
      if (isFirst) for (const leftover of leftovers(read)) pass.wake(leftover);
      isFirst = false;
      return await reconcile(key, pass);
    };
  },
});

/** Others may write Endpoints before their Service, which are not leftovers: only our own are considered. */
function* ownEndpoints({ is, object, previous }: Change<Endpoints>): Iterable<WorkKey> {
  if (is === "deleted" || isOwn(object) || (previous !== undefined && isOwn(previous))) yield keyOf(object);
}

function isOwn({ metadata }: Endpoints): boolean {
  return metadata.labels?.[MANAGED_BY] === MANAGER;
}

/** Leftovers of Services deleted while the controller was down, also foreign ones; upstream, too, cleans up at startup only. */
function* leftovers(read: Reader): Iterable<WorkKey> {
  for (const object of read.list(endpoints)) if (read.get(services, keyOf(object)) === undefined) yield keyOf(object);
}

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const { read } = pass;
  const service = read.get(services, key);
  const current = read.get(endpoints, key);
  if (service === undefined) {
    if (current !== undefined && !isElection(current) && (await isGone(key, pass))) await remove(current, pass);
    return onChange;
  }
  if (!followsPods(service)) return onChange;

  const selector = selectorOf(service) ?? {};
  const selected = read.list(pods, key.namespace).filter(({ metadata }) => selects(selector, metadata.labels));
  const changed = changedEndpoints(service, selected, current);
  if (changed !== undefined) await put(changed, current, pass);
  return onChange;
}

/** A live read: a Service missing from the cache must not lose its addresses. */
async function isGone(service: WorkKey, { write }: Pass): Promise<boolean> {
  try {
    await write.get(services, service);
    return false;
  } catch (error) {
    if (isReason(error, "NotFound")) return true;
    throw error;
  }
}

/** There never was a Service for it. */
function isElection({ metadata }: Endpoints): boolean {
  return metadata.annotations?.[LEADER] !== undefined;
}

async function remove(current: Endpoints, { write }: Pass): Promise<void> {
  const { uid = "" } = current.metadata;
  try {
    await write.delete(endpoints, keyOf(current), { preconditions: { uid } });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

async function put(changed: Endpoints, current: Endpoints | undefined, { write, events }: Pass): Promise<void> {
  try {
    await (current === undefined ? write.create(endpoints, changed) : write.update(endpoints, changed));
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    // A race is not logged: the next reconciliation decides again.
    if (!isReason(error, "Conflict") && !isReason(error, "AlreadyExists")) {
      const name = keyText(keyOf(changed));
      const failure =
        current === undefined
          ? { reason: "FailedToCreateEndpoint", message: `Failed to create endpoint for service ${name}: ${messageOf(error)}` }
          : { reason: "FailedToUpdateEndpoint", message: `Failed to update endpoint ${name}: ${messageOf(error)}` };
      events.record(changed, { type: "Warning", ...failure });
    }
    throw error;
  }
}

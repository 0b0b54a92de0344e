/**
 * `pods/eviction`: a delete that respects disruption budgets. The Pod's budget is charged before the Pod is deleted, and a condition of the
 * Pod gives the reason.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PodDisruptionBudget } from "../../../api/generated/policy/v1.ts";
import { invalid } from "../../../api/machinery/field-error.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { badRequest, invalidObject, isReason, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { ApiRequest } from "../../framework/request.ts";
import type { ServerContext } from "../../framework/server-context.ts";
import type { DeleteOptions } from "../../framework/storage/delete-options.ts";
import { deleteOptionsErrors } from "../../shared/deletion.ts";
import type { ActionCall } from "../../framework/extension.ts";
import { success, type Outcome } from "../../framework/outcome.ts";
import { withCondition } from "../../shared/bind-pod.ts";
import { isBudgetOf, canEvictUnhealthy, needsNoBudget, spend, stillProcessed } from "./disruption-budget.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";
import { checkPreconditions } from "../../framework/storage/preconditions.ts";
import { UNCHECKED } from "../../framework/storage/writes.ts";

/** Maximum conflicts on the Pod before the client receives a Conflict. */
const ATTEMPTS_MAX = 20;

interface Eviction extends KubeObject {
  readonly deleteOptions?: DeleteOptions & { readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean };
}

export async function evict(server: ServerContext, call: ActionCall): Promise<Outcome> {
  const { request, object } = call;
  const options = optionsOf(object, request);
  for (let attempt = 1; ; attempt++) {
    const stored = await podOf(call, options);
    const pod = stored.object as Pod;
    if (!needsNoBudget(pod)) {
      await evictWithBudget(server, call, { options, stored });
      return success(201);
    }
    try {
      // A pending Pod could start meanwhile, and would need a budget then.
      await remove(server, call, pod.status?.phase === "Pending" ? pinned(options, stored) : options);
      return success(201);
    } catch (error) {
      const isPinned = options.preconditions?.resourceVersion !== undefined;
      if (isPinned || attempt >= ATTEMPTS_MAX || !isReason(error, "Conflict")) throw error;
    }
  }
}

/** Invalid requests are rejected before the budget is charged. */
async function podOf({ endpoint, request }: ActionCall, options: DeleteOptions): Promise<StoredObject> {
  const stored = await endpoint.storage.get({ namespace: request.namespace, name: request.name });
  if (stored === undefined) throw notFound(endpoint.name, request.name);
  checkPreconditions(endpoint, request.name, options, stored);
  return stored;
}

interface WantedEviction {
  readonly options: DeleteOptions;
  /** The Pod that was read. */
  readonly stored: StoredObject;
}

async function evictWithBudget(server: ServerContext, call: ActionCall, wanted: WantedEviction): Promise<void> {
  const { options, stored } = wanted;
  const pod = stored.object as Pod;
  const budget = await budgetOf(server, pod);
  if (budget !== undefined && canEvictUnhealthy(budget, pod)) return removeUnhealthy(server, call, wanted, budget);
  if (budget !== undefined) await spendBudget(server, call.request, budget.metadata.name, isDry(options));
  await remove(server, call, options);
}

function optionsOf({ metadata, deleteOptions = {} }: Eviction, { name, options }: ApiRequest): DeleteOptions {
  if (metadata.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const { ignoreStoreReadErrorWithClusterBreakingPotential: ignores = false, ...wanted } = deleteOptions;
  if (ignores) {
    const at = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential";
    const error = invalid(at, true, "can not be set for pod eviction, try after removing the option");
    throw invalidObject({ group: "policy", kind: "Eviction" }, name, [error]);
  }
  const [asked, said] = [options.dryRun ?? [], deleteOptions.dryRun ?? []];
  if (asked.length > 0 && said.length > 0 && !deepEqual(asked, said)) {
    const why = `Non-matching dry-run options in request and content: [${asked.join(" ")}] and [${said.join(" ")}]`;
    throw new StatusError("Unknown", why);
  }
  const errors = [...deleteOptionsErrors(wanted)];
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  return { ...wanted, dryRun: said.length > 0 ? said : asked };
}

/** Only while it is unready: if it changed, the budget must be checked again. */
async function removeUnhealthy(
  server: ServerContext,
  call: ActionCall,
  { options, stored }: WantedEviction,
  budget: PodDisruptionBudget,
): Promise<void> {
  try {
    await remove(server, call, pinned(options, stored));
  } catch (error) {
    if (options.preconditions?.resourceVersion === undefined && isReason(error, "Conflict")) throw stillProcessed(budget.metadata.name);
    throw error;
  }
}

function pinned(options: DeleteOptions, stored: StoredObject): DeleteOptions {
  return { ...options, preconditions: { ...options.preconditions, resourceVersion: String(stored.revision) } };
}

function isDry({ dryRun = [] }: DeleteOptions): boolean {
  return dryRun.length > 0;
}

async function budgetOf(server: ServerContext, pod: Pod): Promise<PodDisruptionBudget | undefined> {
  const storage = budgets(server)?.storage;
  if (storage === undefined) return undefined;
  await storage.cache.load();
  // On a shared store the cache may lag; it is brought up to date.
  await storage.cache.freshRevision();
  const { from, before } = storage.rangeOf(pod.metadata.namespace ?? "");
  const range = before === undefined ? { from } : { from, before };
  const found = [...storage.cache.snapshot().entries(range)].map(([, { object }]) => object as PodDisruptionBudget);
  const matching = found.filter((budget) => isBudgetOf(budget, pod));
  if (matching.length > 1) {
    const why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new StatusError("Unknown", why);
  }
  return matching[0];
}

function budgets({ endpoints }: ServerContext): Endpoint | undefined {
  return endpoints.stored("policy", "poddisruptionbudgets");
}

async function spendBudget(server: ServerContext, request: ApiRequest, name: string, isDryRun: boolean): Promise<void> {
  const endpoint = budgets(server);
  if (endpoint === undefined) return;
  const { group, plural } = endpoint.name;
  const { version } = endpoint.served;
  // A dry run checks the budget, too, but does not charge it.
  const options = isDryRun ? { dryRun: ["All"] } : {};
  await server.writes.update({
    endpoint,
    request: { ...request, verb: "update", group, version, plural, name, subresource: "status", options },
    subresource: UNCHECKED,
    createsIfAbsent: false,
    next: (current) => {
      const stored = current as StoredObject;
      const budget = stored.object as PodDisruptionBudget;
      const next = { ...budget, status: spend(budget, request.name, server.clock.now()) };
      return { object: next, resourceVersion: String(stored.revision) };
    },
  });
}

async function remove(server: ServerContext, call: ActionCall, options: DeleteOptions): Promise<void> {
  const { endpoint, request } = call;
  const name = { namespace: request.namespace, name: request.name };
  const marked = isDry(options) ? undefined : await markAsDisrupted(server, call, options);
  const { preconditions } = options;
  const isPinned = preconditions?.resourceVersion !== undefined && marked !== undefined;
  const resourceVersion = isPinned ? { resourceVersion: String(marked.revision) } : {};
  const now = preconditions === undefined ? options : { ...options, preconditions: { ...preconditions, ...resourceVersion } };
  await server.writes.delete({ endpoint, request, name, options: now });
}

async function markAsDisrupted(server: ServerContext, { endpoint, request }: ActionCall, options: DeleteOptions): Promise<StoredObject> {
  const { object } = await server.writes.update({
    endpoint,
    request,
    subresource: UNCHECKED,
    createsIfAbsent: false,
    next: (current) => {
      const stored = current as StoredObject;
      checkPreconditions(endpoint, request.name, options, stored);
      const pod = stored.object as Pod;
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "EvictionByEvictionAPI",
        message: "Eviction API: evicting",
      } as const;
      const conditions = withCondition(pod.status?.conditions ?? [], condition, formatTime(server.clock.now()));
      const marked = { ...pod, status: { ...pod.status, conditions } } as KubeObject;
      return { object: marked, managed: stored.managed(), resourceVersion: "" };
    },
  });
  return object;
}

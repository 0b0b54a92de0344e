/**
 * Creates all bootstrap roles and bindings (all.ts) at start, and completes existing ones. Only at start, as upstream: a deleted one stays
 * deleted until the next start.
 *
 * Writes are concurrent, so that a store with group commit writes them in few groups, but never exceed the server's in-flight limit.
 */
import { deepFreeze } from "../../../base/deep.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { BootstrapContext, BootstrapStep } from "../bootstrap.ts";
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from "./all.ts";
import { planOf, type Granted } from "./reconcile.ts";
import type { Place } from "../../framework/own-requests.ts";

/** More gain nothing: group commits of the embedded store are no larger. */
const AT_ONCE_MAX = 32;

const PLACE = { group: "rbac.authorization.k8s.io", version: "v1" };

const PLURALS = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"] as const;

interface WantedObject {
  readonly place: Place;
  readonly object: Granted;
}

const WANTED: readonly WantedObject[] = deepFreeze([
  ...clusterRoles.map((object) => wanted("clusterroles", object)),
  ...clusterRoleBindings.map((object) => wanted("clusterrolebindings", object)),
  ...roles.map((object) => wanted("roles", object)),
  ...roleBindings.map((object) => wanted("rolebindings", object)),
]);

function wanted(plural: (typeof PLURALS)[number], object: Granted): WantedObject {
  return { place: { ...PLACE, plural, namespace: object.metadata.namespace ?? "" }, object };
}

export const policy: BootstrapStep = {
  hook: "rbac/bootstrap-roles",
  async make(context) {
    const { objects, config } = context.server;
    // Without RBAC there are no roles to reconcile.
    if (!config.authorizationModes.includes("RBAC")) return;
    await Promise.all(PLURALS.map((plural) => objects.load({ ...PLACE, plural })));
    const queue = WANTED.values();
    const workers = Math.min(AT_ONCE_MAX, config.maxRequestsInFlight, config.maxMutatingRequestsInFlight);
    await Promise.all(Array.from({ length: workers }, () => work(context, queue)));
  },
  keeps: [],
};

/** A worker that takes items from the shared iterator until it is exhausted. */
async function work(context: BootstrapContext, queue: Iterable<WantedObject>): Promise<void> {
  for (const next of queue) await reconcile(context, next);
}

async function reconcile({ server, requests }: BootstrapContext, { place, object }: WantedObject): Promise<void> {
  const found = server.objects.cached<Granted>(place, { namespace: place.namespace, name: object.metadata.name });
  const wantedObject: KubeObject = object;
  if (found === undefined) {
    await requests.makeMissing(place, wantedObject);
    return;
  }
  const plan = planOf(found, object);
  if (plan.is === "keep") return;
  if (plan.is === "update") {
    await requests.put(place, plan.object);
    return;
  }
  await requests.remove(place, found);
  await requests.makeMissing(place, wantedObject);
}

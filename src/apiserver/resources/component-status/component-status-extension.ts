/**
 * ComponentStatus: health of the store, the scheduler and the controller manager, by upstream's names. Upstream probes ports on its own
 * machine; here they run in this process, in another one or on another machine, and only the leader is active, so each is judged by the
 * Lease that its leader renews every few seconds.
 */
import type { Lease } from "../../../api/generated/coordination.k8s.io/v1.ts";
import type { ComponentCondition, ComponentStatus } from "../../../api/generated/core/v1.ts";
import type { ExtensionFactory, ServerContext } from "../../framework/server-context.ts";
import { storeAnswers } from "../../shared/store-health.ts";

const LEASES = { group: "coordination.k8s.io", plural: "leases" };
const LEASE_NAMESPACE = "kube-system";

export const componentStatusExtension: ExtensionFactory = (server) => ({
  group: "",
  plural: "componentstatuses",
  async objects() {
    const isHealthy = await storeAnswers(server.store, server.clock);
    const etcd = isHealthy ? undefined : "the store does not respond";
    // Without the store the others are unknown.
    const problem = (name: string) => (isHealthy ? leaseProblem(server, name) : Promise.resolve("the store does not respond"));
    return [
      status("controller-manager", await problem("kube-controller-manager")),
      status("etcd-0", etcd),
      status("scheduler", await problem("kube-scheduler")),
    ];
  },
});

function status(name: string, problem: string | undefined): ComponentStatus {
  const condition: ComponentCondition = { type: "Healthy", status: problem === undefined ? "True" : "False", message: problem ?? "ok" };
  return { apiVersion: "v1", kind: "ComponentStatus", metadata: { name }, conditions: [condition] };
}

async function leaseProblem({ objects, clock }: ServerContext, name: string): Promise<string | undefined> {
  const title = `the lease ${LEASE_NAMESPACE}/${name}`;
  const lease = await objects.get<Lease>(LEASES, { namespace: LEASE_NAMESPACE, name });
  const { holderIdentity = "", renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (lease === undefined) return `${title} does not exist: no process has been the leader yet`;
  if (holderIdentity === "" || renewTime === undefined) return `${title} has no holder: no process is the leader`;
  const expiredMs = clock.now() - (Date.parse(renewTime) + leaseDurationSeconds * 1_000);
  return expiredMs <= 0 ? undefined : `${title} of ${holderIdentity} expired ${Math.ceil(expiredMs / 1_000)}s ago`;
}

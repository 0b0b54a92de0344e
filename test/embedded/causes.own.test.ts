/** The record of writes explains a Deployment from `apply` to its deletion: every cause is recorded, up to a user's request. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Cause } from "../../src/api/machinery/cause.ts";
import { CAUSES_PATH } from "../../src/explain/explain-api.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { isAvailable } from "../../src/embedded/conditions.ts";

type Write = {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly user: string;
  readonly deleted?: true;
  readonly cause?: Cause;
};

const SCENARIO = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: few, namespace: shop }
spec: { hard: { pods: "10", count/deployments.apps: "5" } }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "example/web:1" }] }
`;

const ADMINISTRATOR = "kubernetes-admin";

/** Writes of a component at its start have no preceding write. */
const STARTS = ["kube-apiserver Bootstrap", "kube-apiserver AutoRegistration", "kubelet Registering"];

/** Heartbeats are not recorded; a cause that names one needs no further explanation. */
const HEARTBEAT = "leases.coordination.k8s.io ";

function textOf({ verb, resource, subresource = "", namespace = "", name, user, resourceVersion, cause }: Write): string {
  return `${resourceVersion} ${verb} ${resource} ${subresource} ${namespace}/${name} by ${user}, cause ${JSON.stringify(cause)}`;
}

function isExplained({ cause, user }: Write, revisions: ReadonlySet<string>): boolean {
  if (cause === undefined) return user === ADMINISTRATOR;
  if (cause.reason === undefined) return false;
  if (STARTS.includes(`${cause.controller} ${cause.reason}`)) return true;
  return cause.object?.startsWith(HEARTBEAT) === true || (cause.revision !== undefined && revisions.has(cause.revision));
}

/** The chain of causes from a write back to the first: "deployments.apps/web <- ...". */
function chainOf(write: Write, byRevision: ReadonlyMap<string, Write>): readonly string[] {
  const chain: string[] = [];
  for (let next: Write | undefined = write; next !== undefined && chain.length < 50;) {
    chain.push(`${next.resource}${next.subresource === undefined ? "" : `/${next.subresource}`}`);
    next = next.cause?.revision === undefined ? undefined : byRevision.get(next.cause.revision);
  }
  return chain;
}

test("from apply to Running to deletion, the cause of every write is another write or a user's request", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  await cluster.apply(SCENARIO);
  await cluster.until("deployment/web", isAvailable, { namespace: "shop" });
  await cluster.delete("deployment/web", { namespace: "shop" });
  await cluster.advance("2m");
  await cluster.delete("namespace/shop");
  await cluster.advance("5m");

  const { items } = await cluster.client.document(`${CAUSES_PATH}?outcome=committed`);
  const writes = items as readonly Write[];
  const byRevision = new Map(writes.map((write) => [write.resourceVersion, write]));
  const revisions = new Set(byRevision.keys());

  deepEqual(writes.filter((write) => !isExplained(write, revisions)).map(textOf), []);
  const shop = writes.filter(({ namespace }) => namespace === "shop");
  const gone = new Set(shop.filter(({ deleted }) => deleted === true).map(({ resource, name }) => `${resource} ${name}`));
  deepEqual(shop.filter(({ resource, name }) => !gone.has(`${resource} ${name}`)).map(textOf), [], "every object has a recorded deletion");
  const removal = shop.find(({ resource, deleted }) => resource === "pods" && deleted === true);
  deepEqual(
    chainOf(removal as Write, byRevision).slice(-2),
    ["replicasets.apps", "deployments.apps"],
    "a Pod is deleted with its Deployment",
  );
  const binding = shop.find(({ subresource }) => subresource === "binding");
  deepEqual(chainOf(binding as Write, byRevision), ["pods/binding", "pods", "replicasets.apps", "deployments.apps"]);
});

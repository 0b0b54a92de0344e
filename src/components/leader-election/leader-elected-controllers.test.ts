import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { seededRandom } from "../../base/random.ts";
import { driven } from "../../testing/driven.ts";
import { given, type Given } from "../../testing/given.ts";
import {
  CONTROLLER_MANAGER_LEASE,
  startLeaderElectedControllers,
  type LeaderElectedControllers,
  type LeaderElectedControllersOptions,
} from "./leader-elected-controllers.ts";

function started(
  cluster: Given,
  identity: string | undefined,
  more: Partial<LeaderElectedControllersOptions> = {},
): LeaderElectedControllers {
  const { clock, server } = cluster;
  return startLeaderElectedControllers({
    controllers: ["deployment-controller"],
    settings: { rootCa: "" },
    transportFor: (user) => server.server.transport({ user, userAgent: "kube-controller-manager" }),
    ...(identity === undefined ? {} : { election: { lease: CONTROLLER_MANAGER_LEASE, identity } }),
    ...{ clock, random: seededRandom(identity?.length ?? 0), log: silentLogger },
    ...more,
  });
}

async function stop({ clock }: Given, manager: LeaderElectedControllers): Promise<void> {
  await driven(clock, Promise.resolve(manager[Symbol.asyncDispose]()));
}

function web(name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "default", name }, spec } as const;
}

test("without leader election the controllers start immediately and have metrics until they are stopped", async () => {
  await using cluster = await given(web("a"));
  const turns: boolean[] = [];
  const manager = started(cluster, undefined, { onLeading: (isLeading) => void turns.push(isLeading) });
  deepEqual(manager.metrics(), []);
  deepEqual((await driven(cluster.clock, manager.started)).names, ["deployment-controller"]);
  await cluster.settled();

  equal((await cluster.list(replicaSets)).length, 1);
  ok(prometheusText(manager.metrics()).includes('workqueue_depth{name="deployment-controller"} 0'));
  await stop(cluster, manager);
  deepEqual([manager.metrics(), turns], [[], [true]]);
});

test("of two controller managers one is the leader, and the other takes over its work", async () => {
  await using cluster = await given(web("a"));
  const lines: string[] = [];
  const reportTo = (name: string) => ({
    onLeading: (isLeading: boolean) => void lines.push(`${name} ${isLeading ? "acts" : "is on standby"}`),
  });
  const one = started(cluster, "first", reportTo("first"));
  await cluster.settled();
  const other = started(cluster, "second", reportTo("second"));
  await cluster.clock.advance(30_000);
  deepEqual([lines, one.isLeading(), other.isLeading(), other.metrics()], [["first acts"], true, false, []]);

  await stop(cluster, one);
  await cluster.client.create(deployments, web("b"));
  await cluster.clock.advance(30_000);

  deepEqual(lines, ["first acts", "first is on standby", "second acts"]);
  equal((await cluster.list(replicaSets)).length, 2);
  await stop(cluster, other);
});

test("a start that waits for an unresponsive API server can be cancelled", async () => {
  await using cluster = await given();
  for (const controllers of [["deployment-controller"], ["garbage-collector-controller"]]) {
    const never = (signal: AbortSignal | undefined) =>
      new Promise<never>((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
    const silent: Transport = {
      request: ({ signal }) => never(signal),
      watch: ({ signal }) => never(signal),
      document: (_path, { signal } = {}) => never(signal),
    };
    const manager = started(cluster, undefined, { controllers, transportFor: () => silent });
    const refused = rejects(manager.started, /Stopped before startup had completed/);
    await cluster.settled();

    await stop(cluster, manager);
    await refused;
  }
});

test("without leader election a failed start rejects `started`", async () => {
  await using cluster = await given();
  const manager = started(cluster, undefined, {
    transportFor({ name }) {
      if (name === "system:kube-controller-manager") return cluster.server.transport();
      throw new Error("no way to the API");
    },
  });

  await rejects(driven(cluster.clock, manager.started), /no way to the API/);
  await stop(cluster, manager);
});

test("controller managers that lose the lease go to standby immediately, without flushing pending events", async () => {
  await using cluster = await given();
  const turns: boolean[] = [];
  const manager = started(cluster, "first", { onLeading: (isLeading) => void turns.push(isLeading) });
  await driven(cluster.clock, manager.started);
  await cluster.client.create(deployments, web("a"));

  await cluster.client.patch(leases, CONTROLLER_MANAGER_LEASE, { type: "merge", value: { spec: { holderIdentity: "stranger" } } });
  await cluster.settled();

  deepEqual(turns, [true, false]);
  await stop(cluster, manager);
});

test("controller managers that lose the lease and do not stop are reported, and have no metrics", async () => {
  await using cluster = await given(web("a"));
  const manager = started(cluster, "first", {
    transportFor(user) {
      const transport = cluster.server.server.transport({ user, userAgent: "kube-controller-manager" });
      const request: Transport["request"] = (asked) =>
        asked.plural === "replicasets" && asked.verb === "create" ? new Promise(() => undefined) : transport.request(asked);
      return {
        ...transport,
        request,
        watch: (...words) => transport.watch(...words),
        document: (...words) => transport.document(...words),
      };
    },
  });
  await driven(cluster.clock, manager.started);
  await cluster.settled();
  const reported = rejects(manager.stuck, /^Error: Did not stop within 10 s after cancellation: deployment-controller default\/a$/);

  await cluster.client.patch(leases, CONTROLLER_MANAGER_LEASE, { type: "merge", value: { spec: { holderIdentity: "stranger" } } });
  await cluster.clock.advance(10_000);

  await reported;
  deepEqual(manager.metrics(), []);
  await stop(cluster, manager);
});

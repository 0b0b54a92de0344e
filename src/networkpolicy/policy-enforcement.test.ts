import assert from "node:assert/strict";
import { test } from "node:test";
import { namespaces } from "../api/core/v1/namespace.ts";
import { pods } from "../api/core/v1/pod.ts";
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { networkPolicies } from "../api/networking.k8s.io/v1/network-policy.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { driven } from "../testing/driven.ts";
import { given, type Given } from "../testing/given.ts";
import { InterruptibleTransport } from "../testing/interruptible-transport.ts";
import type { Enforcer } from "./enforcers/enforcer.ts";
import type { PolicyModel } from "./model.ts";
import { startEnforcement, type PolicyEnforcement } from "./policy-enforcement.ts";
import { aNamespace, aPod, aPolicy } from "./testing/objects.ts";

/** Records what it is given. */
class RecordingEnforcer implements Enforcer {
  readonly models: PolicyModel[] = [];
  failures = 0;
  isFlushed = false;

  /** Isolated addresses of the last model. */
  get isolated(): readonly string[] {
    return [...(this.models.at(-1)?.isolated.keys() ?? [])];
  }

  async apply(model: PolicyModel) {
    if (this.failures > 0) {
      this.failures--;
      throw new Error("nft failed");
    }
    this.models.push(model);
    this.isFlushed = false;
    return { written: 1 };
  }

  async isIntact(): Promise<boolean> {
    return !this.isFlushed;
  }
}

interface World extends AsyncDisposable {
  readonly transport: InterruptibleTransport;
  readonly cluster: Given;
  readonly enforcement: PolicyEnforcement;
  readonly enforcer: RecordingEnforcer;
}

async function running(objects: readonly object[], enforcer = new RecordingEnforcer()): Promise<World> {
  const cluster = await given(...objects);
  const { clock } = cluster;
  const transport = new InterruptibleTransport(cluster.server.transport());
  const options = { nodeName: "node-1", enforcer, transport, clock, random: seededRandom(1), log: silentLogger };
  const enforcement = await driven(clock, startEnforcement(options));
  return {
    ...{ transport, cluster, enforcement, enforcer },
    async [Symbol.asyncDispose]() {
      await driven(clock, Promise.resolve(enforcement[Symbol.asyncDispose]()));
      await cluster[Symbol.asyncDispose]();
    },
  };
}

const DENY = aPolicy("x/deny", { podSelector: { matchLabels: { app: "web" } } });
const WEB = aPod("x/web", ["10.0.0.1"], { labels: { app: "web" } });

test("the rules of existing policies are applied before the start resolves", async () => {
  await using world = await running([aNamespace("x"), WEB, DENY]);

  assert.equal(world.enforcer.models.length, 1);
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.1"]);
});

test("changes of policies, Pods and namespaces are applied, those without effect on rules are not", async () => {
  await using world = await running([aNamespace("x"), WEB]);
  const { client, clock } = world.cluster;
  assert.deepEqual(world.enforcer.isolated, []);

  await driven(clock, client.create(networkPolicies, DENY));
  await clock.settle();
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.1"]);

  await driven(clock, client.patch(pods, WEB.metadata, { type: "merge", value: { metadata: { labels: { app: "other" } } } }));
  await clock.settle();
  assert.deepEqual(world.enforcer.isolated, []);

  const applied = world.enforcer.models.length;
  await driven(clock, client.patch(pods, WEB.metadata, { type: "merge", value: { metadata: { annotations: { a: "b" } } } }));
  await driven(clock, client.patch(namespaces, { name: "x" }, { type: "merge", value: { metadata: { annotations: { a: "b" } } } }));
  await clock.settle();
  assert.equal(world.enforcer.models.length, applied);
});

test("a failed write is retried with back-off", async () => {
  await using world = await running([aNamespace("x"), WEB]);
  const { client, clock } = world.cluster;
  world.enforcer.failures = 2;

  await driven(clock, client.create(networkPolicies, DENY));
  await clock.settle();
  assert.deepEqual(world.enforcer.isolated, []);
  await clock.advance(1_000);

  assert.deepEqual(world.enforcer.isolated, ["10.0.0.1"]);
});

test("flushed rules are written again at the next check", async () => {
  await using world = await running([aNamespace("x"), WEB, DENY]);
  world.enforcer.isFlushed = true;

  await world.cluster.clock.advance(11_000);

  assert.equal(world.enforcer.isFlushed, false);
  assert.equal(world.enforcer.models.length, 2);
});

test("a Pod is admitted when its rules are applied, also those of a policy created just before", async () => {
  await using world = await running([aNamespace("x")]);
  const { client, clock } = world.cluster;
  const pod = await driven(clock, createPod(client));
  await driven(clock, client.create(networkPolicies, DENY));
  world.enforcer.failures = 1;

  let isAdmitted = false;
  const admitted = world.enforcement.admitPod(pod, ["10.0.0.7"]).then(() => (isAdmitted = true));
  await clock.settle();
  assert.equal(isAdmitted, false);
  await clock.advance(1_000);
  await admitted;

  assert.deepEqual(world.enforcer.isolated, ["10.0.0.7"]);
  assert.deepEqual(world.enforcer.models.at(-1)?.localAddresses, ["10.0.0.7"]);
});

test("without policies a Pod is admitted at once, and its address becomes known", async () => {
  await using world = await running([aNamespace("x")]);
  const { client, clock } = world.cluster;
  const pod = await driven(clock, createPod(client));
  world.enforcer.failures = 1;

  await driven(clock, world.enforcement.admitPod(pod, ["10.0.0.7"]));
  await clock.advance(1_000);

  assert.deepEqual(world.enforcer.models.at(-1)?.localAddresses, ["10.0.0.7"]);
});

test("a Pod whose rules cannot be applied is rejected with the reason, and admitted when they are", async () => {
  await using world = await running([aNamespace("x"), DENY]);
  const { client, clock } = world.cluster;
  const pod = await driven(clock, createPod(client));
  world.enforcer.failures = 1_000;

  const rejected = assert.rejects(
    world.enforcement.admitPod(pod, ["10.0.0.7"]),
    /^Error: Cannot apply the network policies of the Pod: nft failed$/,
  );
  await clock.advance(12_000);
  await rejected;

  world.enforcer.failures = 0;
  await clock.advance(11_000);
  await driven(clock, world.enforcement.admitPod(pod, ["10.0.0.7"]));
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.7"]);
});

test("while the API server is away, rules stay, new Pods get those of known policies, and changes follow", async () => {
  await using world = await running([aNamespace("x"), WEB, DENY]);
  const { client, clock } = world.cluster;
  const pod = await driven(clock, createPod(client, "another"));
  await clock.settle();
  world.transport.goAway();
  await driven(clock, client.delete(networkPolicies, DENY.metadata));
  await clock.advance(60_000);
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.1"]);

  await driven(clock, world.enforcement.admitPod(pod, ["10.0.0.7"]));
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.1", "10.0.0.7"]);

  world.transport.comeBack();
  await clock.advance(60_000);
  assert.deepEqual(world.enforcer.isolated, []);
});

test("a Pod waits for an API server that does not answer, and starts with known policies if that takes long", async () => {
  await using world = await running([aNamespace("x"), DENY]);
  const { client, clock } = world.cluster;
  const pod = await driven(clock, createPod(client));
  const admit = async (): Promise<string> => {
    const result = world.enforcement.admitPod(pod, ["10.0.0.7"]).then(
      () => "admitted",
      (error: Error) => error.message,
    );
    await clock.advance(6_000);
    return result;
  };
  await clock.settle();
  world.transport.fallSilent();

  assert.equal(await admit(), "Cannot request the network policies of namespace x: no answer within 5 s");
  assert.deepEqual(world.enforcer.isolated, []);
  await clock.advance(30_000);
  assert.equal(await admit(), "admitted");
  assert.deepEqual(world.enforcer.isolated, ["10.0.0.7"]);
});

test("a DNS server that appears is allowed by policies that select it", async () => {
  const allowDns = aPolicy("x/dns", { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ namespaceSelector: {} }] }] });
  await using world = await running([aNamespace("x"), WEB, allowDns]);
  const { client, clock } = world.cluster;
  const labels = { "kubernetes.io/service-name": "kube-dns" };
  const slice = {
    ...{ apiVersion: "discovery.k8s.io/v1" as const, kind: "EndpointSlice" as const, addressType: "IPv4" as const },
    metadata: { namespace: "kube-system", name: "kube-dns-a", labels },
    endpoints: [{ addresses: ["10.0.0.9"] }],
    ports: [{ name: "dns", protocol: "UDP" as const, port: 53 }],
  };
  await driven(clock, client.create(endpointSlices, slice));
  await clock.settle();

  assert.deepEqual(world.enforcer.models.at(-1)?.policies.get("x/dns")?.egress.at(-1), {
    block: { family: 4, cidr: "10.0.0.9/32", except: [] },
    ports: [{ protocol: "UDP", first: 53, last: 53 }],
  });
});

test("stopping leaves the rules of the last model", async () => {
  const enforcer = new RecordingEnforcer();
  await (await running([aNamespace("x"), WEB, DENY], enforcer))[Symbol.asyncDispose]();

  assert.deepEqual(enforcer.isolated, ["10.0.0.1"]);
});

async function createPod(client: Given["client"], name = "web") {
  const { metadata, spec } = aPod(`x/${name}`, [], { labels: { app: "web" } });
  return client.create(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "x", name: metadata.name, labels: metadata.labels ?? {} },
    ...(spec === undefined ? {} : { spec }),
  });
}

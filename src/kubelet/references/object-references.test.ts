import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import { services } from "../../api/core/v1/service.ts";
import type { Pod, PodSpec } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { driven } from "../../testing/driven.ts";
import { kubeletIdentity } from "../kubelet.ts";
import { startReferences } from "./object-references.ts";
import { startWorld, type World } from "../testing/world.ts";

/** References of node n1, with its permissions; `open` are the open watches, as "configmaps metadata.name=c". */
async function startCase() {
  const world = await startWorld();
  const { clock } = world;
  const open = new Map<string, number>();
  const transport = counting(world.transportFor(kubeletIdentity("n1")), open);
  const common = { clock, random: seededRandom(1), log: silentLogger };
  const informers = createInformers({ transport, ...common });
  const references = startReferences({ client: createClient(transport), informers, ...common });
  const notified: string[] = [];
  references.listen((podUid) => notified.push(podUid));
  return {
    world,
    references,
    notified,
    watches: () => [...open].flatMap(([what, count]) => (count > 0 && !what.startsWith("services") ? [what] : [])).toSorted(),
    async [Symbol.asyncDispose]() {
      await references[Symbol.asyncDispose]();
      await informers.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

function counting(transport: Transport, open: Map<string, number>): Transport {
  const count = (what: string, by: number) => open.set(what, (open.get(what) ?? 0) + by);
  return {
    ...transport,
    request: (request) => transport.request(request),
    document: (path, options) => transport.document(path, options),
    async watch(request, listener) {
      const what = `${request.plural} ${request.options?.fieldSelector ?? ""}`;
      const ended = () => {
        count(what, -1);
        listener.ended();
      };
      const watch = await transport.watch(request, { event: (event) => listener.event(event), ended });
      count(what, 1);
      return watch;
    },
  };
}

const WITH_CONFIG_MAP: Partial<PodSpec> = { volumes: [{ name: "v", configMap: { name: "c" } }] };

function makeConfigMap(world: World, value: string, immutable?: true) {
  const metadata = { name: "c", namespace: "default" };
  return world.client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata,
    data: { value },
    ...(immutable === undefined ? {} : { immutable }),
  });
}

test("a ConfigMap is watched while a Pod refers to it, and each change notifies its Pods", async () => {
  await using all = await startCase();
  const { world, references, notified, watches } = all;
  const { clock, client } = world;
  const pod = await world.pod("p", WITH_CONFIG_MAP);
  const other = await world.pod("q", WITH_CONFIG_MAP);
  references.register(pod);
  references.register(other);

  assert.equal(await driven(clock, references.configMap("default", "c")), undefined);
  await clock.settle();
  assert.deepEqual(watches(), ["configmaps metadata.name=c"]);
  const made = await makeConfigMap(world, "1");
  await clock.settle();
  assert.equal((await references.configMap("default", "c"))?.data?.["value"], "1");
  await client.update(configMaps, { ...made, data: { value: "2" } });
  await clock.settle();
  assert.equal((await references.configMap("default", "c"))?.data?.["value"], "2");
  await client.delete(configMaps, { namespace: "default", name: "c" });
  await clock.settle();
  assert.equal(await references.configMap("default", "c"), undefined);
  const both = [pod.metadata.uid, other.metadata.uid];
  assert.deepEqual(notified, [...both, ...both, ...both]);

  references.unregister(pod.metadata.uid ?? "");
  await clock.settle();
  assert.deepEqual(watches(), ["configmaps metadata.name=c"]);
  references.unregister(other.metadata.uid ?? "");
  await clock.settle();
  assert.deepEqual(watches(), []);
});

test("the references of a Pod that is registered again replace the earlier ones", async () => {
  await using all = await startCase();
  const { world, references, watches } = all;
  const pod = await world.pod("p", { volumes: [{ name: "v", secret: { secretName: "s" } }], imagePullSecrets: [{ name: "pull" }] });
  references.register(pod);
  references.register(pod);
  await world.clock.settle();
  assert.deepEqual(watches(), ["secrets metadata.name=pull", "secrets metadata.name=s"]);

  references.register({ ...pod, spec: { ...pod.spec, volumes: [] } } as Pod);
  await world.clock.settle();

  assert.deepEqual(watches(), ["secrets metadata.name=pull"]);
});

test("an immutable object is not watched", async () => {
  await using all = await startCase();
  const { world, references, watches } = all;
  await makeConfigMap(world, "1", true);
  references.register(await world.pod("p", WITH_CONFIG_MAP));
  assert.equal((await driven(world.clock, references.configMap("default", "c")))?.data?.["value"], "1");
  await world.clock.settle();
  assert.deepEqual(watches(), []);
});

test("an object that becomes immutable is no longer watched, and notifies once", async () => {
  await using all = await startCase();
  const { world, references, watches, notified } = all;
  const made = await makeConfigMap(world, "1");
  references.register(await world.pod("p", WITH_CONFIG_MAP));
  await driven(world.clock, references.configMap("default", "c"));
  await world.clock.settle();
  await world.client.update(configMaps, { ...made, data: { value: "2" }, immutable: true });
  await world.clock.settle();
  assert.deepEqual([watches(), notified.length], [[], 1]);
  assert.equal((await references.configMap("default", "c"))?.data?.["value"], "2");
});

test("a forbidden object is retried until the server knows the Pod", async () => {
  await using all = await startCase();
  const { world, references } = all;
  await world.client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } });
  const unbound = await world.pod("p", { volumes: [{ name: "v", secret: { secretName: "s" } }], nodeName: "" });
  references.register(unbound);
  const known = references.secret("default", "s");
  await world.clock.advance(100);

  await world.client.delete(pods, { namespace: "default", name: "p" }, { gracePeriodSeconds: 0 });
  await world.pod("p", { volumes: [{ name: "v", secret: { secretName: "s" } }] });
  await world.clock.advance(2_000);

  assert.equal((await known)?.metadata.name, "s");
});

test("an object that stays forbidden is rejected, and requested again by the next caller", async () => {
  await using all = await startCase();
  const { world, references } = all;
  await world.client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } });
  references.register(await world.pod("p", { volumes: [{ name: "v", secret: { secretName: "s" } }], nodeName: "n2" }));
  const refused = assert.rejects(references.secret("default", "s"), (error) => isReason(error, "Forbidden"));
  await world.clock.advance(10_000);
  await refused;

  references.register(await world.pod("q", { volumes: [{ name: "v", secret: { secretName: "s" } }] }));

  assert.equal((await driven(world.clock, references.secret("default", "s")))?.metadata.name, "s");
});

test("services are those of the namespace and the API server's own", async () => {
  await using all = await startCase();
  const { world, references } = all;
  const make = (namespace: string, name: string) =>
    world.client.create(services, { apiVersion: "v1", kind: "Service", metadata: { namespace, name }, spec: { ports: [{ port: 80 }] } });
  await make("default", "kubernetes").catch(() => undefined);
  await make("default", "web");
  await make("kube-system", "dns");
  await world.clock.settle();
  const namesIn = async (namespace: string) => {
    const found = await driven(world.clock, references.services(namespace));
    return found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  };
  assert.deepEqual(await namesIn("default"), ["default/kubernetes", "default/web"]);
  assert.deepEqual(await namesIn("kube-system"), ["default/kubernetes", "kube-system/dns"]);
});

test("a caller can cancel its wait, and closed references reject", async () => {
  const all = await startCase();
  const { references } = all;
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(references.configMap("default", "c", signal), { message: "enough" });
  await all[Symbol.asyncDispose]();
  await assert.rejects(references.configMap("default", "c"), { message: "The references are closed" });
});

/** "Time passes only by `advance` and `until`, which let all work that is due finish first", and what is said when something is wrong. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import type { Deployment } from "../api/generated/apps/v1.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { aConfigMap, aDeployment, aPod } from "../testing/clients/manifests.ts";
import { startCluster } from "./start-cluster.ts";
import { isAvailable, isGone, isReady, isRolledOut, isSucceeded } from "./conditions.ts";

const START_MS = Date.UTC(2026, 0, 1);

const annotated = (name: string, settings: Readonly<Record<string, string>>) => {
  const pod = aPod(name, { restartPolicy: "Never" });
  const annotations = Object.fromEntries(Object.entries(settings).map(([setting, value]) => [`simulated.k8ts.dev/${setting}`, value]));
  return { ...pod, metadata: { name, annotations } };
};

test("the example of the guide: apply, wait, let time pass, fork", async () => {
  await using cluster = await startCluster({ nodes: 3, clock: "virtual" });
  await cluster.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "web:1" }] }
`);
  const available = await cluster.until<Deployment>("deployment/web", isAvailable);
  equal(available.status?.availableReplicas, 3);
  await cluster.advance("6m");
  await using other = await cluster.fork();
  equal(other.clock.now(), cluster.clock.now());
});

test("requests take no virtual time, whatever their number", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await Promise.all(Array.from({ length: 50 }, (_, index) => cluster.apply(aConfigMap(`c-${index}`))));
  await cluster.apply(aDeployment("web", { replicas: 5 }));
  await new Promise((resolve) => void setImmediate(resolve));
  equal((await cluster.client.list(configMaps, { namespace: "default" })).items.length, 51, "with the one of the authority");
  equal(cluster.clock.now(), START_MS);
});

test("settle runs everything that is due, at the same instant", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  await cluster.apply(aDeployment("web", { replicas: 4 }));
  await cluster.settle();
  ok(isRolledOut(await cluster.get("deployment/web")));
  equal(cluster.clock.now(), START_MS);
});

test("advance stops at the exact millisecond, with everything before it done and nothing after it", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(annotated("p", { "run-for": "10m" }));
  await cluster.settle();
  await cluster.advance(599_999);
  equal((await cluster.get<Pod>("pod/p")).status?.phase, "Running");
  await cluster.advance(1);
  equal((await cluster.get<Pod>("pod/p")).status?.phase, "Succeeded");
  equal(cluster.clock.now() - START_MS, 600_000);
});

test("until advances time only as far as needed, and not at all if the condition is true", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(annotated("p", { "ready-after": "90s", "run-for": "5m" }));
  await cluster.until("pod/p", isReady);
  equal(cluster.clock.now() - START_MS, 90_000);
  await cluster.until("pod/p", isReady);
  equal(cluster.clock.now() - START_MS, 90_000);
  await cluster.until("pod/p", isSucceeded);
  equal(cluster.clock.now() - START_MS, 300_000);
});

test("time advances for all concurrent waiters together, and each observes its instant", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply([annotated("slow", { "ready-after": "1m" }), annotated("blip", { "ready-after": "10s", unready: "20s-" })]);
  const secondsOf = (waiting: Promise<unknown>) => waiting.then(() => (cluster.clock.now() - START_MS) / 1_000);
  const waiting = [
    cluster.until("pod/slow", isReady),
    cluster.until("pod/blip", isReady, { within: "2m" }),
    cluster.advance("15s"),
    cluster.advance("30s"),
    cluster.until("pod/none", isReady, { within: "40s" }).catch(() => undefined),
  ];
  deepEqual(await Promise.all(waiting.map(secondsOf)), [60, 10, 15, 30, 40]);
});

test("a waiter that starts during advance does not miss its instant", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(annotated("blip", { "ready-after": "10s", unready: "20s-" }));
  const [, pod] = await Promise.all([cluster.advance("1m"), cluster.until<Pod>("pod/blip", isReady)]);
  ok(isReady(pod), "what was seen then is what is given");
  equal(cluster.clock.now() - START_MS, 60_000);
});

test("a command that takes time completes while the test advances time", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(annotated("ex", { exec: '{"slow": {"stdout": "hi", "takes": "5s"}}' }));
  await cluster.until("pod/ex", isReady);
  const [{ stdout }] = await Promise.all([cluster.exec("ex", ["slow"]), cluster.advance("6s")]);
  equal(stdout, "hi");
  const later = cluster.exec("ex", ["slow"]);
  await cluster.settle();
  await cluster.get("pod/ex");
  for (let second = 0; second < 5; second++) await cluster.advance("1s");
  equal((await later).stdout, "hi");
  await rejects(cluster.exec("ex", ["slow"]), /^Error: This waits for virtual time to pass/);
});

test("a watch of the client receives changes when they happen, in order", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  const received: string[] = [];
  const watch = await cluster.client.watch(
    configMaps,
    { namespace: "default" },
    {
      event: (event) => void received.push(`${event.type} ${"object" in event ? event.object.metadata.name : ""}`),
      ended: () => void received.push("ended"),
    },
  );
  await cluster.apply(aConfigMap("a"));
  await cluster.apply(aConfigMap("a", { changed: "1" }));
  await cluster.delete("configmap/a");
  await cluster.settle();
  deepEqual(
    received.filter((line) => line.endsWith(" a")),
    ["ADDED a", "MODIFIED a", "DELETED a"],
  );
  watch.stop();
});

test("a failed until shows conditions, events and the scheduling decision, and the object last", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(aDeployment("web", { replicas: 2 }));
  const isFive = (object: Deployment | undefined) => object?.status?.readyReplicas === 5;
  await rejects(cluster.until<Deployment>("deployment/web", isFive, { within: "90s" }), ({ message }: Error) => {
    match(message, /^Timed out waiting for deployment\/web after 90s of virtual time\n {2}condition: isFive\n/);
    match(message, /\n {2}Deployment web Available=True \(MinimumReplicasAvailable\)/);
    match(message, /\n {2}event: Normal Scheduled of Pod web-\S+: Successfully assigned /);
    match(message, /\n {2}scheduling decision for default\/web-\S+: placed, attempt 1: /);
    match(message, /\n {2}last seen: \{.*"readyReplicas":2[^\n]*$/);
    return true;
  });
  equal(cluster.clock.now() - START_MS, 90_000);
  await rejects(
    cluster.until("pod/none", isReady, { within: 5 }),
    /^Error: Timed out waiting for pod\/none after 5 ms of virtual time\n {2}condition: isReady\n {2}last seen: nothing$/,
  );
});

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time until rejects with the error that a condition throws, also a later one`, async () => {
    await using cluster = await startCluster({ clock });
    const fail = () => {
      throw new Error("mine");
    };
    await rejects(cluster.until("pods", fail), /^Error: mine$/);
    const later = rejects(
      cluster.until<Pod>("pod/p", (pod) => (pod === undefined ? false : fail())),
      /^Error: mine$/,
    );
    await cluster.apply(aPod("p"));
    await later;
    await cluster.apply(aPod("q"));
  });
}

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time a condition that returns a promise is rejected`, async () => {
    await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock });
    const later = (() => Promise.reject(new Error("not logged"))) as () => never;
    await rejects(cluster.until("pods", later), /^Error: Cannot wait for "pods": the condition returned a promise/);
  });
}

test("a deleted object is undefined, in types and at run time", async () => {
  await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock: "virtual" });
  const gone: undefined = await cluster.until("configmap/a", isGone);
  const alsoGone: undefined = await cluster.until<Pod>("pod/a", (pod) => pod === undefined);
  deepEqual([gone, alsoGone], [undefined, undefined]);
});

test("an object with generateName is created again by each apply", async () => {
  await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock: "virtual" });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "c-" } };
  const [first, second] = await cluster.apply([object, object]);
  match(first?.metadata.name ?? "", /^c-[a-z0-9]{5}$/);
  ok(first?.metadata.name !== second?.metadata.name);
});

test("invalid options are rejected before anything is started", async () => {
  await rejects(startCluster({ nodse: 3 } as never), /^TypeError: Unknown option "nodse" of startCluster; did you mean "nodes"\?$/);
  const rules = [{ match: { labels: "app=web" }, settings: { readyAfter: "5s" } }];
  await rejects(
    startCluster({ nodes: { simulation: { rules } } } as never),
    /^RangeError: Cannot simulate: rules\[0\]\.match\.labels is unknown: it may have namespace, selector, ownerKind, image, container$/,
  );
});

const REFUSED: readonly (readonly [string, (cluster: Awaited<ReturnType<typeof startCluster>>) => Promise<unknown>, RegExp])[] = [
  ["an unknown kind", (cluster) => cluster.get("gizmo/a"), /^Error: The server has no resource type "gizmo"$/],
  ["no name", (cluster) => cluster.get("pods"), /^Error: Ambiguous reference: there are several pods; write "pods\/<name>"$/],
  ["an empty name", (cluster) => cluster.delete("pods/"), /^Error: Invalid object reference "pods\/": it must be kind\/name/],
  [
    "too many slashes",
    (cluster) => cluster.until("apps/deployments/web", () => true),
    /^Error: Invalid object reference "apps\/deployments\/web": it must/,
  ],
  [
    "a name in all namespaces",
    (cluster) => cluster.until("pod/a", () => true, { namespace: "" }),
    /^Error: Ambiguous object reference "pod\/a": a named/,
  ],
  ["an object that is not there", (cluster) => cluster.get("pod/a"), /^NotFound: pods "a" not found|pods "a" not found/],
  ["a length that is none", (cluster) => cluster.advance("soon"), /^RangeError: Invalid duration "soon"/],
  ["a limit that is none", (cluster) => cluster.until("pods", () => true, { within: "soon" }), /^RangeError: Invalid duration "soon"/],
  ["YAML that is none", (cluster) => cluster.apply("a: [1,"), /^Error: Cannot read document 1: yaml: line 1/],
  [
    "a version that is none",
    (cluster) => cluster.apply({ apiVersion: "v2", kind: "Pod", metadata: { name: "a" } }),
    /^Error: no matches for kind "Pod" in version "v2"$/,
  ],
];

for (const [what, act, error] of REFUSED) {
  test(`${what} is rejected in one sentence`, async () => {
    await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock: "virtual" });
    await rejects(act(cluster), error);
  });
}

test("real time cannot be advanced", async () => {
  await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false });
  await rejects(cluster.advance("1s"), /^Error: Cannot advance: this cluster uses real time; start it with clock: "virtual"$/);
  await rejects(cluster.settle(), /^Error: Cannot settle: this cluster uses real time/);
});

/** DynamicResources on a real API server: what users see of Pods with claims. The rules of allocation are in its allocator's tests. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import type { PodResourceClaim } from "../api/generated/core/v1.ts";
import type { ResourceClaim } from "../api/generated/resource.k8s.io/v1.ts";
import { deviceClasses } from "../api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../api/resource.k8s.io/v1/resource-claim.ts";
import { prometheusText } from "../base/metrics/prometheus-text.ts";
import { rounds } from "../testing/rounds.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import { runCrashingSchedulers } from "../testing/servers/scheduler-crashes.ts";
import { aNode, aPod, type PodParts } from "./framework/testing/builders.ts";
import { aClaim, aDeviceClass, aRequest, aSlice, DRIVER } from "./plugins/dynamic-resources/testing/devices.ts";

const using = (...claims: readonly string[]): PodParts => ({
  spec: { resourceClaims: claims.map((name, index): PodResourceClaim => ({ name: `c${index}`, resourceClaimName: name })) },
});
const onNode = (node: string, ...devices: string[]) => aSlice(`slice-of-${node}`, devices, { nodeName: node });
const UNHELPFUL = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";

async function claim({ client }: Pick<ScheduledServer, "client">, name: string): Promise<ResourceClaim> {
  return client.get(resourceClaims, { namespace: "default", name });
}

function devicesOf({ status }: ResourceClaim): readonly string[] {
  return (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`);
}

describe("a Pod with claims", () => {
  test("is placed where devices are; the claim has them, is reserved for the Pod, and protected", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aNode("n2"), onNode("n2", "a"), aDeviceClass(), aClaim("gpu"));

    await cluster.make(aPod("p", using("gpu")));

    deepEqual(await cluster.places(), ["p on n2"]);
    const { metadata, status } = await claim(cluster, "gpu");
    const { uid } = (await cluster.pod("p")).metadata;
    deepEqual(metadata.finalizers, ["resource.kubernetes.io/delete-protection"]);
    deepEqual(status?.reservedFor, [{ resource: "pods", name: "p", uid }]);
    const { allocationTimestamp, ...allocation } = status?.allocation ?? {};
    ok(allocationTimestamp !== undefined);
    deepEqual(allocation, {
      devices: { results: [{ request: "gpu", driver: DRIVER, pool: "n2", device: "a" }] },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }] },
    });
  });

  test("waits with upstream's message until a device is free", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), onNode("n1", "a"), aDeviceClass(), aClaim("gpu"), aClaim("more"));
    await cluster.make(aPod("p", using("gpu")));

    await cluster.make(aPod("q", using("more")));
    deepEqual(await cluster.eventsOf("q"), [
      `Warning FailedScheduling 0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, ${UNHELPFUL}`,
    ]);

    const { status: _released, ...rest } = await claim(cluster, "gpu");
    await cluster.client.updateStatus(resourceClaims, { ...rest, status: {} });
    await cluster.clock.advance(15_000);

    deepEqual(await cluster.places(), ["p on n1", "q on n1"]);
  });

  test("is gated until its claim and the device class exist", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), onNode("n1", "a"));
    await cluster.make(aPod("p", using("gpu")));
    deepEqual([cluster.attempts(), await cluster.eventsOf("p")], [0, []]);

    await cluster.make(aClaim("gpu"));
    deepEqual(await cluster.eventsOf("p"), [
      `Warning FailedScheduling 0/1 nodes are available: request gpu: device class gpu does not exist. no new claims to deallocate, ${UNHELPFUL}`,
    ]);

    await cluster.client.create(deviceClasses, aDeviceClass());
    await cluster.clock.advance(15_000);
    deepEqual(await cluster.places(), ["p on n1"]);
  });

  test("shares an allocated claim on the claim's node only", async () => {
    await using cluster = await startScheduledServer({}, aNode("n1"), aNode("n2"), onNode("n2", "a"), aDeviceClass(), aClaim("gpu"));

    await cluster.make(aPod("p", using("gpu")), aPod("q", using("gpu")));

    deepEqual(await cluster.places(), ["p on n2", "q on n2"]);
    deepEqual(
      (await claim(cluster, "gpu")).status?.reservedFor?.map(({ name }) => name),
      ["p", "q"],
    );
  });

  test("whose unused claim is on an unsuitable node gets it deallocated and is placed elsewhere", async () => {
    const allocation = {
      devices: { results: [{ request: "gpu", driver: DRIVER, pool: "n1", device: "a" }] },
      nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: ["n1"] }] }] },
    };
    const objects = [aNode("n1", { unschedulable: true }), aNode("n2"), onNode("n1", "a"), onNode("n2", "b"), aDeviceClass()];
    await using cluster = await startScheduledServer({}, ...objects, aClaim("gpu", [aRequest()], { status: { allocation } }));

    await cluster.make(aPod("p", using("gpu")));
    match(
      (await cluster.eventsOf("p"))[0] ?? "",
      /1 resourceclaim not available on the node.*\. deallocation of ResourceClaim completed, preemption: /,
    );
    await cluster.clock.advance(15_000);

    deepEqual(await cluster.places(), ["p on n2"]);
    deepEqual(devicesOf(await claim(cluster, "gpu")), ["n2/b"]);
  });

  test("of two requests gets all claims or none", async () => {
    const objects = [aNode("n1"), aNode("n2"), onNode("n1", "a"), onNode("n2", "b", "c"), aDeviceClass(), aClaim("one"), aClaim("two")];
    await using cluster = await startScheduledServer({}, ...objects);

    await cluster.make(aPod("p", using("one", "two")));

    deepEqual(await cluster.places(), ["p on n2"]);
    deepEqual([...devicesOf(await claim(cluster, "one")), ...devicesOf(await claim(cluster, "two"))], ["n2/b", "n2/c"]);
  });

  test("whose selector takes long waits until it is evaluated in the background, and preempts nothing meanwhile", async () => {
    const slow = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, lists.range(550).all(b, lists.range(9).all(c, a + b + c >= 0)))";
    const gpu = aClaim("gpu", [aRequest({ selectors: [{ cel: { expression: slow } }] })]);
    await using cluster = await startScheduledServer({}, aNode("n1"), onNode("n1", "a", "b"), aDeviceClass(), gpu);

    await cluster.make(aPod("p", using("gpu")));

    deepEqual(await cluster.eventsOf("p"), [
      "Warning FailedScheduling 0/1 nodes are available: 1 device selectors are being evaluated.",
      "Normal Scheduled Successfully assigned default/p to n1",
    ]);
    deepEqual(await cluster.places(), ["p on n1"]);
  });

  test("prefers a node with an earlier alternative", async () => {
    const large = aSlice("slice-of-n2", ["a"], { nodeName: "n2", driver: "large.example.com" });
    const from = (driver: string) =>
      aDeviceClass(driver, { selectors: [{ cel: { expression: `device.driver == "${driver}.example.com"` } }] });
    const alternatives = [
      { name: "large", deviceClassName: "large" },
      { name: "small", deviceClassName: "gpu" },
    ];
    const objects = [aNode("n1"), aNode("n2"), aNode("n3"), onNode("n1", "a"), onNode("n3", "a"), large, from("gpu"), from("large")];
    await using cluster = await startScheduledServer({}, ...objects, aClaim("any", [{ name: "gpu", firstAvailable: alternatives }]));

    await cluster.make(aPod("p", using("any")));

    deepEqual(await cluster.places(), ["p on n2"]);
    equal((await claim(cluster, "any")).status?.allocation?.devices?.results?.[0]?.request, "gpu/large");
  });

  test("waits for the binding conditions of its device", async () => {
    const conditions = { bindingConditions: ["attached"], bindingFailureConditions: ["failed"] };
    const slice = aSlice("s", [{ name: "a", ...conditions }]);
    await using cluster = await startScheduledServer({}, aNode("n1"), slice, aDeviceClass(), aClaim("gpu"));
    await cluster.make(aPod("p", using("gpu")));
    deepEqual(await cluster.places(), ["p waits"]);
    deepEqual(await cluster.eventsOf("p"), ["Normal BindingConditionsPending waiting for binding conditions for device on node n1"]);

    const allocated = await claim(cluster, "gpu");
    const attached = { type: "attached", status: "True" as const, reason: "Done", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const devices = [{ driver: DRIVER, pool: "n1", device: "a", conditions: [attached] }];
    await cluster.client.updateStatus(resourceClaims, { ...allocated, status: { ...allocated.status, devices } });
    await cluster.clock.advance(1_000);

    deepEqual(await cluster.places(), ["p on n1"]);
  });
});

const AMOUNTS = { "example.com/gpu": "2" };
const TWO_DEVICES = { name: "main", image: "web", resources: { requests: AMOUNTS, limits: AMOUNTS } };

test("an extended resource of a device class is allocated by a claim that the scheduler creates", async () => {
  const deviceClass = aDeviceClass("gpu", { extendedResourceName: "example.com/gpu" });
  await using cluster = await startScheduledServer({}, aNode("n1"), onNode("n1", "a", "b", "c"), deviceClass);

  await cluster.make(aPod("p", { containers: [TWO_DEVICES] }));

  deepEqual(await cluster.places(), ["p on n1"]);
  const { items } = await cluster.client.list(resourceClaims);
  const [created] = items;
  ok(created !== undefined);
  match(created.metadata.name, /^p-extended-resources-.{5}$/);
  deepEqual(created.metadata.annotations, { "resource.kubernetes.io/extended-resource-claim": "true" });
  deepEqual(devicesOf(created), ["n1/a", "n1/b"]);
  const [mapping, ...others] = (await cluster.pod("p")).status?.extendedResourceClaimStatus?.requestMappings ?? [];
  deepEqual([mapping?.resourceName, mapping?.requestName, others], ["example.com/gpu", "container-0-request-0", []]);
  match(prometheusText(cluster.scheduler.metrics()), /^scheduler_resourceclaim_creates_total\{status="success"\} 1$/m);

  await cluster.make(aPod("q", { containers: [TWO_DEVICES] }));
  deepEqual(await cluster.places(), ["p on n1", "q waits"]);
});

const DEATHS_MAX = rounds({ quick: 5, full: 200 });

test("a scheduler that crashes after any request never gives a device to two claims, and places every Pod", async () => {
  const names = ["p1", "p2", "p3"];
  const objects = [
    ...[aNode("n1"), aNode("n2"), onNode("n1", "a", "b"), onNode("n2", "c"), aDeviceClass()],
    ...names.flatMap((name) => [aClaim(`of-${name}`), aPod(name, using(`of-${name}`))]),
  ];
  const undisturbed = await runCrashingSchedulers({ objects, deaths: [], seed: 1 });
  const stride = Math.max(1, Math.ceil(undisturbed.calls / DEATHS_MAX));

  for (let death = 1; death <= undisturbed.calls; death += stride) {
    const { end, claims } = await runCrashingSchedulers({ objects, deaths: [death], seed: 1 });
    const how = `It died after request ${death} of ${undisturbed.calls}`;
    deepEqual(end.placed.map(({ metadata }) => metadata.name).toSorted(), names, how);
    deepEqual(claims.flatMap(devicesOf).toSorted(), ["n1/a", "n1/b", "n2/c"], how);
    for (const { metadata, status } of claims)
      deepEqual(
        status?.reservedFor?.map(({ name }) => `of-${name}`),
        [metadata.name],
        how,
      );
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, ResourceQuota } from "../../../generated/core/v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../generated/resource.k8s.io/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import { listOf } from "./amounts.ts";
import { justNow, type QuotaSurroundings } from "./evaluator.ts";
import { evaluatorOf, evaluatorsOf, usageOfAll } from "./evaluators.ts";
import { isInAllScopes } from "./scopes.ts";
import { stub } from "../../../../base/testing/stub.ts";

type List = Readonly<Record<string, string>>;

const NOW_MS = Date.UTC(2026, 0, 1);

function usage(plural: string, object: object, surroundings: QuotaSurroundings = justNow(NOW_MS)): List {
  const group = plural === "resourceclaims" ? "resource.k8s.io" : "";
  return listOf(evaluatorOf(group, plural).usageOf({ metadata: { name: "x" }, ...object } as KubeObject, surroundings));
}

function aContainer(requests: List, limits: List = {}, more: object = {}): object {
  return { name: "c", resources: { requests, limits }, ...more };
}

/** Usage of every unfinished Pod. */
const RUNNING = { "count/pods": "1", pods: "1" };

function cpu(text: string): List {
  return { cpu: text, "requests.cpu": text };
}

function resizing(status: object, conditions: readonly object[] = []): object {
  const spec = { containers: [aContainer({ cpu: "2" }, { cpu: "4" })] };
  return { spec, status: { conditions, containerStatuses: [{ name: "c", ...status }] } };
}

const PODS: readonly [what: string, pod: object, usage: List][] = [
  ["a Pod without requests", { spec: { containers: [{ name: "c" }] } }, RUNNING],
  [
    "a Pod with native resources",
    {
      spec: {
        containers: [
          aContainer({ cpu: "1", memory: "1Gi", "ephemeral-storage": "1G" }, { cpu: "2", memory: "2Gi", "ephemeral-storage": "2G" }),
        ],
      },
    },
    {
      ...RUNNING,
      ...cpu("1"),
      "limits.cpu": "2",
      memory: "1Gi",
      "requests.memory": "1Gi",
      "limits.memory": "2Gi",
      "ephemeral-storage": "1G",
      "requests.ephemeral-storage": "1G",
      "limits.ephemeral-storage": "2G",
    },
  ],
  [
    "a Pod that asks for devices and large pages",
    {
      spec: {
        containers: [
          aContainer({ "example.com/gpu": "2", "hugepages-2Mi": "4Mi", "deviceclass.resource.kubernetes.io/gpu": "1", storage: "1" }),
        ],
      },
    },
    {
      ...RUNNING,
      "requests.example.com/gpu": "2",
      "hugepages-2Mi": "4Mi",
      "requests.hugepages-2Mi": "4Mi",
      "requests.deviceclass.resource.kubernetes.io/gpu": "1",
    },
  ],
  [
    "containers together",
    { spec: { containers: [aContainer({ cpu: "1" }), aContainer({ cpu: "500m" })] } },
    { ...RUNNING, ...cpu("1500m") },
  ],
  [
    "an init container that takes more than what runs afterwards",
    { spec: { containers: [aContainer({ cpu: "1" })], initContainers: [aContainer({ cpu: "3" }), aContainer({ cpu: "2" })] } },
    { ...RUNNING, ...cpu("3") },
  ],
  [
    "a sidecar beside what runs, and beside the init containers after it",
    {
      spec: {
        containers: [aContainer({ cpu: "1" })],
        initContainers: [aContainer({ cpu: "2" }), aContainer({ cpu: "1" }, {}, { restartPolicy: "Always" }), aContainer({ cpu: "2" })],
      },
    },
    { ...RUNNING, ...cpu("3") },
  ],
  [
    "a Pod with overhead, which raises limits only where there are some",
    { spec: { containers: [aContainer({ cpu: "1" }, { memory: "1Gi" })], overhead: { cpu: "100m", memory: "1Gi" } } },
    { ...RUNNING, ...cpu("1100m"), memory: "1Gi", "requests.memory": "1Gi", "limits.memory": "2Gi" },
  ],
  [
    "a Pod that says it as a whole",
    {
      spec: {
        containers: [aContainer({ cpu: "1" }, { cpu: "1" })],
        resources: { requests: { cpu: "2" }, limits: { cpu: "3", memory: "1Gi" } },
      },
    },
    { ...RUNNING, ...cpu("2"), "limits.cpu": "3", "limits.memory": "1Gi" },
  ],
  ["one that has failed", { status: { phase: "Failed" } }, { "count/pods": "1" }],
  ["one that has succeeded", { status: { phase: "Succeeded" } }, { "count/pods": "1" }],
  [
    "one that should be gone by now",
    { metadata: { name: "x", deletionTimestamp: "2025-12-31T23:59:00Z", deletionGracePeriodSeconds: 59 } },
    { "count/pods": "1" },
  ],
  ["a terminating Pod", { metadata: { name: "x", deletionTimestamp: "2025-12-31T23:59:30Z", deletionGracePeriodSeconds: 30 } }, RUNNING],
  [
    "one that grows, and was not granted it",
    resizing({ resources: { requests: { cpu: "1" }, limits: { cpu: "3" } }, allocatedResources: { cpu: "1" } }),
    { ...RUNNING, ...cpu("2"), "limits.cpu": "4" },
  ],
  [
    "one that shrinks, and has not given it back",
    resizing({ resources: { requests: { cpu: "3" }, limits: { cpu: "5" } }, allocatedResources: { cpu: "2500m" } }),
    { ...RUNNING, ...cpu("3"), "limits.cpu": "5" },
  ],
  [
    "one that cannot grow",
    resizing({ resources: { requests: { cpu: "1" }, limits: { cpu: "3" } }, allocatedResources: { cpu: "1500m" } }, [
      { type: "PodResizePending", reason: "Infeasible" },
    ]),
    { ...RUNNING, ...cpu("1500m"), "limits.cpu": "3" },
  ],
  ["a resize that the node has not reported yet", resizing({}), { ...RUNNING, ...cpu("2"), "limits.cpu": "4" }],
];

for (const [what, pod, expected] of PODS) {
  test(`the quota usage of ${what} equals upstream's`, () => assert.deepEqual(usage("pods", pod), expected));
}

function aService(spec: object): List {
  return usage("services", { spec: { ports: [{ port: 1, nodePort: 30_000 }, { port: 2 }], ...spec } });
}

test("Services use node ports and load balancers, by their type", () => {
  const one = { "count/services": "1", services: "1", "services.loadbalancers": "0", "services.nodeports": "0" };

  assert.deepEqual(aService({}), one);
  assert.deepEqual(aService({ type: "NodePort" }), { ...one, "services.nodeports": "2" });
  assert.deepEqual(aService({ type: "LoadBalancer" }), { ...one, "services.nodeports": "2", "services.loadbalancers": "1" });
  assert.deepEqual(aService({ type: "LoadBalancer", allocateLoadBalancerNodePorts: false }), {
    ...one,
    "services.nodeports": "1",
    "services.loadbalancers": "1",
  });
});

test("PersistentVolumeClaims use storage in whole bytes, in total and per class, by capacity if it is greater", () => {
  const claim = (spec: object, more: object = {}) => usage("persistentvolumeclaims", { spec, ...more });
  const one = { "count/persistentvolumeclaims": "1", persistentvolumeclaims: "1" };
  const resources = { requests: { storage: "1500m" } };

  assert.deepEqual(claim({}), one);
  assert.deepEqual(claim({ resources }), { ...one, "requests.storage": "2" });
  const gold = { "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1", "gold.storageclass.storage.k8s.io/requests.storage": "2" };
  assert.deepEqual(claim({ resources, storageClassName: "gold" }), { ...one, "requests.storage": "2", ...gold });
  const annotations = { "volume.beta.kubernetes.io/storage-class": "gold" };
  assert.deepEqual(claim({ resources, storageClassName: "x" }, { metadata: { name: "x", annotations } }), {
    ...one,
    "requests.storage": "2",
    ...gold,
  });
  const given = (storage: string) =>
    claim({ resources: { requests: { storage: "1Gi" } } }, { status: { allocatedResources: { storage } } });
  assert.deepEqual([given("2Gi")["requests.storage"], given("1")["requests.storage"]], ["2Gi", "1Gi"]);
});

function aClass(name: string, extendedResourceName?: string): DeviceClass {
  const spec = extendedResourceName === undefined ? {} : { extendedResourceName };
  return { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name }, spec };
}

test("ResourceClaims use the worst case of each device class", () => {
  const exactly = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: "ExactCount", count });
  const requests = [
    { name: "a", exactly: exactly("gpu", 2) },
    { name: "b", exactly: { deviceClassName: "gpu", allocationMode: "All" } },
    { name: "c", firstAvailable: [exactly("gpu", 1), exactly("gpu", 3), exactly("nic", 1)] },
  ];
  const surroundings = { ...justNow(NOW_MS), deviceClasses: [aClass("gpu", "example.com/gpu"), aClass("nic")] };

  assert.deepEqual(usage("resourceclaims", { spec: { devices: { requests } } }, surroundings), {
    "count/resourceclaims.resource.k8s.io": "1",
    "gpu.deviceclass.resource.k8s.io/devices": "37",
    "nic.deviceclass.resource.k8s.io/devices": "1",
    "requests.deviceclass.resource.kubernetes.io/gpu": "37",
    "requests.deviceclass.resource.kubernetes.io/nic": "1",
    "requests.example.com/gpu": "37",
  });
});

test("a ResourceClaim of a Pod uses only what the Pod does not use already", () => {
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }];
  const annotations = { "resource.kubernetes.io/extended-resource-claim": "true" };
  const claim = (name: string) =>
    stub<ResourceClaim>({
      metadata: { name, annotations, ownerReferences },
      spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } }] } },
    });
  const pod = stub<Pod>({ metadata: { name: "p", uid: "u" }, spec: { containers: [aContainer({ "example.com/gpu": "2" })] } });
  const around = { ...justNow(NOW_MS), deviceClasses: [aClass("gpu", "example.com/gpu")], podOf: () => pod };
  const takes = (name: string, claims: readonly ResourceClaim[], owner = pod) =>
    usage("resourceclaims", claim(name), { ...around, claims, podOf: () => owner })["requests.example.com/gpu"];

  assert.equal(takes("a", []), undefined);
  assert.equal(takes("b", [claim("a")]), "2");
  assert.equal(takes("a", [claim("b")]), undefined);
  assert.equal(takes("a", [], { ...pod, metadata: { ...pod.metadata, uid: "another" } }), "2");
  assert.equal(takes("a", [], { ...pod, status: { extendedResourceClaimStatus: { resourceClaimName: "b" } } } as Pod), "2");
});

function aQuota(spec: NonNullable<ResourceQuota["spec"]>): ResourceQuota {
  return { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec };
}

test("the evaluators of a quota follow from its resource names", () => {
  const asked = (...names: readonly string[]) =>
    evaluatorsOf(aQuota({ hard: Object.fromEntries(names.map((name) => [name, "1"])) }), {
      ...justNow(NOW_MS),
      deviceClasses: [aClass("gpu", "example.com/gpu")],
    })
      .map(({ group, plural }) => (group === "" ? plural : `${plural}.${group}`))
      .toSorted();

  assert.deepEqual(asked("limits.cpu", "services.nodeports"), ["pods", "services"]);
  assert.deepEqual(asked("count/pods", "secrets", "count/secrets", "count/jobs.batch"), ["jobs.batch", "pods", "secrets"]);
  assert.deepEqual(asked("a.storageclass.storage.k8s.io/requests.storage"), ["persistentvolumeclaims"]);
  assert.deepEqual(asked("requests.example.com/gpu"), ["pods", "resourceclaims.resource.k8s.io"]);
  assert.deepEqual(asked("requests.example.com/nic"), ["pods"]);
  assert.deepEqual(asked("a.deviceclass.resource.k8s.io/devices"), ["resourceclaims.resource.k8s.io"]);
});

test("the usage of all objects is summed by name and scope", () => {
  const pods = stub<KubeObject[]>([
    { metadata: { name: "a" }, spec: { containers: [aContainer({ cpu: "1" })] } },
    { metadata: { name: "b" }, spec: { containers: [aContainer({ cpu: "500m" })] }, status: { phase: "Failed" } },
    { metadata: { name: "c" }, spec: { containers: [{ name: "c" }] } },
  ]);
  const count = (spec: NonNullable<ResourceQuota["spec"]>) => {
    const quota = aQuota(spec);
    const kinds = evaluatorsOf(quota, justNow(NOW_MS)).map((evaluator) => ({
      evaluator,
      objects: evaluator.plural === "pods" ? pods : [],
    }));
    return listOf(usageOfAll(quota, kinds, justNow(NOW_MS)));
  };

  assert.deepEqual(count({ hard: { pods: "9", "count/pods": "9", "requests.cpu": "9", services: "9" } }), {
    pods: "2",
    "count/pods": "3",
    "requests.cpu": "1",
    services: "0",
  });
  assert.deepEqual(count({ hard: { pods: "9" }, scopes: ["BestEffort"] }), { pods: "1" });
  assert.deepEqual(count({ hard: { pods: "9" }, scopes: ["BestEffort", "Terminating"] }), { pods: "0" });
});

type Scope = NonNullable<NonNullable<ResourceQuota["spec"]>["scopeSelector"]>["matchExpressions"];

function isIn(plural: string, object: object, scope: NonNullable<Scope>[number]): boolean {
  const quota = aQuota({ scopeSelector: { matchExpressions: [scope] } });
  return isInAllScopes(evaluatorOf("", plural), quota, { metadata: { name: "x" }, ...object } as KubeObject);
}

test("a scope selector matches by name, by any of several, or by absence", () => {
  const pod = (priorityClassName?: string) => ({ spec: priorityClassName === undefined ? {} : { priorityClassName } });
  const operators = (plural: string, scopeName: "PriorityClass" | "VolumeAttributesClass", object: object) =>
    (["In", "NotIn", "Exists", "DoesNotExist"] as const).map((operator) =>
      isIn(plural, object, { scopeName, operator, values: ["a", "b"] }),
    );

  assert.deepEqual(operators("pods", "PriorityClass", pod("a")), [true, false, true, false]);
  assert.deepEqual(operators("pods", "PriorityClass", pod("c")), [false, true, true, false]);
  assert.deepEqual(operators("pods", "PriorityClass", pod()), [false, true, false, true]);
  const claim = { spec: { volumeAttributesClassName: "a" }, status: { currentVolumeAttributesClassName: "c" } };
  assert.deepEqual(operators("persistentvolumeclaims", "VolumeAttributesClass", claim), [true, true, true, false]);
  assert.deepEqual(operators("persistentvolumeclaims", "VolumeAttributesClass", { spec: {} }), [false, true, false, true]);
  assert.deepEqual(operators("persistentvolumeclaims", "PriorityClass", claim), [false, false, false, false]);
  assert.equal(isIn("secrets", {}, { scopeName: "NotBestEffort", operator: "Exists" }), false);
});

test("a Pod with cross-namespace affinity is in a scope of its own", () => {
  const wants = (affinity: object) => isIn("pods", { spec: { affinity } }, { scopeName: "CrossNamespacePodAffinity", operator: "Exists" });
  const term = { topologyKey: "zone", namespaceSelector: {} };

  assert.equal(wants({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } }), false);
  assert.equal(
    wants({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", namespaces: ["a"] }] } }),
    true,
  );
  assert.equal(
    wants({ podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } }),
    true,
  );
});

test("every container must set what a quota of cpu or memory counts, unless it is set at Pod level", () => {
  const missing = (spec: object, ...names: readonly string[]) =>
    evaluatorOf("", "pods").whatIsMissing?.(stub<Pod>({ metadata: { name: "x" }, spec }), names);
  const containers = [aContainer({ cpu: "1" }), aContainer({}, {}, { name: "b" }), aContainer({}, {}, { name: "a" })];

  assert.equal(missing({ containers }, "pods", "memory", "cpu"), "must specify cpu for: a,b; memory for: a,b,c");
  assert.equal(
    missing({ containers, initContainers: [aContainer({}, {}, { name: "i" })] }, "requests.cpu"),
    "must specify requests.cpu for: a,b,i",
  );
  assert.equal(missing({ containers }, "requests.ephemeral-storage", "requests.example.com/gpu"), undefined);
  assert.equal(missing({ containers, resources: { limits: { memory: "1" } } }, "cpu", "memory"), undefined);
});

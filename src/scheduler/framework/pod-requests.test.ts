import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { aPod, type PodParts } from "./testing/builders.ts";
import { requestsOf } from "./pod-requests.ts";

const MEGA = 1024 * 1024;

/** A container that requests so much, as "cpu/memory"; "-" is nothing. */
function container(name: string, requests: string, more: Partial<Container> = {}): Container {
  const [cpu = "-", memory = "-"] = requests.split("/");
  return { name, resources: { requests: { ...(cpu !== "-" && { cpu }), ...(memory !== "-" && { memory }) } }, ...more };
}

function sidecar(name: string, requests: string): Container {
  return container(name, requests, { restartPolicy: "Always" });
}

/** What the node says about a container. */
function status(name: string, inForce: Record<string, string>, allotted: Record<string, string>): ContainerStatus {
  return { name, ready: true, restartCount: 0, image: "", imageID: "", resources: { requests: inForce }, allocatedResources: allotted };
}

/** CPU and memory in Mi, each as it is and as it is scored. */
function summary(pod: Pod): string {
  const { requests, nonZeroMilliCpu, nonZeroMemoryBytes } = requestsOf(pod);
  return `${requests.milliCpu}m/${requests.memoryBytes / MEGA}Mi scored ${nonZeroMilliCpu}m/${nonZeroMemoryBytes / MEGA}Mi`;
}

const infeasible = [{ type: "PodResizePending", status: "True", reason: "Infeasible" }];
const deferred = [{ type: "PodResizePending", status: "True", reason: "Deferred" }];
const resizing = {
  wanted: [container("a", "300m/30Mi")],
  said: [status("a", { cpu: "100m", memory: "10Mi" }, { cpu: "200m", memory: "50Mi" })],
};

const rows: readonly { readonly title: string; readonly pod: PodParts; readonly expected: string }[] = [
  { title: "nothing counts as 100m and 200Mi in scores", pod: {}, expected: "0m/0Mi scored 100m/200Mi" },
  { title: "an amount of zero is one", pod: { cpu: "0", memory: "0" }, expected: "0m/0Mi scored 0m/0Mi" },
  { title: "the default is per container", pod: { images: ["a", "b"], cpu: "500m" }, expected: "500m/0Mi scored 600m/400Mi" },
  {
    title: "containers add up",
    pod: { containers: [container("a", "1/1Mi"), container("b", "250m/2Mi")] },
    expected: "1250m/3Mi scored 1250m/3Mi",
  },
  { title: "less than a thousandth of a CPU is one", pod: { cpu: "100u", memory: "1Mi" }, expected: "1m/1Mi scored 1m/1Mi" },
  {
    title: "init containers run one at a time",
    pod: { containers: [container("a", "1/1Mi")], initContainers: [container("i", "500m/8Mi"), container("j", "2/4Mi")] },
    expected: "2000m/8Mi scored 2000m/8Mi",
  },
  {
    title: "an init container has the sidecars before it beside it, not those after it",
    pod: {
      containers: [container("a", "100m/1Mi")],
      initContainers: [sidecar("s", "200m/2Mi"), container("i", "1/1Mi"), sidecar("t", "400m/4Mi")],
    },
    expected: "1200m/7Mi scored 1200m/7Mi",
  },
  {
    title: "an init container without requests counts with the default",
    pod: { containers: [container("a", "50m/1Mi")], initContainers: [container("i", "-/-")] },
    expected: "50m/1Mi scored 100m/200Mi",
  },
  {
    title: "overhead is added to both",
    pod: { cpu: "1", overhead: { cpu: "250m", memory: "16Mi" } },
    expected: "1250m/16Mi scored 1250m/216Mi",
  },
  {
    title: "Pod-level requests replace those of the containers",
    pod: { cpu: "1", memory: "1Mi", overhead: { cpu: "10m" }, spec: { resources: { requests: { cpu: "200m", memory: "5Mi" } } } },
    expected: "210m/5Mi scored 210m/5Mi",
  },
  {
    title: "a resource that neither the Pod nor a container requests has the default",
    pod: { images: ["a", "b"], spec: { resources: { requests: { cpu: "2" } } } },
    expected: "2000m/0Mi scored 2000m/400Mi",
  },
  {
    title: "beside a request of the whole Pod, a container without an amount adds nothing to those with one",
    pod: { containers: [container("a", "-/1Mi"), container("b", "-/-")], spec: { resources: { requests: { cpu: "2" } } } },
    expected: "2000m/1Mi scored 2000m/1Mi",
  },
  {
    title: "resources that Pod-level requests do not support are ignored",
    pod: { images: ["a", "b"], cpu: "1", memory: "1Mi", spec: { resources: { requests: { "ephemeral-storage": "1Gi" } } } },
    expected: "1000m/1Mi scored 1100m/201Mi",
  },
  {
    title: "during a resize the maximum of desired, allocated and actual counts",
    pod: { containers: resizing.wanted, status: { containerStatuses: resizing.said } },
    expected: "300m/50Mi scored 300m/50Mi",
  },
  {
    title: "a deferred resize may still happen",
    pod: { containers: resizing.wanted, status: { containerStatuses: resizing.said, conditions: deferred } },
    expected: "300m/50Mi scored 300m/50Mi",
  },
  {
    title: "an infeasible resize is ignored",
    pod: { containers: resizing.wanted, status: { containerStatuses: resizing.said, conditions: infeasible } },
    expected: "200m/50Mi scored 200m/50Mi",
  },
  {
    title: "allocated resources without actual ones are ignored",
    pod: {
      cpu: "1",
      memory: "1Mi",
      status: {
        containerStatuses: [{ name: "c0", ready: true, restartCount: 0, image: "", imageID: "", allocatedResources: { cpu: "3" } }],
      },
    },
    expected: "1000m/1Mi scored 1000m/1Mi",
  },
  {
    title: "a sidecar can be resized, an init container cannot",
    pod: {
      containers: [container("a", "100m/1Mi")],
      initContainers: [sidecar("s", "100m/1Mi"), container("i", "100m/1Mi")],
      status: { initContainerStatuses: [status("s", { cpu: "1" }, {}), status("i", { cpu: "8" }, {})] },
    },
    expected: "1100m/2Mi scored 1100m/2Mi",
  },
  {
    title: "the whole Pod can be resized",
    pod: {
      spec: { resources: { requests: { cpu: "1", memory: "10Mi" } } },
      status: { resources: { requests: { cpu: "2" } }, allocatedResources: { cpu: "1500m", memory: "20Mi" } },
    },
    expected: "2000m/20Mi scored 2000m/20Mi",
  },
];

for (const { title, pod, expected } of rows) {
  test(`what a Pod requests: ${title}`, () => {
    assert.equal(summary(aPod("a", pod)), expected);
  });
}

test("what a Pod requests: storage, devices, huge pages and volumes are counted, other names are not", () => {
  const extended = {
    "example.com/gpu": "2",
    "hugepages-2Mi": "4Mi",
    "attachable-volumes-x": "1",
    "y.kubernetes.io/z": "3",
    pods: "5",
    odd: "1",
  };

  const { requests } = requestsOf(aPod("a", { storage: "1Ki", extended }));

  assert.equal(requests.ephemeralStorageBytes, 1024);
  assert.deepEqual(
    requests.scalars,
    new Map([
      ["example.com/gpu", 2],
      ["hugepages-2Mi", 4 * MEGA],
      ["attachable-volumes-x", 1],
      ["y.kubernetes.io/z", 3],
    ]),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../api/generated/core/v1.ts";
import { hasStatusChanged, metadataPatch, newNode, nodeStatus, type NodeDescription } from "./node-object.ts";
import { factsOf } from "../testing/world.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const DESCRIPTION: NodeDescription = { name: "n1", facts: factsOf("n1"), runtimeVersion: "test://1", images: [] };

function described(facts: Partial<NodeDescription["facts"]>, more: Partial<NodeDescription> = {}): NodeDescription {
  return { ...DESCRIPTION, facts: { ...DESCRIPTION.facts, ...facts }, ...more };
}

test("allocatable excludes reserved resources and huge pages", () => {
  const capacity = { cpu: "4", memory: "8Gi", pods: "10", "hugepages-2Mi": "1Gi" };
  const { allocatable } = nodeStatus(undefined, described({ capacity, reserved: { cpu: "500m", memory: "1Gi", nothing: "1" } }), NOW_MS);

  assert.deepEqual(allocatable, { cpu: "3500m", memory: "6Gi", pods: "10", "hugepages-2Mi": "1Gi" });
});

test("a node that cannot run Pods reports why", () => {
  const readyOf = (description: NodeDescription) =>
    nodeStatus(undefined, description, NOW_MS).conditions?.find(({ type }) => type === "Ready");
  const rows = [
    [described({}, { trouble: "container runtime is down: no" }), "container runtime is down: no"],
    [described({ capacity: { cpu: "1" } }), "missing node capacity for resources: memory, pods, ephemeral-storage"],
    [
      described({ capacity: { cpu: "1", memory: "1", pods: "1" } }, { trouble: "a" }),
      "[a, missing node capacity for resources: ephemeral-storage]",
    ],
  ] as const;

  for (const [description, message] of rows) {
    const { status, reason, message: said } = readyOf(description) ?? {};
    assert.deepEqual([status, reason, said], ["False", "KubeletNotReady", message]);
  }
});

test("conditions of other components are kept; own ones keep their transition time", () => {
  const other = { type: "NetworkUnavailable", status: "False", reason: "Other", message: "mine" };
  const first = nodeStatus({ conditions: [other] }, DESCRIPTION, NOW_MS);
  const later = nodeStatus(first, DESCRIPTION, NOW_MS + 60_000);

  assert.equal(later.conditions?.[0], other);
  const ready = later.conditions?.at(-1);
  assert.deepEqual(
    [ready?.type, ready?.lastTransitionTime, ready?.lastHeartbeatTime],
    ["Ready", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"],
  );
  assert.equal(hasStatusChanged(first, later), false);
  assert.equal(hasStatusChanged(first, nodeStatus(first, described({ capacity: { cpu: "5" } }), NOW_MS)), true);
});

test("images are reported by size, largest first, with a limited number of names", () => {
  const image = (id: string, sizeBytes: number) => ({ id, sizeBytes, names: Array.from({ length: 9 }, (_, index) => `${id}:${index}`) });
  const { images } = nodeStatus(undefined, { ...DESCRIPTION, images: [image("small", 1), image("large", 2)] }, NOW_MS);

  assert.deepEqual(
    images?.map(({ names, sizeBytes }) => [names?.[0], names?.length, sizeBytes]),
    [
      ["large:0", 5, 2],
      ["small:0", 5, 1],
    ],
  );
});

test("a Node is created with its taints, Pod CIDRs and port", () => {
  const taints = [{ key: "k", effect: "NoSchedule" as const }];
  const node = newNode(described({ taints, podCidrs: ["10.1.0.0/24"], kubeletPort: 10250, labels: { mine: "yes" } }), NOW_MS);

  assert.deepEqual(node.spec, { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"], taints });
  assert.deepEqual(node.status?.daemonEndpoints, { kubeletEndpoint: { Port: 10250 } });
  assert.equal(node.metadata.labels?.["mine"], "yes");
});

test("only the kubelet's own labels of an existing Node are corrected", () => {
  const description = described({ labels: { mine: "yes", "topology.kubernetes.io/zone": "a" } });
  const { metadata } = newNode(description, NOW_MS);
  const node = (labels: Readonly<Record<string, string>>): Node => {
    return { apiVersion: "v1", kind: "Node", metadata: { name: "n1", annotations: metadata.annotations ?? {}, labels } };
  };
  const own = metadata.labels ?? {};

  assert.equal(metadataPatch(node({ ...own, mine: "changed", more: "x" }), description), undefined);
  assert.deepEqual(metadataPatch(node({ ...own, "topology.kubernetes.io/zone": "b" }), description), {
    metadata: { labels: { "topology.kubernetes.io/zone": "a" } },
  });
});

test("features of the runtime are reported while it reports them", () => {
  const features = {
    handlers: [{ name: "", hasRecursiveReadOnlyMounts: true, hasUserNamespaces: false }],
    hasSupplementalGroupsPolicy: true,
  };
  const first = nodeStatus(undefined, { ...DESCRIPTION, features }, NOW_MS);
  const { runtimeHandlers, features: reported } = first;
  assert.deepEqual(runtimeHandlers, [{ name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: false } }]);
  assert.deepEqual(reported, { supplementalGroupsPolicy: true });
  const older = nodeStatus(first, DESCRIPTION, NOW_MS);
  assert.deepEqual([older.runtimeHandlers, older.features], [undefined, undefined]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod, PodSpec, Taint } from "../../api/generated/core/v1.ts";
import { refusalOf } from "./admit-pod.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NODE: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n1", labels: { zone: "a" } },
  status: {
    allocatable: { cpu: "2", memory: "1Gi", pods: "3", "example.com/gpu": "1" },
    nodeInfo: { operatingSystem: "linux" } as NonNullable<Node["status"]>["nodeInfo"] & {},
  },
};

function pod(spec: Partial<PodSpec> = {}): Pod {
  return buildPod({ spec: { nodeName: "n1", ...spec } });
}

function asking(requests: Readonly<Record<string, string>>): Pod {
  return pod({ containers: [{ name: "c", resources: { requests } }] });
}

function withPort(hostPort: number, hostIP = ""): Pod {
  return pod({ containers: [{ name: "c", ports: [{ containerPort: 80, hostPort, hostIP, protocol: "TCP" }] }] });
}

interface Row {
  readonly it: string;
  readonly pod: Pod;
  readonly others?: readonly Pod[];
  readonly taints?: readonly Taint[];
  readonly refusal: readonly [reason: string, message: string] | undefined;
}

const SHORT = "Node didn't have enough resource";
const AFFINITY = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";

const rows: readonly Row[] = [
  { it: "what fits is taken", pod: asking({ cpu: "2" }), refusal: undefined },
  {
    it: "resources of other Pods are not free",
    pod: asking({ cpu: "500m" }),
    others: [asking({ cpu: "1600m" })],
    refusal: ["OutOfcpu", `${SHORT}: cpu, requested: 500, used: 1600, capacity: 2000`],
  },
  {
    it: "requests of the spec count, not those of the reported status",
    pod: {
      ...asking({ cpu: "1" }),
      status: {
        containerStatuses: [{ name: "c", image: "", imageID: "", ready: true, restartCount: 0, resources: { requests: { cpu: "9" } } }],
      },
    },
    refusal: undefined,
  },
  {
    it: "memory in bytes",
    pod: asking({ memory: "2Gi" }),
    refusal: ["OutOfmemory", `${SHORT}: memory, requested: 2147483648, used: 0, capacity: 1073741824`],
  },
  {
    it: "the number of Pods is checked first",
    pod: asking({ cpu: "9" }),
    others: [pod(), pod(), pod()],
    refusal: ["OutOfpods", `${SHORT}: pods, requested: 1, used: 3, capacity: 3`],
  },
  {
    it: "extended resources that the node has",
    pod: asking({ "example.com/gpu": "2" }),
    refusal: ["OutOfexample.com/gpu", `${SHORT}: example.com/gpu, requested: 2, used: 0, capacity: 1`],
  },
  {
    it: "extended resources that the node does not list are ignored",
    pod: asking({ "example.com/licence": "2" }),
    refusal: undefined,
  },
  { it: "a node selector that matches", pod: pod({ nodeSelector: { zone: "a" } }), refusal: undefined },
  { it: "a node selector that does not match", pod: pod({ nodeSelector: { zone: "b" } }), refusal: ["NodeAffinity", AFFINITY] },
  {
    it: "another name",
    pod: pod({ nodeName: "n2" }),
    refusal: ["NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name"],
  },
  {
    it: "a host port of another Pod",
    pod: withPort(80, "192.0.2.1"),
    others: [withPort(80)],
    refusal: ["NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"],
  },
  { it: "the same port at another address", pod: withPort(80, "192.0.2.1"), others: [withPort(80, "192.0.2.2")], refusal: undefined },
  {
    it: "a NoSchedule taint",
    pod: pod(),
    taints: [{ key: "k", effect: "NoSchedule" }],
    refusal: undefined,
  },
  {
    it: "a NoExecute taint",
    pod: pod(),
    taints: [{ key: "k", effect: "NoExecute" }],
    refusal: ["TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"],
  },
  {
    it: "a tolerated NoExecute taint",
    pod: pod({ tolerations: [{ key: "k", operator: "Exists" }] }),
    taints: [{ key: "k", effect: "NoExecute" }],
    refusal: undefined,
  },
  {
    it: "another operating system",
    pod: pod({ os: { name: "windows" } }),
    refusal: ["PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"],
  },
];

test("admission accepts Pods that fit the node and rejects others with upstream's reason and message", async (t) => {
  for (const { it, pod: wanted, others = [], taints = [], refusal } of rows) {
    await t.test(it, () => {
      const found = refusalOf({ pod: wanted, node: { ...NODE, spec: { taints } }, others });

      assert.deepEqual(found === undefined ? undefined : [found.reason, found.message], refusal);
    });
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };
const SHORT = `pods "p" is forbidden: node didn't have enough allocatable resources:`;
const CAPACITY = [{ reason: "NodeCapacity" }];

for (const [what, nodeName, requests, code, message, causes] of [
  ["to all that its node has", "n1", { cpu: "2", memory: "1Gi" }, 200],
  ["to more than the node has, without being bound", undefined, { cpu: "100" }, 200],
  ["to what it is", "missing", { cpu: "1000m" }, 200],
  ["to more CPU than its node has", "n1", { cpu: "100" }, 403, `${SHORT} cpu, requested: 100000, allocatable: 2000`, CAPACITY],
  [
    "to more of both than its node has",
    "n1",
    { cpu: "2001m", memory: "2Gi" },
    403,
    `${SHORT} cpu, requested: 2001, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
    CAPACITY,
  ],
  ["and is on an unknown node", "missing", { cpu: "2" }, 403, `pods "p" is forbidden: node "missing" not found`],
  [
    "and is on a node of another operating system",
    "w1",
    { cpu: "2" },
    403,
    `pods "p" is forbidden: pod resize is only supported on linux nodes, node "w1" is "windows"`,
    [{ reason: "UnsupportedPlatform" }],
  ],
] as const) {
  test(`PodResizeValidator answers the resize of a pod ${what} with ${code}`, async () => {
    await using server = await startServer({ config: { admission: onlyPlugins("PodResizeValidator") } });
    for (const [name, os] of [
      ["n1", "linux"],
      ["w1", "windows"],
    ] as const) {
      const allocatable = { cpu: "2", memory: "1Gi" };
      await server.call("POST", "/api/v1/nodes", { metadata: { name, labels: { "kubernetes.io/os": os } }, status: { allocatable } });
    }
    const before = { requests: { cpu: "1", memory: "1Mi" }, limits: { cpu: "200", memory: "4Gi" } };
    const containers = [{ name: "c", image: "i", resources: before }];
    await server.call("POST", PODS, { metadata: { name: "p" }, spec: { ...(nodeName && { nodeName }), containers } });

    const patch = { spec: { containers: [{ name: "c", resources: { requests } }] } };
    const answer = await server.call("PATCH", `${PODS}/p/resize`, patch, STRATEGIC);

    assert.deepEqual([answer.code, answer.body.message, answer.body.details?.causes], [code, message, causes]);
  });
}

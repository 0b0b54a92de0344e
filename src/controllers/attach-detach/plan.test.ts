import assert from "node:assert/strict";
import { test } from "node:test";
import { planAttachments, UNMOUNT_TIMEOUT_MS, type AttachmentState, type VolumeState } from "./plan.ts";

function on(nodeName: string, facts: Partial<AttachmentState> = {}): AttachmentState {
  return { name: `va-${nodeName}`, nodeName, isTerminating: false, node: "ready", isInUse: false, unneededMs: 0, ...facts };
}

/** "detach n1 attach n2 blocked n3 again 60000". */
function plan({ nodes = [], isShared = false, attachments = [], ...more }: Partial<VolumeState>): string {
  const { detach, attach, blocked, againMs } = planAttachments({ nodes, isShared, attachments, ...more });
  const parts = [
    ...detach.map(({ nodeName, force }) => `detach ${nodeName}${force === undefined ? "" : ` (${force})`}`),
    ...attach.map((node) => `attach ${node}`),
    ...blocked.map((node) => `blocked ${node}`),
    ...(againMs === undefined ? [] : [`again ${againMs}`]),
  ];
  return parts.join(" ");
}

const LATE = { unneededMs: UNMOUNT_TIMEOUT_MS };

for (const [what, state, expected] of [
  ["that a node needs is attached", { nodes: ["a"] }, "attach a"],
  ["that is attached stays", { nodes: ["a"], attachments: [on("a", { isInUse: true })] }, ""],
  ["that two nodes need is attached to one", { nodes: ["a", "b"] }, "attach a blocked b"],
  ["that may be shared is attached to both", { nodes: ["a", "b"], isShared: true }, "attach a attach b"],
  ["that moves is detached first", { nodes: ["b"], attachments: [on("a")] }, "detach a blocked b"],
  ["that moves waits while it is detached", { nodes: ["b"], attachments: [on("a", { isTerminating: true })] }, "blocked b"],
  ["that may be shared is attached while it is detached", { nodes: ["b"], isShared: true, attachments: [on("a")] }, "detach a attach b"],
  ["whose attachment is being deleted is attached again later", { nodes: ["a"], attachments: [on("a", { isTerminating: true })] }, ""],
  ["in use by a ready node stays, however long", { attachments: [on("a", { isInUse: true, unneededMs: 1e9 })] }, ""],
  ["in use by an unhealthy node stays six minutes", { attachments: [on("a", { isInUse: true, node: "unhealthy" })] }, "again 360000"],
  [
    "in use by a node that is unhealthy too long",
    { attachments: [on("a", { isInUse: true, node: "unhealthy", ...LATE })] },
    "detach a (timeout)",
  ],
  [
    "in use by a node that is unhealthy too long, if no timeout applies",
    { attachments: [on("a", { isInUse: true, node: "unhealthy", ...LATE })], neverTimesOut: true },
    "",
  ],
  [
    "in use by a node out of service, if no timeout applies",
    { attachments: [on("a", { isInUse: true, node: "out-of-service" })], neverTimesOut: true },
    "detach a (out-of-service)",
  ],
  ["whose driver requires no attachment any more stays a minute", { attachments: [on("a", { isOptional: true })] }, "again 60000"],
  [
    "whose driver has required no attachment for a minute",
    { attachments: [on("a", { isOptional: true, unneededMs: 60_000 })] },
    "detach a",
  ],
  ["not in use by an unhealthy node", { attachments: [on("a", { node: "unhealthy" })] }, "detach a"],
  ["of a deleted node stays six minutes", { attachments: [on("a", { node: "missing", unneededMs: 60_000 })] }, "again 300000"],
  ["of a node that was deleted long ago", { attachments: [on("a", { node: "missing", ...LATE })] }, "detach a (timeout)"],
  ["in use by a node out of service", { attachments: [on("a", { isInUse: true, node: "out-of-service" })] }, "detach a (out-of-service)"],
] as const satisfies readonly (readonly [string, Partial<VolumeState>, string])[]) {
  test(`a volume ${what}: ${expected === "" ? "nothing" : expected}`, () => assert.equal(plan(state), expected));
}

import { test } from "node:test";
import { equal } from "node:assert/strict";
import { type FitError, eventNote, fitErrorMessage } from "./fit-error.ts";

const nothing: FitError = { nodeCount: 0, preFilterMessage: "", refused: [], postFilterMessage: "" };

const rows: readonly { readonly when: string; readonly error: Partial<FitError>; readonly says: string }[] = [
  {
    when: "several reasons refuse nodes",
    error: {
      nodeCount: 3,
      refused: [
        { reason: "Insufficient cpu", nodes: 2 },
        { reason: "node(s) had untolerated taint(s)", nodes: 1 },
      ],
    },
    says: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.",
  },
  {
    when: "one node has two reasons",
    error: {
      nodeCount: 1,
      refused: [
        { reason: "Insufficient memory", nodes: 1 },
        { reason: "Insufficient cpu", nodes: 1 },
      ],
    },
    says: "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
  },
  {
    when: "counts have different lengths, so that text order is not the order of numbers",
    error: {
      nodeCount: 12,
      refused: [
        { reason: "Too many pods", nodes: 2 },
        { reason: "Insufficient cpu", nodes: 10 },
      ],
    },
    says: "0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods.",
  },
  {
    when: "two plugins give the same reason",
    error: {
      nodeCount: 5,
      refused: [
        { reason: "no", nodes: 2 },
        { reason: "no", nodes: 3 },
      ],
    },
    says: "0/5 nodes are available: 5 no.",
  },
  {
    when: "preemption did not help",
    error: {
      nodeCount: 5,
      refused: [{ reason: "Insufficient cpu", nodes: 5 }],
      postFilterMessage: "preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.",
    },
    says: "0/5 nodes are available: 5 Insufficient cpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.",
  },
  {
    when: "two plugins tried to help",
    error: {
      nodeCount: 1,
      refused: [{ reason: "Insufficient cpu", nodes: 1 }],
      postFilterMessage:
        "no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    },
    says: "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    when: "a preFilter refused all nodes, so that no other reason counts",
    error: {
      nodeCount: 2,
      preFilterMessage: "node(s) didn't satisfy plugin NodeAffinity",
      refused: [{ reason: "Insufficient cpu", nodes: 2 }],
      postFilterMessage: "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    },
    says: "0/2 nodes are available: node(s) didn't satisfy plugin NodeAffinity. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
  },
  { when: "no reason is known", error: { nodeCount: 4 }, says: "0/4 nodes are available:" },
];

for (const { when, error, says } of rows) {
  test(`the message of an unschedulable Pod is upstream's when ${when}`, () => equal(fitErrorMessage({ ...nothing, ...error }), says));
}

test("a message that fits into an event is unchanged", () => {
  equal(eventNote("x".repeat(1024)), "x".repeat(1024));
});

test("a message too long for an event is truncated to 1,024 bytes with a mark", () => {
  equal(eventNote("x".repeat(1025)), `${"x".repeat(1020)} ...`);
});

test("a long message is not truncated within a character", () => {
  equal(eventNote(`${"x".repeat(1019)}${"é".repeat(10)}`), `${"x".repeat(1019)} ...`);
});

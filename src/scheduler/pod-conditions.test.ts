import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../api/generated/core/v1.ts";
import { silentLogger } from "../base/logger.ts";
import type { Client } from "../client/client.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { aPod } from "./framework/testing/builders.ts";
import { PodConditions, type Verdict } from "./pod-conditions.ts";
import { stub } from "../base/testing/stub.ts";

const BEFORE = "2025-01-01T00:00:00Z";

function why(message: string): Verdict {
  return { reason: "Unschedulable", message };
}

/** A server that answers when it is told to, and what the cluster is known to be. */
function start(pod: Pod) {
  const written: { readonly status: Pod["status"]; readonly answer: () => void }[] = [];
  const known = { pod: pod as Pod | undefined };
  const client = {
    with: () => client,
    patch: (_kind: unknown, _key: unknown, patch: { readonly value: { readonly status: Pod["status"] } }) =>
      new Promise<void>((resolve) => written.push({ status: patch.value.status, answer: resolve })),
  };
  const cluster = { pod: () => known.pod };
  const signal = new AbortController().signal;
  const conditions = new PodConditions({ client: stub<Client>(client), cluster, clock: virtualClock(), log: silentLogger, signal });
  return { conditions, known, written, messages: () => written.map(({ status }) => status?.conditions?.[0]?.message) };
}

/** Lets everything happen that waits for nothing. */
async function turn(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

function having(pod: Pod, status: "True" | "False"): Pod {
  return {
    ...pod,
    status: { conditions: [{ type: "PodScheduled", status, reason: "Unschedulable", message: "a", lastTransitionTime: BEFORE }] },
  };
}

test("of several that are to be told while one is being written, only the newest is", async () => {
  const pod = aPod("p");
  const { conditions, written, messages } = start(pod);
  for (const message of ["a", "b", "c"]) conditions.tell(pod, why(message));
  deepEqual(messages(), ["a"]);

  written[0]?.answer();
  await turn();

  deepEqual(messages(), ["a", "c"]);
});

test("whoever is about to bind a Pod waits for the write under way, and nothing is written after it", async () => {
  const pod = aPod("p");
  const { conditions, written, messages } = start(pod);
  conditions.tell(pod, why("a"));
  conditions.tell(pod, why("b"));
  let isOver = false;

  void conditions.supersede(pod.metadata.uid ?? "")?.then(() => (isOver = true));
  await turn();
  equal(isOver, false);
  written[0]?.answer();
  await turn();

  equal(isOver, true);
  deepEqual(messages(), ["a"]);
  equal(conditions.supersede(pod.metadata.uid ?? ""), undefined);
});

test("a Pod that has a node by now, is gone, or is another of that name is told nothing, neither at once nor later", async () => {
  const pod = aPod("p");
  for (const now of [aPod("p", { node: "n1" }), undefined, { ...pod, metadata: { ...pod.metadata, uid: "another" } }]) {
    const { conditions, known, written, messages } = start(pod);
    conditions.tell(pod, why("a"));
    conditions.tell(pod, why("b"));
    known.pod = now;
    written[0]?.answer();
    await turn();
    conditions.tell(pod, why("c"));

    deepEqual(messages(), ["a"]);
  }
});

test("the time of the transition is that of the last change from or to False; a message alone changes nothing of it", () => {
  const pod = aPod("p");
  const rows = [
    [pod, "now"],
    [having(pod, "True"), "now"],
    [having(pod, "False"), BEFORE],
  ] as const;
  for (const [seen, expected] of rows) {
    const { conditions, written } = start(seen);
    conditions.tell(seen, why("b"));
    const [condition] = written[0]?.status?.conditions ?? [];
    equal(condition?.lastTransitionTime === BEFORE, expected === BEFORE);
    equal(condition?.status, "False");
  }
});

test("what the status says already is not written", () => {
  const pod = having(aPod("p"), "False");
  const { conditions, written } = start(pod);

  conditions.tell(pod, why("a"));

  deepEqual(written, []);
});

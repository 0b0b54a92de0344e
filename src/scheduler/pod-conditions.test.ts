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

/** A server that responds on request, and the observed cluster. */
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

/** Runs everything that is ready. */
async function turn(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

function having(pod: Pod, status: "True" | "False"): Pod {
  return {
    ...pod,
    status: { conditions: [{ type: "PodScheduled", status, reason: "Unschedulable", message: "a", lastTransitionTime: BEFORE }] },
  };
}

test("of several pending conditions only the newest is written", async () => {
  const pod = aPod("p");
  const { conditions, written, messages } = start(pod);
  for (const message of ["a", "b", "c"]) conditions.report(pod, why(message));
  deepEqual(messages(), ["a"]);

  written[0]?.answer();
  await turn();

  deepEqual(messages(), ["a", "c"]);
});

test("binding waits for a condition write in flight, and nothing is written after it", async () => {
  const pod = aPod("p");
  const { conditions, written, messages } = start(pod);
  conditions.report(pod, why("a"));
  conditions.report(pod, why("b"));
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

test("no condition is written, now or later, for a Pod that was assigned, deleted or replaced", async () => {
  const pod = aPod("p");
  for (const now of [aPod("p", { node: "n1" }), undefined, { ...pod, metadata: { ...pod.metadata, uid: "another" } }]) {
    const { conditions, known, written, messages } = start(pod);
    conditions.report(pod, why("a"));
    conditions.report(pod, why("b"));
    known.pod = now;
    written[0]?.answer();
    await turn();
    conditions.report(pod, why("c"));

    deepEqual(messages(), ["a"]);
  }
});

test("lastTransitionTime changes with the status only, not with the message", () => {
  const pod = aPod("p");
  const rows = [
    [pod, "now"],
    [having(pod, "True"), "now"],
    [having(pod, "False"), BEFORE],
  ] as const;
  for (const [seen, expected] of rows) {
    const { conditions, written } = start(seen);
    conditions.report(seen, why("b"));
    const [condition] = written[0]?.status?.conditions ?? [];
    equal(condition?.lastTransitionTime === BEFORE, expected === BEFORE);
    equal(condition?.status, "False");
  }
});

test("an unchanged condition is not written", () => {
  const pod = having(aPod("p"), "False");
  const { conditions, written } = start(pod);

  conditions.report(pod, why("a"));

  deepEqual(written, []);
});

test("a nomination is written after the condition in flight, and instead of the one that waits", async () => {
  const pod = aPod("p");
  const { conditions, written, messages } = start(pod);
  conditions.report(pod, why("a"));
  conditions.report(pod, why("b"));
  const nominated = conditions.nominate(pod, "n1");
  deepEqual(messages(), ["a"]);

  written[0]?.answer();
  await turn();
  written[1]?.answer();
  await nominated;

  deepEqual(
    written.map(({ status }) => status?.nominatedNodeName),
    [undefined, "n1"],
  );
});

test("a nomination that the status has, or of a Pod that is assigned or deleted, is not written", async () => {
  const pod = aPod("p");
  const assigned: Pod = { ...pod, spec: { containers: [], nodeName: "n2" } };
  for (const newest of [{ ...pod, status: { nominatedNodeName: "n1" } }, assigned, undefined]) {
    const { conditions, known, written } = start(pod);
    known.pod = newest;

    await conditions.nominate(pod, "n1");

    equal(written.length, 0);
  }
});

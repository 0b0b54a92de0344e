/**
 * Tests of `k8ts why` in broken situations: it names the true root cause, and every remedy that it proposes works when it is applied. Several
 * files, since each situation runs up to six clusters.
 */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { copyCluster } from "../../src/explain/live/cluster-copy.ts";
import { readView } from "../../src/explain/live/read-view.ts";
import { applyChanges, isAllowed, tryRemedies } from "../../src/explain/live/try-remedies.ts";
import type { Subject } from "../../src/explain/why/cluster-view.ts";
import { rootsOf, why } from "../../src/explain/why/why.ts";
import type { Situation } from "./situations.ts";

const CLUSTER_SCOPED = [
  ...["nodes", "namespaces", "requests", "persistentvolumes"],
  ...["apiservices.apiregistration.k8s.io", "customresourcedefinitions.apiextensions.k8s.io"],
];

function subjectOf(text: string, request: string): Subject {
  const [resource = "", name = request] = text.split("/");
  return { resource, namespace: CLUSTER_SCOPED.includes(resource) ? "" : "default", name };
}

/** Defines one test per situation. */
export function testSituations(situations: readonly Situation[]): void {
  for (const { it, manifests, happens, subject: reference, roots, isFixed } of situations) {
    test(`k8ts why names the root cause of ${it}${isFixed ? ", and its remedy works" : ""}`, async () => {
      await using cluster = await startCluster({ nodes: 1, clock: "virtual" });
      await cluster.apply(manifests);
      const request = happens === undefined ? await cluster.advance("1m") : await happens(cluster);
      const subject = subjectOf(reference, request ?? "");
      const view = await readView({ client: cluster.client, nowMs: cluster.clock.now() });

      const result = why(view, subject);

      equal(result.is, "explained");
      if (result.is !== "explained") return;
      deepEqual(rootsOf(result.explanation), roots, JSON.stringify(result.explanation.finding));
      const trials = await tryRemedies(view, subject, result.explanation, copyCluster);
      deepEqual(trials.is === "verified", isFixed, JSON.stringify(trials));
      if (trials.is !== "verified") return;
      const { changes, access, goal = subject } = trials.remedy;
      await applyChanges(cluster.client, changes);
      if (access !== undefined) return equal(await isAllowed(cluster.client, access), true);
      await cluster.advance("10m");
      const after = why(await readView({ client: cluster.client, nowMs: cluster.clock.now() }), goal);
      const wasTerminating = view.get(goal)?.metadata?.deletionTimestamp !== undefined;
      equal(after.is, wasTerminating ? "missing" : "healthy", JSON.stringify(after));
    });
  }
}

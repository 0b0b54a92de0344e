import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given, type Given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { claimProtectionController } from "./persistent-volume-claim-protection-controller.ts";

const key = (name: string) => ({ namespace: "default", name });
const NOW = { gracePeriodSeconds: 0 };
const CLAIM = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { ...key("data"), finalizers: ["kubernetes.io/pvc-protection"] },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const controller = () => claimProtectionController({ reportsUnused: true });

function aPod(name: string, claimName: string) {
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName } }];
  return buildPod({ metadata: key(name), spec: { containers: [{ name: "c", image: "i" }], volumes } });
}

/** "True NoPodsUsingPVC since 1970-…" */
async function unused({ client }: Given): Promise<string> {
  const { status } = await client.get(persistentVolumeClaims, key("data"));
  const [condition, ...more] = (status?.conditions ?? []).filter(({ type }) => type === "Unused");
  assert.deepEqual(more, []);
  return condition === undefined ? "" : `${condition.status} ${condition.reason} since ${condition.lastTransitionTime}`;
}

test("a claim says since when no Pod uses it; a Pod counts from its creation to its end", async () => {
  await using cluster = await given(CLAIM);
  await cluster.run(controller());
  await cluster.settled();
  const created = formatTime(cluster.clock.now());
  assert.equal(await unused(cluster), `True NoPodsUsingPVC since ${created}`);

  await cluster.clock.advance(60_000);
  await cluster.client.create(pods, aPod("other", "none"));
  await cluster.settled();
  assert.equal(await unused(cluster), `True NoPodsUsingPVC since ${created}`);
  await cluster.client.create(pods, aPod("p", "data"));
  await cluster.settled();
  const used = formatTime(cluster.clock.now());
  assert.equal(await unused(cluster), `False PodUsingPVC since ${used}`);

  await cluster.clock.advance(60_000);
  await cluster.client.patch(pods, key("p"), { type: "merge", value: { status: { phase: "Succeeded" } } }, { subresource: "status" });
  await cluster.settled();
  const ended = formatTime(cluster.clock.now());
  assert.equal(await unused(cluster), `True NoPodsUsingPVC since ${ended}`);
  await cluster.client.delete(pods, key("p"), NOW);
  await cluster.settled();
  assert.equal(await unused(cluster), `True NoPodsUsingPVC since ${ended}`);
});

test("without its gate a claim has no such condition", async () => {
  await using cluster = await given(CLAIM);
  await cluster.run(claimProtectionController());
  await cluster.settled();

  assert.equal(await unused(cluster), "");
});

test("a crash at any step does not change the final condition", () =>
  everyStepMayBeTheLast(
    {
      objects: [CLAIM],
      controllers: () => [controller()],
      restMs: 20_000,
      steps: [
        async ({ client }) => void (await client.create(pods, aPod("p", "data"))),
        async ({ client }) => void (await client.delete(pods, key("p"), NOW)),
      ],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  ));

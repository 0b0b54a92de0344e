/**
 * A node under disk pressure with real containers: the Node reports it, running Pods are evicted and new ones rejected, all with a message,
 * until the pressure is over. The threshold is one that every disk meets.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Node, Pod } from "../../src/api/generated/core/v1.ts";
import { becomes } from "../../src/testing/becomes.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { BUSYBOX_1, busyboxImage } from "../../src/testing/fixtures/busybox-image.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const ALWAYS_MET = "--eviction-hard=nodefs.available<99.9%";
const REJECTED = "Pod was rejected: The node had condition: [DiskPressure]. ";

describe("a node under disk pressure", needs(...REAL_CLUSTER_NEEDS), () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;

  before(async () => {
    cluster = await startRealCluster();
    kubectl = await cluster.inNamespace("pressure");
  });
  after(() => cluster[Symbol.asyncDispose]());

  const nodeOf = async () => (JSON.parse(await kubectl("get nodes -o json")) as { items: readonly [Node] }).items[0];
  const podOf = async (name: string) => JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
  const pressure = async () => (await nodeOf()).status?.conditions?.find(({ type }) => type === "DiskPressure");

  test("k8ts up has no thresholds by default", async () => {
    equal((await pressure())?.status, "False");
    await kubectl("apply -f -", { input: aRealPod("running", SLEEP) });
    await kubectl("wait pod running --for=condition=Ready --timeout=180s");
  });

  test("a running Pod is evicted, and the Node, the Pod and Events say why", async () => {
    // Containers outlive a killed k8ts, so that the Pod runs when the pressure begins.
    await cluster.kill();
    await cluster.up(ALWAYS_MET);
    await kubectl("wait pod running --for=jsonpath={.status.reason}=Evicted --timeout=180s");
    const { phase, message, conditions = [] } = (await podOf("running")).status ?? {};
    equal(phase, "Failed");
    match(message ?? "", /^The node was low on resource: ephemeral-storage\. Threshold quantity: \S+, available: \S+\. /);
    const target = conditions.find(({ type }) => type === "DisruptionTarget");
    deepEqual([target?.status, target?.reason, target?.message], ["True", "TerminationByKubelet", message]);
    const { status, reason, message: said } = (await pressure()) ?? {};
    deepEqual([status, reason, said], ["True", "KubeletHasDiskPressure", "kubelet has disk pressure"]);
    await becomes(async () => {
      const lines = (await kubectl("get events --namespace=default -o custom-columns=R:.reason,M:.message --no-headers")).split("\n");
      return lines.some((line) => /^EvictionThresholdMet +Attempting to reclaim ephemeral-storage$/.test(line.trimEnd()));
    }, true);
  });

  test("a Pod that is bound to the node is rejected", async () => {
    await kubectl("apply -f -", { input: aRealPod("rejected", SLEEP, { nodeName: (await nodeOf()).metadata.name }) });
    await kubectl("wait pod rejected --for=jsonpath={.status.reason}=Evicted --timeout=180s");
    equal((await podOf("rejected")).status?.message, REJECTED);
  });

  test("without the threshold the node is usable again", async () => {
    await cluster.kill();
    await cluster.up();
    await becomes(async () => (await pressure())?.status, "False");
    // The unused image may have been removed.
    await cluster.loadImage(busyboxImage(BUSYBOX_1));
    await kubectl("apply -f -", { input: aRealPod("again", SLEEP) });
    await kubectl("wait pod again --for=condition=Ready --timeout=180s");
  });
});

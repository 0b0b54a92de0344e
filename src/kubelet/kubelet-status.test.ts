/** When and why a kubelet writes the status of a Pod, and the metrics of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../api/core/v1/pod.ts";
import type { Cause } from "../api/machinery/cause.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { prometheusText } from "../base/metrics/prometheus-text.ts";
import { KubeletMetrics } from "./kubelet-metrics.ts";
import { kubeletIdentity } from "./kubelet.ts";
import { startWorld } from "./testing/world.ts";

/** Annotations that define the behaviour of the containers. */
function scripted(settings: Readonly<Record<string, string>>) {
  return { annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value])) };
}

test("a container that has ended is reported before the Pod's sidecar has stopped", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const initContainers = [{ name: "side", image: "side:1", restartPolicy: "Always" as const }];
  await world.pod("p", { restartPolicy: "Never", initContainers }, scripted({ "run-for.c": "5s", "stop-takes.side": "20s" }));
  await world.clock.advance(10_000);

  const { status } = (await world.get("p")) ?? {};
  assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
  assert.equal(status.containerStatuses[0].ready, false);
  assert.equal(status.conditions?.find(({ type }) => type === "Ready")?.status, "False");
  assert.notEqual(status.initContainerStatuses?.[0]?.state?.running, undefined);
  assert.equal(status.phase, "Running");

  await world.clock.advance(20_000);
  assert.equal((await world.get("p"))?.status?.phase, "Succeeded");
});

test("an exceeded deadline is reported at once by an event and Ready=False, and phase Failed follows when no container runs", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", { activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 30 }, scripted({ "stop-takes": "20s" }));
  await world.clock.advance(10_000);

  const { status } = (await world.get("p")) ?? {};
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  assert.deepEqual([status?.phase, status?.reason, ready?.status, ready?.reason], ["Running", undefined, "False", "PodFailed"]);
  const event = "Normal DeadlineExceeded Pod was active on the node longer than the specified deadline";
  assert.deepEqual(
    (await world.eventsOf("p")).filter((line) => line.includes("Deadline")),
    [event],
  );

  await world.clock.advance(20_000);
  const later = (await world.get("p"))?.status;
  assert.deepEqual([later?.phase, later?.reason], ["Failed", "DeadlineExceeded"]);
  assert.deepEqual(
    (await world.eventsOf("p")).filter((line) => line.includes("Deadline")),
    [event],
  );
});

test("containers that terminate are counted once each, by kind, exit code and reason", async () => {
  await using world = await startWorld();
  const metrics = new KubeletMetrics();
  await world.kubelet("n1", { metrics });
  const initContainers = [{ name: "init", image: "init:1" }];
  await world.pod("p", { restartPolicy: "Never", initContainers }, scripted({ "run-for.c": "1s", "exit-code.c": "139" }));
  await world.clock.advance(5_000);
  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(60_000);

  const lines = prometheusText(metrics.families()).split("\n");
  assert.deepEqual(
    lines.filter((line) => line.startsWith("kubelet_terminated_containers_total")),
    [
      'kubelet_terminated_containers_total{container_type="init_container",exit_code="0",reason="Completed"} 1',
      'kubelet_terminated_containers_total{container_type="container",exit_code="139",reason="Error"} 1',
    ],
  );
});

test("every write of a Pod and of the Node carries the kubelet as its cause, and the revision it was based on", async () => {
  await using world = await startWorld();
  const written: { what: string; cause: Cause | undefined }[] = [];
  const inner = world.transportFor(kubeletIdentity("n1"));
  const transport: Transport = {
    ...inner,
    watch: (request, listener) => inner.watch(request, listener),
    document: (path, options) => inner.document(path, options),
    request(request) {
      const { verb, plural, cause } = request;
      if (!["get", "list"].includes(verb) && ["pods", "nodes"].includes(plural)) written.push({ what: `${verb} ${plural}`, cause });
      return inner.request(request);
    },
  };
  await world.kubelet("n1", { transport });
  const made = await world.pod("p", {}, scripted({ "stop-takes": "1s" }));
  await world.clock.settle();
  const running = await world.get("p");
  await world.client.delete(pods, { namespace: "default", name: "p" });
  await world.clock.advance(60_000);

  assert.deepEqual(written[0], {
    what: "create nodes",
    cause: { controller: "kubelet", key: "n1", reason: "Registering", object: "nodes n1" },
  });
  const ofPod = written.filter(({ what }) => what.endsWith("pods"));
  assert.deepEqual(ofPod[0], {
    what: "update pods",
    cause: {
      controller: "kubelet",
      key: "default/p",
      reason: "ReportingStatus",
      object: "pods default/p",
      revision: made.metadata.resourceVersion,
    },
  });
  const last = ofPod.at(-1);
  assert.deepEqual([last?.what, last?.cause?.key], ["delete pods", "default/p"]);
  assert.equal(last?.cause?.reason, "Terminated");
  assert.equal(Number(last?.cause?.revision) > Number(running?.metadata.resourceVersion), true);
});

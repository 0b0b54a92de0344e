/** Devices of ResourceClaims in real containers, with the real kubectl and a simulated DRA driver. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { NodeList } from "../../src/api/generated/core/v1.ts";
import type { ResourceClaim, ResourceClaimList } from "../../src/api/generated/resource.k8s.io/v1.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { startSimulatedDriver } from "../../src/kubelet/dra/testing/simulated-driver.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealContainer, lineOf, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

const WAIT_MS = 260_000;
const WAIT = "--timeout=240s";
const DRIVER = "gpu.test.example.com";
const CDI_DIRECTORY = "/var/run/cdi";
const API = "resource.k8s.io/v1";

test(
  "a container gets the device of its claim, and the driver releases it after the Pod, whatever dies in between",
  needs(...REAL_CLUSTER_NEEDS),
  async () => {
    await using cluster = await startRealCluster();
    const kubectl = await cluster.inNamespace("devices");
    const claims = async (): Promise<readonly ResourceClaim[]> =>
      (JSON.parse(await kubectl("get resourceclaims -o json")) as ResourceClaimList).items;
    const { items: nodes } = JSON.parse(await kubectl("get nodes -o json")) as NodeList;
    const nodeName = nodes[0]?.metadata.name ?? "";
    const requests = [{ name: "gpu", exactly: { deviceClassName: DRIVER } }];
    const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
    const selectors = [{ cel: { expression: `device.driver == "${DRIVER}"` } }];
    for (const object of [
      { apiVersion: API, kind: "DeviceClass", metadata: { name: DRIVER }, spec: { selectors } },
      { apiVersion: API, kind: "ResourceClaimTemplate", metadata: { name: "one" }, spec: { spec: { devices: { requests } } } },
      // The kubelet withdraws the slices of a node whose driver is missing, those of all nodes stay.
      {
        apiVersion: API,
        kind: "ResourceSlice",
        metadata: { name: "gpus" },
        spec: { driver: DRIVER, pool, allNodes: true, devices: [{ name: "gpu-0" }] },
      },
    ])
      await kubectl("create -f -", { input: object });
    const container = aRealContainer("main", `echo "device $DEVICE_GPU"; ${SLEEP}`, { resources: { claims: [{ name: "gpu" }] } });
    const spec = {
      terminationGracePeriodSeconds: 1,
      containers: [container],
      resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "one" }],
    };
    await kubectl("create -f -", { input: { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec } });
    const event = await lineOf(kubectl, "get events --watch", /FailedPrepareDynamicResources/);
    match(event, /Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu\.test\.example\.com is not registered/);

    await using driver = await startSimulatedDriver({
      name: DRIVER,
      rootDirectory: cluster.places.volumesDirectory ?? "",
      cdiDirectory: CDI_DIRECTORY,
      devicesOf: async () => [{ requestNames: ["gpu"], poolName: nodeName, deviceName: "gpu-0", cdiDeviceIds: [] }],
      clock: realClock,
    });
    await kubectl(`wait --for=condition=Ready pod/web ${WAIT}`, { timeoutMs: WAIT_MS });
    equal(await kubectl("logs web"), "device gpu-0\n");
    const [claim] = await claims();
    const name = `devices/${claim?.metadata.name}`;
    deepEqual([driver.calls, claim?.status?.reservedFor?.map((consumer) => consumer.name)], [[`prepare ${name}`], ["web"]]);

    const health = () => kubectl("get pod web -o jsonpath={.status.containerStatuses[0].allocatedResourcesStatus[*].resources[*].health}");
    equal(await health(), "Unknown");
    driver.reportHealth([{ poolName: nodeName, deviceName: "gpu-0", is: "unhealthy", message: "too hot", timeoutSeconds: 3600 }]);
    await becomes(health, "Unhealthy");
    match(await kubectl("get pod web -o jsonpath={.status.containerStatuses[0].allocatedResourcesStatus}"), /"message":"too hot"/);

    await cluster.kill();
    await cluster.up();
    await becomes(health, "Unhealthy");
    await kubectl(`delete pod web ${WAIT}`, { timeoutMs: WAIT_MS });
    await becomes(async () => [...driver.prepared], []);
    await becomes(claims, []);
    deepEqual(driver.calls, [`prepare ${name}`, `unprepare ${name}`]);
  },
);

import { deepEqual, equal, rejects } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../api/generated/resource.k8s.io/v1.ts";
import { notFound } from "../../api/machinery/status-error.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { becomes } from "../../testing/becomes.ts";
import type { ContainerRun } from "../contracts/container-run.ts";
import { startPluginRegistration } from "../plugin-registration/plugin-registration.ts";
import { withCdiEdits } from "./cdi-edits.ts";
import { resolvesNames } from "./cdi-files.ts";
import { ClaimStates } from "./claim-states.ts";
import { DeviceHealth } from "./device-health.ts";
import type { DraCallObserver } from "./dra-driver.ts";
import { DraDrivers } from "./dra-drivers.ts";
import { PreparedClaims } from "./prepared-claims.ts";
import { startSimulatedDriver } from "./testing/simulated-driver.ts";

const DRIVER = "gpu.example.com";
const { signal } = new AbortController();

const podOf = (name: string, ...claims: readonly string[]): Pod =>
  buildPod({
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    spec: {
      containers: [{ name: "main", image: "web", resources: { claims: claims.map((claim) => ({ name: claim })) } }],
      resourceClaims: claims.map((claim) => ({ name: claim, resourceClaimName: claim })),
    },
  });

const claimOf = (name: string, ...pods: readonly Pod[]): ResourceClaim => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name, namespace: "default", uid: `uid-of-${name}` },
  spec: {},
  status: {
    allocation: { devices: { results: [{ request: "gpu", driver: DRIVER, pool: "node", device: `device-of-${name}` }] } },
    reservedFor: pods.map(({ metadata }) => ({ resource: "pods", name: metadata.name, uid: metadata.uid ?? "" })),
  },
});

const EMPTY_RUN = { environment: [], devices: [], mounts: [] } as Partial<ContainerRun> as ContainerRun;

/** A kubelet's part for DRA, with the API server's claims as given. */
async function startDra(directory: string, claims: readonly ResourceClaim[]) {
  const client = {
    get: (_kind: unknown, { name }: { readonly name: string }) => {
      const claim = claims.find(({ metadata }) => metadata.name === name);
      return claim === undefined
        ? Promise.reject(notFound({ group: "resource.k8s.io", plural: "resourceclaims" }, name))
        : Promise.resolve(claim);
    },
    deleteCollection: () => Promise.resolve(),
  } as Partial<Client> as Client;
  const observed: string[] = [];
  const observer: DraCallObserver = { called: (driver, { method, code }) => void observed.push(`${driver} ${method} ${code}`) };
  const health = await DeviceHealth.open({ path: join(directory, "dra_health_state"), clock: realClock, log: silentLogger });
  const changed: string[] = [];
  const drivers = new DraDrivers({
    ...{ nodeName: "node", client, clock: realClock, log: silentLogger, observer, health },
    onHealthChanged: (driver, devices) => void changed.push(...claimsOfPods.podsWith(driver, devices)),
  });
  const registration = await startPluginRegistration({
    ...{ rootDirectory: directory, handlers: [drivers], clock: realClock, log: silentLogger },
  });
  const claimsOfPods: PreparedClaims = new PreparedClaims({
    ...{ client, health },
    states: await ClaimStates.open(join(directory, "dra_manager_state")),
    clock: realClock,
    observer: { draOperation: ({ operation, isFailed }) => void observed.push(`${operation} ${isFailed ? "failed" : "succeeded"}`) },
    driver: (name) => drivers.driver(name),
    addCdiDevices: async (cdiDevices, run) => ({ ...run, cdiDevices }),
  });
  return {
    ...{ drivers, claimsOfPods, observed, changed },
    async [Symbol.asyncDispose]() {
      await registration[Symbol.asyncDispose]();
      await drivers[Symbol.asyncDispose]();
      await health.settled();
    },
  };
}

async function startDriver(rootDirectory: string) {
  const devicesOf = async ({ name }: { readonly name: string }) => [
    { requestNames: ["gpu"], poolName: "node", deviceName: `device-of-${name}`, cdiDeviceIds: [] },
  ];
  return startSimulatedDriver({ name: DRIVER, rootDirectory, devicesOf, clock: realClock });
}

test("a driver registers by its socket, prepares a claim once for two Pods, and releases it with the last", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const [web, other] = [podOf("web", "gpu"), podOf("other", "gpu")];
  await using kubelet = await startDra(root.path, [claimOf("gpu", web, other)]);
  const { claimsOfPods, drivers } = kubelet;
  await rejects(
    claimsOfPods.prepare(web, signal),
    /^DevicesError: prepare dynamic resources: DRA driver gpu.example.com is not registered$/,
  );

  await using driver = await startDriver(root.path);
  await becomes(async () => drivers.driver(DRIVER) !== undefined, true);
  await claimsOfPods.prepare(web, signal);
  await claimsOfPods.prepare(other, signal);
  await claimsOfPods.prepare(web, signal);

  deepEqual(driver.calls, ["prepare default/gpu"]);
  const run = await claimsOfPods.withDevices(web, { name: "main", resources: { claims: [{ name: "gpu" }] } }, EMPTY_RUN);
  deepEqual(run.cdiDevices, ["gpu.example.com/device=uid-of-gpu-device-of-gpu"]);
  deepEqual(await claimsOfPods.withDevices(web, { name: "sidecar" }, EMPTY_RUN), EMPTY_RUN);
  deepEqual(claimsOfPods.pods(), ["uid-other", "uid-web"]);

  await claimsOfPods.release("uid-web");
  deepEqual(driver.calls, ["prepare default/gpu"]);
  await claimsOfPods.release("uid-other");
  await claimsOfPods.release("uid-other");
  deepEqual([driver.calls, claimsOfPods.pods()], [["prepare default/gpu", "unprepare default/gpu"], []]);
});

test("operations on the claims of Pods and calls of drivers are observed, with their failures, and prepared claims are counted", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const web = podOf("web", "gpu");
  await using kubelet = await startDra(root.path, [claimOf("gpu", web)]);
  const { claimsOfPods, drivers, observed } = kubelet;
  await claimsOfPods.prepare(podOf("without"), signal);
  await rejects(claimsOfPods.prepare(web, signal));
  deepEqual(claimsOfPods.driversInUse(), []);
  await using _driver = await startDriver(root.path);
  await becomes(async () => drivers.driver(DRIVER) !== undefined, true);
  await claimsOfPods.prepare(web, signal);
  deepEqual(claimsOfPods.driversInUse(), [[DRIVER]]);
  await rejects(claimsOfPods.prepare(podOf("other", "gpu"), signal));
  await claimsOfPods.release("uid-web");

  const service = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin";
  deepEqual(observed, [
    "PrepareResources failed",
    `${DRIVER} ${service}/NodePrepareResources OK`,
    "PrepareResources succeeded",
    "PrepareResources failed",
    `${DRIVER} ${service}/NodeUnprepareResources OK`,
    "UnprepareResources succeeded",
  ]);
  deepEqual(claimsOfPods.driversInUse(), []);
});

test("a kubelet that died releases the claims of its earlier life, also those that were being prepared", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const [web, broken] = [podOf("web", "gpu"), podOf("broken", "tpu")];
  const claims = [claimOf("gpu", web), claimOf("tpu", broken)];
  await using driver = await startDriver(root.path);
  {
    await using kubelet = await startDra(root.path, claims);
    await becomes(async () => kubelet.drivers.driver(DRIVER) !== undefined, true);
    await kubelet.claimsOfPods.prepare(web, signal);
    driver.failure = "out of order";
    await rejects(
      kubelet.claimsOfPods.prepare(broken, signal),
      /prepare dynamic resources: NodePrepareResources failed for ResourceClaim tpu: out of order$/,
    );
  }

  await using restarted = await startDra(root.path, claims);
  await becomes(async () => restarted.drivers.driver(DRIVER) !== undefined, true);
  deepEqual(restarted.claimsOfPods.pods(), ["uid-web", "uid-broken"]);
  await rejects(
    restarted.claimsOfPods.release("uid-web"),
    /unprepare dynamic resources: NodeUnprepareResources failed for ResourceClaim gpu: out of order$/,
  );
  driver.failure = "";
  await restarted.claimsOfPods.prepare(web, signal);
  for (const uid of restarted.claimsOfPods.pods()) await restarted.claimsOfPods.release(uid);

  deepEqual([[...driver.prepared], restarted.claimsOfPods.pods()], [[], []]);
  equal(await readFile(join(root.path, "dra_manager_state"), "utf8"), '{"version":"v1","claims":[]}\n');
});

test("a Pod may use only claims that are reserved for it", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const web = podOf("web", "gpu");
  await using kubelet = await startDra(root.path, [claimOf("gpu")]);

  await rejects(kubelet.claimsOfPods.prepare(web, signal), /pod web \(uid-web\) is not allowed to use ResourceClaim gpu \(uid-of-gpu\)$/);
  await rejects(kubelet.claimsOfPods.prepare(podOf("p", "missing"), signal), /fetch ResourceClaim missing: .*not found$/);
});

test("a damaged state file is reported with a remedy", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  await writeFile(join(root.path, "state"), "{");

  await rejects(ClaimStates.open(join(root.path, "state")), /Cannot read the prepared ResourceClaims from .*; remove it if no Pod/);
});

test("a driver reports the health of its devices, which the Pods that use them show", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const web = podOf("web", "gpu");
  await using kubelet = await startDra(root.path, [claimOf("gpu", web)]);
  const { claimsOfPods, drivers, changed } = kubelet;
  await using driver = await startDriver(root.path);
  await becomes(async () => drivers.driver(DRIVER) !== undefined, true);
  await claimsOfPods.prepare(web, signal);
  const shown = async () => claimsOfPods.health(web, { name: "main", resources: { claims: [{ name: "gpu" }] } })[0]?.resources?.[0];
  const resourceID = "gpu.example.com/device=uid-of-gpu-device-of-gpu";
  deepEqual(await shown(), { resourceID, health: "Unknown" });

  const device = { poolName: "node", deviceName: "device-of-gpu" };
  driver.reportHealth([
    { ...device, is: "unhealthy", message: "é".repeat(600), timeoutSeconds: 3600 },
    { ...device, deviceName: "other", is: "healthy" },
  ]);
  await becomes(shown, { resourceID, health: "Unhealthy", message: `${"é".repeat(510)}...` });
  driver.reportHealth([{ ...device, is: "healthy", timeoutSeconds: 3600 }]);
  await becomes(shown, { resourceID, health: "Healthy" });
  deepEqual(changed, ["uid-web", "uid-web"]);
  driver.endHealthStreams();
  await becomes(shown, { resourceID, health: "Unknown" });
});

test("a driver without a known service is refused with upstream's message", async () => {
  await using root = await makeTemporaryDirectory("k8ts-dra-");
  const health = await DeviceHealth.open({ path: join(root.path, "health"), clock: realClock, log: silentLogger });
  const drivers = new DraDrivers({ nodeName: "node", client: {} as Client, clock: realClock, log: silentLogger, health });
  const validate = (supportedVersions: readonly string[]) => () =>
    drivers.validate({ name: "d", endpoint: "/s", usesDefaultRoot: false, supportedVersions });
  const prefix = "invalid supported gRPC versions of DRA driver plugin d at endpoint /s: ";

  deepEqual(
    [[], ["v9.DRAPlugin"], ["v9.DRAPlugin", "v1beta1.DRAPlugin"]].map((versions) => {
      try {
        validate(versions)();
        return "accepted";
      } catch (error) {
        return (error as Error).message;
      }
    }),
    [
      `${prefix}empty list of supported gRPC services (aka supported versions)`,
      `${prefix}none of services supported by the plugin (["v9.DRAPlugin"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])`,
      "accepted",
    ],
  );
});

test("devices are resolved for runtimes that do not know the Container Device Interface", () => {
  const specification = {
    kind: "vendor.example.com/gpu",
    containerEdits: { env: ["SHARED=1"] },
    devices: [
      {
        name: "a",
        containerEdits: {
          env: ["GPU=a=b"],
          deviceNodes: [{ path: "/dev/gpu0" }],
          mounts: [{ hostPath: "/lib/gpu", containerPath: "/lib/gpu", options: ["ro", "bind"] }],
        },
      },
      { name: "hooked", containerEdits: { hooks: [{}] } },
    ],
  };
  const edited = (...names: readonly string[]) => withCdiEdits(names, [specification], EMPTY_RUN);

  deepEqual(edited("vendor.example.com/gpu=a"), {
    environment: [
      { name: "SHARED", value: "1" },
      { name: "GPU", value: "a=b" },
    ],
    devices: [{ hostPath: "/dev/gpu0", containerPath: "/dev/gpu0", permissions: "rwm" }],
    mounts: [{ hostPath: "/lib/gpu", containerPath: "/lib/gpu", readOnly: true, propagation: "private" }],
  });
  for (const [name, problem] of [
    ["b", /unresolvable CDI devices vendor.example.com\/gpu=b$/],
    ["hooked", /need hooks/],
  ] as const) {
    deepEqual(problem.test(messageOf(() => edited(`vendor.example.com/gpu=${name}`))), true);
  }
  deepEqual(["containerd://1.6.20~ds1", "containerd://2.1.0", "cri-o://1.30.0"].map(resolvesNames), [false, true, true]);
});

function messageOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

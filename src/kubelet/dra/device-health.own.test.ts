import { deepEqual, equal } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { silentLogger } from "../../base/logger.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { ClaimState } from "./claim-states.ts";
import { DeviceHealth, type Health, type ReportedHealth } from "./device-health.ts";
import { watchDeviceHealth, type HealthSource } from "./health-streams.ts";
import { resourceHealth } from "./resource-health.ts";

const DRIVER = "gpu.example.com";
const names = (devices: readonly { readonly deviceName: string }[]) => devices.map(({ deviceName }) => deviceName);
const device = (deviceName: string) => ({ poolName: "pool", deviceName });
const report = (deviceName: string, health: Health, { message = "", timeoutMs = 30_000 } = {}): ReportedHealth => ({
  ...device(deviceName),
  ...{ health, message, timeoutMs },
});

async function startHealth(clock: VirtualClock) {
  const directory = await makeTemporaryDirectory("k8ts-health-");
  const path = join(directory.path, "dra_health_state");
  const open = () => DeviceHealth.open({ path, clock, log: silentLogger });
  const health = await open();
  return {
    ...{ health, path, open },
    async [Symbol.asyncDispose]() {
      await health.settled();
      await directory[Symbol.asyncDispose]();
    },
  };
}

test("the health of a device is Unknown until its driver reports it, and again after the report's timeout", async () => {
  const clock = virtualClock();
  await using scene = await startHealth(clock);
  const { health } = scene;
  const of = () => ["a", "b", "c"].map((name) => health.of(DRIVER, device(name)).health);
  deepEqual(of(), ["Unknown", "Unknown", "Unknown"]);

  health.update(DRIVER, [report("a", "Healthy"), report("b", "Unhealthy", { message: "hot", timeoutMs: 60_000 })]);
  deepEqual(of(), ["Healthy", "Unhealthy", "Unknown"]);
  deepEqual(health.of("other.example.com", device("a")), { health: "Unknown", message: "" });

  await clock.advance(30_001);
  deepEqual(of(), ["Unknown", "Unhealthy", "Unknown"]);
  deepEqual(health.of(DRIVER, device("b")), { health: "Unhealthy", message: "hot" });
  await clock.advance(30_000);
  deepEqual(health.of(DRIVER, device("b")), { health: "Unknown", message: "" });
});

test("a report changes devices with another health, message or timeout, and missing devices after their timeout only", async () => {
  const clock = virtualClock();
  await using scene = await startHealth(clock);
  const changes = (...reports: readonly ReportedHealth[]) => names(scene.health.update(DRIVER, reports));
  deepEqual(changes(report("a", "Healthy"), report("b", "Healthy")), ["a", "b"]);
  deepEqual(changes(report("a", "Healthy"), report("b", "Unhealthy")), ["b"]);
  deepEqual(changes(report("a", "Healthy", { message: "warm" }), report("b", "Unhealthy")), ["a"]);
  deepEqual(changes(report("a", "Healthy", { message: "warm", timeoutMs: 5_000 })), ["a"]);
  equal(scene.health.of(DRIVER, device("b")).health, "Unhealthy");
  await clock.advance(30_001);
  deepEqual(changes(report("a", "Healthy", { message: "warm", timeoutMs: 5_000 })), ["b"]);
  deepEqual(changes(report("a", "Healthy", { message: "warm", timeoutMs: 5_000 })), []);
  deepEqual([names(scene.health.clear(DRIVER)), names(scene.health.clear(DRIVER))], [["a"], []]);
});

test("a restarted kubelet knows the health of devices, and starts without it if the file is damaged", async () => {
  const clock = virtualClock();
  await using scene = await startHealth(clock);
  scene.health.update(DRIVER, [report("a", "Unhealthy", { message: "hot" })]);
  await scene.health.settled();

  deepEqual((await scene.open()).of(DRIVER, device("a")), { health: "Unhealthy", message: "hot" });
  await writeFile(scene.path, (await readFile(scene.path, "utf8")).slice(0, 20));
  deepEqual((await scene.open()).of(DRIVER, device("a")), { health: "Unknown", message: "" });
});

test("a health stream is opened again after it ended or failed, its reports end with it, and old reports expire", async () => {
  const clock = virtualClock();
  await using scene = await startHealth(clock);
  const { health } = scene;
  const changed: string[] = [];
  let opened = 0;
  let send: (devices: readonly ReportedHealth[]) => void = () => {};
  let end: (error?: Error) => void = () => {};
  const source: HealthSource = {
    watchHealth: (onReport) =>
      new Promise((resolve, reject) => {
        opened++;
        send = onReport;
        end = (error) => (error === undefined ? resolve() : reject(error));
      }),
  };
  const stop = new AbortController();
  const onChanged = (_driver: string, devices: readonly { readonly deviceName: string }[]) =>
    void changed.push(...names(devices).map((name) => `${name} ${health.of(DRIVER, device(name)).health}`));
  const watching = watchDeviceHealth(source, { driver: DRIVER, health, clock, log: silentLogger, onChanged }, stop.signal);

  send([report("a", "Healthy"), report("b", "Healthy", { timeoutMs: 90_000 })]);
  await clock.advance(31_000);
  deepEqual(changed.splice(0), ["a Healthy", "b Healthy", "a Unknown"]);
  end();
  await clock.settle();
  deepEqual([changed.splice(0), opened], [["b Unknown"], 1]);
  await clock.advance(5_000);
  equal(opened, 2);
  end(new Error("UNIMPLEMENTED: unknown service"));
  await clock.advance(5_000);
  equal(opened, 3);
  stop.abort();
  end();
  await watching;
  equal(opened, 3);
});

const claimState: ClaimState = {
  ...{ namespace: "default", name: "claim-1", uid: "u", podUids: ["p"], isPrepared: true },
  drivers: {
    [DRIVER]: [
      { requestNames: ["gpu"], ...device("a"), cdiDeviceIds: ["gpu.example.com/gpu=a", "gpu.example.com/gpu=shared"] },
      { requestNames: ["gpu"], ...device("again"), cdiDeviceIds: ["gpu.example.com/gpu=a"] },
      { requestNames: ["nic/fast"], ...device("b"), cdiDeviceIds: [] },
    ],
  },
};

function podWith(...claims: readonly { readonly name: string; readonly request?: string }[]): Pod {
  return buildPod({
    metadata: { name: "p", namespace: "default", uid: "p" },
    spec: {
      containers: [{ name: "main", image: "i", resources: { claims } }],
      resourceClaims: [
        { name: "made", resourceClaimTemplateName: "template" },
        { name: "missing", resourceClaimName: "absent" },
      ],
    },
    status: { resourceClaimStatuses: [{ name: "made", resourceClaimName: "claim-1" }] },
  });
}

const a = { resourceID: "gpu.example.com/gpu=a", health: "Unhealthy", message: "hot" };
const b = { resourceID: "gpu.example.com/pool/b", health: "Unknown" };

for (const { it, claims, is } of [
  { it: "a claim has all its devices, each id once", claims: [{ name: "made" }], is: [{ name: "claim:made", resources: [a, b] }] },
  {
    it: "a request has its own devices, alternatives included",
    claims: [
      { name: "made", request: "gpu" },
      { name: "made", request: "nic" },
    ],
    is: [
      { name: "claim:made/gpu", resources: [a] },
      { name: "claim:made/nic", resources: [b] },
    ],
  },
  { it: "a request without devices is left out", claims: [{ name: "made", request: "fpga" }], is: [] },
  { it: "a claim that is not prepared or not of the Pod is left out", claims: [{ name: "missing" }, { name: "unknown" }], is: [] },
]) {
  test(`the status of a container shows the health of its devices: ${it}`, () => {
    const pod = podWith(...claims);
    const of = (_driver: string, { deviceName }: { readonly deviceName: string }) =>
      deviceName === "a" ? ({ health: "Unhealthy", message: "hot" } as const) : ({ health: "Unknown", message: "" } as const);
    const [container] = pod.spec?.containers ?? [];
    const claim = (name: string) => (name === "claim-1" ? claimState : undefined);
    deepEqual(container === undefined ? [] : resourceHealth(pod, container, { claim, health: { of } }), is);
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, VolumeMount } from "../../api/generated/core/v1.ts";
import type { MountRun } from "../contracts/container-run.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { needsHostsFile, terminationMessageOf, volumeDevicesOf, volumeMountsOf, type MountsView } from "./mounts.ts";
import { aContainer, aPod, aView, aVolume } from "./testing/views.ts";

const mounted = new Map([
  ["data", aVolume("/vol/data")],
  ["config", aVolume("/vol/config", { isReadOnly: true })],
]);

function mountsOf(mount: Partial<VolumeMount>, view: Partial<MountsView> = {}): Promise<readonly MountRun[]> {
  const container = aContainer({ volumeMounts: [{ name: "data", mountPath: "/data", ...mount }] });
  const environment = new Map([
    ["POD_NAME", "web-0"],
    ["EMPTY", ""],
    ["UP", ".."],
    ["ROOT", "/etc"],
  ]);
  return volumeMountsOf({ ...aView(), container, environment, mounted, ...view });
}

const plain: MountRun = { hostPath: "/vol/data", containerPath: "/data", readOnly: false, propagation: "private" };

const rows: readonly (readonly [claim: string, mount: Partial<VolumeMount>, run: Partial<MountRun>])[] = [
  ["a volume is mounted at its mountPath", {}, {}],
  ["a relative mountPath is resolved from the root", { mountPath: "data" }, {}],
  ["readOnly of the mount", { readOnly: true }, { readOnly: true }],
  ["readOnly of the volume", { name: "config" }, { hostPath: "/vol/config", readOnly: true }],
  ["a subPath", { subPath: "a/b" }, { hostPath: "/safe/data/a/b" }],
  ["a subPathExpr", { subPathExpr: "logs/$(POD_NAME)/$$(x)" }, { hostPath: "/safe/data/logs/web-0/$(x)" }],
  ["dots within names of a subPath are allowed", { subPath: "..a/b.." }, { hostPath: "/safe/data/..a/b.." }],
  ["private", { mountPropagation: "None" }, {}],
  ["propagation HostToContainer", { mountPropagation: "HostToContainer" }, { propagation: "host-to-container" }],
  ["propagation Bidirectional", { mountPropagation: "Bidirectional" }, { propagation: "bidirectional" }],
  ["recursiveReadOnly IfPossible on a runtime without support", { readOnly: true, recursiveReadOnly: "IfPossible" }, { readOnly: true }],
  ["recursiveReadOnly Disabled", { recursiveReadOnly: "Disabled" }, {}],
];

for (const [claim, mount, run] of rows) {
  test(`mount: ${claim}`, async () => {
    assert.deepEqual(await mountsOf(mount), [{ ...plain, ...run }]);
  });
}

const RECURSIVE = 'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but';

const refused: readonly (readonly [mount: Partial<VolumeMount>, message: string])[] = [
  [{ name: "none" }, 'cannot find volume "none" to mount into container "main"'],
  [{ subPath: "/etc" }, "error SubPath `/etc` must not be an absolute path"],
  [{ subPath: "a/../b" }, "unable to provision SubPath `a/../b`: must not contain '..'"],
  [{ subPathExpr: "$(ROOT)" }, "error SubPath `/etc` must not be an absolute path"],
  [{ subPathExpr: "$(UP)" }, "unable to provision SubPath `..`: must not contain '..'"],
  [{ subPathExpr: "$(NO)/$(EMPTY)/$(NO)/$(ALSO)" }, "missing value for ALSO, EMPTY, NO"],
  [{ recursiveReadOnly: "Enabled" }, `${RECURSIVE} it is not read-only`],
  [{ readOnly: true, recursiveReadOnly: "Enabled" }, `${RECURSIVE} it is not supported by the runtime`],
  [
    { readOnly: true, recursiveReadOnly: "Enabled", mountPropagation: "HostToContainer" },
    `${RECURSIVE} it is not compatible with propagation "HostToContainer"`,
  ],
];

for (const [mount, message] of refused) {
  test(`mount is rejected: ${message}`, async () => {
    await assert.rejects(mountsOf(mount), new ContainerConfigError(message));
  });
}

test("a runtime that supports it mounts recursively read-only", async () => {
  const [run] = await mountsOf({ readOnly: true, recursiveReadOnly: "Enabled" }, { supportsRecursiveReadOnly: true });
  assert.deepEqual(run, { ...plain, readOnly: true, recursiveReadOnly: true });
});

test("a subPath failure does not reveal its reason", async () => {
  const volumes = { subPath: () => Promise.reject(new Error("/vol/data/x resolves to /etc/shadow")) };
  const message = 'failed to prepare subPath for volumeMount "data" of container "main"';
  await assert.rejects(mountsOf({ subPath: "x" }, { volumes }), new ContainerConfigError(message));
});

test("a container gets the Pod's hosts file unless it mounts its own or the Pod has no IP yet", () => {
  const own = aContainer({ volumeMounts: [{ name: "data", mountPath: "/etc/hosts" }] });
  const ask = (container: Container, podIps: readonly string[], hostNetwork = false) =>
    needsHostsFile(aPod({ hostNetwork }), container, podIps);

  assert.deepEqual(
    [ask(aContainer(), ["10.1.0.5"]), ask(own, ["10.1.0.5"]), ask(aContainer(), []), ask(aContainer(), [], true), ask(own, [], true)],
    [true, false, false, true, false],
  );
});

test("each attempt has its own termination log, and none without terminationMessagePath", () => {
  const place = { podDirectory: "/pods/u-1", attempt: 2 };
  const wordy = aContainer({ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "FallbackToLogsOnError" });

  assert.deepEqual(terminationMessageOf(wordy, place), { hostPath: "/pods/u-1/containers/main/2.termination", fallsBackToLogs: true });
  assert.equal(terminationMessageOf(aContainer(), place), undefined);
});

test("volumeDevices are devices of the container, read-only ones can only be read, and a mounted volume is none", () => {
  const container = (name: string) => aContainer({ volumeDevices: [{ name, devicePath: "/dev/data" }] });
  const devices = new Map([
    ["raw", aVolume("/vol/raw", { isBlockDevice: true })],
    ["frozen", aVolume("/vol/frozen", { isBlockDevice: true, isReadOnly: true })],
    ...mounted,
  ]);
  const devicesOf = (name: string) => volumeDevicesOf({ container: container(name), mounted: devices });

  assert.deepEqual(devicesOf("raw"), [{ hostPath: "/vol/raw", containerPath: "/dev/data", permissions: "mrw" }]);
  assert.deepEqual(devicesOf("frozen"), [{ hostPath: "/vol/frozen", containerPath: "/dev/data", permissions: "r" }]);
  assert.throws(() => devicesOf("data"), new ContainerConfigError('cannot find volume "data" to pass into container "main"'));
});

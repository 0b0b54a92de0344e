import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { realClock } from "../../../host/real-clock.ts";
import { CsiTestDriver } from "../../../testing/csi/csi-test-driver.ts";
import { CsiDrivers } from "./csi-drivers.ts";

const ANY = new AbortController().signal;

test("a CSI driver is published with what it reports, used by its name, and removed when it deregisters", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-drivers-");
  const socket = join(directory.path, "csi.sock");
  const topology = { "a.example/zone": "z1" };
  await using driver = await CsiTestDriver.start({
    directory: directory.path,
    socket,
    name: "a.example",
    nodeId: "id-1",
    fileSystem: "directory",
    topology,
    maxVolumesPerNode: 7,
  });
  const lines: string[] = [];
  const csiNode = {
    install: async (installed: object) => void lines.push(JSON.stringify(installed)),
    update: async () => {},
    uninstall: async (name: string) => void lines.push(`uninstall ${name}`),
  };
  using drivers = new CsiDrivers({ rootDirectory: "/root", csiNode, clock: realClock, log: silentLogger });
  const plugin = { name: "a.example", endpoint: socket, usesDefaultRoot: false, supportedVersions: ["0.3.0", "1.0.0"] };
  driver.fault("NodeGetInfo", "fails");
  await rejects(drivers.register(plugin, ANY), /NodeGetInfo fails/);
  equal(drivers.driver("a.example"), undefined);

  await drivers.register(plugin, ANY);

  deepEqual(lines, ["uninstall a.example", JSON.stringify({ name: "a.example", nodeId: "id-1", maxVolumes: 7, topology })]);
  deepEqual(await drivers.driver("a.example")?.getPluginInfo(), { name: "a.example", vendorVersion: "test" });
  equal((await drivers.controller("a.example")?.controllerGetCapabilities())?.has("CREATE_DELETE_VOLUME"), true);
  throws(
    () => drivers.validate(plugin),
    /Another driver with the same name is already registered with a higher supported version: "1.0.0"/,
  );
  await drivers.deregister(plugin);
  deepEqual([drivers.driver("a.example"), lines.at(-1)], [undefined, "uninstall a.example"]);
});

test("a CSI driver needs a version 1.x", () => {
  const csiNode = { install: async () => {}, update: async () => {}, uninstall: async () => {} };
  using drivers = new CsiDrivers({ rootDirectory: "/root", csiNode, clock: realClock, log: silentLogger });
  const validate = (...supportedVersions: string[]) =>
    drivers.validate({ name: "a", endpoint: "/s", usesDefaultRoot: false, supportedVersions });
  throws(() => validate(), /Plugin returned an empty list for supported versions/);
  throws(() => validate("0.3.0", "2.0.0"), /None of the versions specified \["0\.3\.0" "2\.0\.0"\] are supported/);
  validate("v1.2.0");
});

test("a CSI driver that named its socket below /var/lib/kubelet gets the paths of volumes below it", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-drivers-");
  const root = await realpath(directory.path);
  const socket = join(root, "csi.sock");
  await using driver = await CsiTestDriver.start({ directory: root, socket, name: "a.example", nodeId: "id-1", fileSystem: "directory" });
  const csiNode = { install: async () => {}, update: async () => {}, uninstall: async () => {} };
  using drivers = new CsiDrivers({ rootDirectory: root, csiNode, clock: realClock, log: silentLogger });
  const target = { volumeId: "none", targetPath: join(root, "pods/target") };
  for (const [usesDefaultRoot, supportedVersions] of [
    [true, ["1.0.0"]],
    [false, ["1.1.0"]],
  ] as const) {
    await drivers.register({ name: "a.example", endpoint: socket, usesDefaultRoot, supportedVersions }, ANY);
    await drivers.driver("a.example")?.nodeUnpublishVolume(target);
  }

  deepEqual(driver.targets, ["/var/lib/kubelet/pods/target", join(root, "pods/target")]);
});

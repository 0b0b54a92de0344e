/** On a tree like the kernel's, because sessions need a kernel module and a target. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { MachineIscsiInitiator } from "./iscsi-initiator.ts";

const IQN = "iqn.2026-01.com.example:disks";

async function startScene() {
  const directory = await makeTemporaryDirectory("k8ts-iscsi-");
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(directory.path, path)), { recursive: true });
    await writeFile(join(directory.path, path), text);
  };
  const clock = virtualClock();
  const program = join(directory.path, "iscsiadm");
  const options = { clock, sysDirectory: join(directory.path, "sys"), devicesDirectory: join(directory.path, "by-path") };
  return {
    ...{ clock, options, path: directory.path, write, program },
    initiator: new MachineIscsiInitiator({ ...options, program: () => program }),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

test("iscsiadm is run with its arguments, and its exit code and output are returned", async () => {
  await using scene = await startScene();
  await scene.write("iscsiadm", '#!/bin/sh\necho "got $*"\nexit 21\n');
  await chmod(scene.program, 0o700);

  deepEqual(await scene.initiator.iscsiadm(["-m", "node"]), { code: 21, output: "got -m node" });
});

test("a node without open-iscsi says what to install", async () => {
  await using scene = await startScene();
  const initiator = new MachineIscsiInitiator({ ...scene.options, program: () => undefined });

  await rejects(
    initiator.iscsiadm([]),
    /exec: "iscsiadm": executable file not found in \$PATH; install it on the node \(Debian: open-iscsi\)/,
  );
});

test("sessions of a target, its devices and its multipath device are found in /sys", async () => {
  await using scene = await startScene();
  const { initiator, write } = scene;
  deepEqual([...(await initiator.sessions(IQN))], []);
  const session = "sys/class/iscsi_host/host7/device/session2";
  await write(`${session}/iscsi_session/session2/targetname`, `${IQN}\n`);
  const connection = `${session}/connection2:0/iscsi_connection/connection2:0`;
  for (const [name, value] of Object.entries({ address: "10.0.0.1", port: "3260", persistent_address: "fd00::1", persistent_port: "3260" }))
    await write(`${connection}/${name}`, `${value}\n`);
  await write(`${session}/target7:0:0/7:0:0:3/block/sdb/size`, "1");
  await write("sys/block/dm-1/slaves/sdb", "");
  await write("sys/block/sdb/device/delete", "");
  await write("sys/class/scsi_host/host7/scan", "");
  await write("sdb", "");

  deepEqual(
    [...(await initiator.sessions(IQN))],
    [
      ["10.0.0.1:3260", 7],
      ["[fd00::1]:3260", 7],
    ],
  );
  equal((await initiator.sessions("iqn.other")).size, 0);
  equal(await initiator.multipath(join(scene.path, "sdb")), "/dev/dm-1");
  await initiator.scan(7, 3);
  equal(await readFile(join(scene.path, "sys/class/scsi_host/host7/scan"), "utf8"), "0 0 3");
});

test("devices of a unit are deleted from the kernel", async () => {
  await using scene = await startScene();
  const session = "sys/class/iscsi_host/host7/device/session2";
  await scene.write(`${session}/iscsi_session/session2/targetname`, `${IQN}\n`);
  await scene.write(`${session}/target7:0:0/7:0:0:3/block/null/size`, "1");
  await scene.write("sys/block/null/device/delete", "");

  await scene.initiator.removeDevices(IQN, 3);
  await scene.initiator.removeDevices(IQN, 4);

  equal(await readFile(join(scene.path, "sys/block/null/device/delete"), "utf8"), "1");
});

test("a device is found by its path when it appears, without brackets and for hardware with any PCI address", async () => {
  await using scene = await startScene();
  const { initiator, clock } = scene;
  const device = { portal: "[fd00::1]:3260", iqn: IQN, lun: 3, transport: "tcp" };
  const missing = initiator.device(device);
  await clock.advance(31_000);
  equal(await missing, undefined);

  await mkdir(join(scene.path, "by-path"));
  for (const name of [`ip-fd00::1:3260-iscsi-${IQN}-lun-3`, `pci-0000:00:1f-ip-fd00::1:3260-iscsi-${IQN}-lun-3`])
    await symlink("/dev/null", join(scene.path, "by-path", name));
  equal(await initiator.device(device), join(scene.path, "by-path", `ip-fd00::1:3260-iscsi-${IQN}-lun-3`));
  equal(
    await initiator.device({ ...device, transport: "bnx2i" }),
    join(scene.path, "by-path", `pci-0000:00:1f-ip-fd00::1:3260-iscsi-${IQN}-lun-3`),
  );
});

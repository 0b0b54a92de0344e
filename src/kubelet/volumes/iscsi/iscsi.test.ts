import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { ISCSIVolumeSource } from "../../../api/generated/core/v1.ts";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld, type VolumeSourceFields } from "../testing/volume-world.ts";
import { iscsi } from "./iscsi.ts";

const IQN = "iqn.2026-01.com.example:disks";
const TARGET = { targetPortal: "10.0.0.1", iqn: IQN, lun: 3 } satisfies ISCSIVolumeSource;
const INLINE = { iscsi: TARGET };
const CLAIMED = { persistent: { iscsi: { ...TARGET, fsType: "xfs" }, mountOptions: ["noatime"] } };
const BLOCK = { persistent: { iscsi: TARGET, volumeMode: "Block" } } as const;
const DEVICE = `/dev/disk/by-path/ip-10.0.0.1:3260-iscsi-${IQN}-lun-3`;
const STAGED = `/data/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-${IQN}-lun-3`;

for (const [title, source] of Object.entries({ inline: INLINE, claimed: CLAIMED, "a block device": BLOCK })) {
  describe(title, () => volumeSuite({ plugin: iscsi, source, invalid: [] }));
}

/** What a mount does, without the prefixes that all commands of a portal have. */
async function commandsOf(source: VolumeSourceFields, prepare = (_world: VolumeWorld) => {}): Promise<readonly string[]> {
  const world = new VolumeWorld();
  prepare(world);
  await world.mount(iscsi, source);
  return world.initiator.commands;
}

const LOGIN = [
  "-m iface -I default -o show",
  "-m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default -o new",
  "-m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default --discover",
  `-m node -p 10.0.0.1:3260 -T ${IQN} -I default -o update -n node.session.scan -v manual`,
  `-m node -p 10.0.0.1:3260 -T ${IQN} -I default --login`,
  `-m node -p 10.0.0.1:3260 -T ${IQN} -o update -n node.startup -v manual`,
  "scan host 0 lun 3",
];
const LOGOUT = [
  `remove devices ${IQN} lun 3`,
  `-m node -p 10.0.0.1:3260 -T ${IQN} --logout -I default`,
  `-m node -p 10.0.0.1:3260 -T ${IQN} -o delete -I default`,
];

test("iscsi discovers the target, logs in without scanning the units of others, and creates and mounts the file system", async () => {
  const world = new VolumeWorld();
  const { path } = await world.mount(iscsi, CLAIMED);

  deepEqual(world.initiator.commands, LOGIN);
  deepEqual(
    world.mounter.lines().filter((line) => / (xfs|bind) \/d/.test(line)),
    [`${STAGED} xfs ${DEVICE} defaults,noatime`, `${path} bind ${STAGED} noatime`].toSorted(),
  );
  equal(world.mounter.devices.get(DEVICE)?.fileSystem, "xfs");
});

test("iscsi logs out with the last volume of the target, and an earlier one leaves the session", async () => {
  const world = new VolumeWorld();
  const other = { iscsi: { ...TARGET, lun: 4 } };
  await world.mount(iscsi, INLINE);
  const before = world.initiator.commands.length;
  world.spec = {};
  // The other volume is of another Pod: only what is staged counts.
  const volume = world.volumeOf(iscsi, other);
  const resolved = await iscsi.resolve(volume, world, new AbortController().signal);
  const directory = iscsi.staging?.directory(volume, resolved, world) ?? "";
  await iscsi.staging?.stage({ volume, resolved, directory }, world);
  deepEqual(world.initiator.commands.slice(before), ["-m iface -I default -o show", "scan host 0 lun 4"]);

  await world.unmount(iscsi, INLINE);
  equal(world.initiator.commands.at(-1), `remove devices ${IQN} lun 3`);
  equal(world.initiator.loggedIn.size, 1);
  await iscsi.staging?.unstage(directory, world);

  deepEqual([[...world.initiator.loggedIn], world.mounter.mounts()], [[], []]);
  deepEqual(
    world.initiator.commands.slice(-3),
    LOGOUT.map((command) => command.replace("lun 3", "lun 4")),
  );
});

test("iscsi sets CHAP secrets for discovery and session, those that the Secret has", async () => {
  const commands = await commandsOf(
    { iscsi: { ...TARGET, chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: "chap" } } },
    ({ secrets }) => {
      secrets.set("chap", {
        "discovery.sendtargets.auth.username": "d",
        "node.session.auth.username": "u",
        "node.session.auth.password": "p",
      });
    },
  );

  deepEqual(
    commands.filter((command) => command.includes(".auth.")),
    [
      "-m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default -o update -n discovery.sendtargets.auth.authmethod -v CHAP",
      "-m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default -o update -n discovery.sendtargets.auth.username -v d",
      `-m node -p 10.0.0.1:3260 -T ${IQN} -I default -o update -n node.session.auth.authmethod -v CHAP`,
      `-m node -p 10.0.0.1:3260 -T ${IQN} -I default -o update -n node.session.auth.username -v u`,
      `-m node -p 10.0.0.1:3260 -T ${IQN} -I default -o update -n node.session.auth.password -v p`,
    ],
  );
});

test("iscsi uses a copy of the interface for an initiator of the volume's own, and deletes it in the end", async () => {
  const world = new VolumeWorld();
  const source = { iscsi: { ...TARGET, initiatorName: "iqn.2026-01.com.example:me" } };
  await world.mount(iscsi, source);
  deepEqual(world.initiator.commands.slice(1, 5), [
    "-m iface -I default -o show",
    "-m iface -I 10.0.0.1:3260:v -o new",
    "-m iface -I 10.0.0.1:3260:v -o update -n iface.initiatorname -v iqn.2026-01.com.example:me",
    "-m iface -I 10.0.0.1:3260:v -o update -n iface.mtu -v 1500",
  ]);

  await world.unmount(iscsi, source);

  equal(world.initiator.commands.at(-1), "-m iface -I 10.0.0.1:3260:v -o delete");
});

test("iscsi logs in at all portals and uses the multipath device", async () => {
  const world = new VolumeWorld();
  world.initiator.multipathDevice = "/dev/dm-0";
  await world.mount(iscsi, { iscsi: { ...TARGET, portals: ["10.0.0.2:3261", "10.0.0.1"] } });

  deepEqual([...world.initiator.loggedIn], [`10.0.0.1:3260 ${IQN}`, `10.0.0.2:3261 ${IQN}`]);
  equal(world.mounter.devices.get("/dev/dm-0")?.fileSystem, "ext4");
});

test("iscsi uses the portals that respond", async () => {
  const world = new VolumeWorld();
  world.initiator.failures.set("-p 10.0.0.2:3260 -I default --discover", { code: 4, output: "connection refused" });
  await world.mount(iscsi, { iscsi: { ...TARGET, portals: ["10.0.0.2"] } });

  deepEqual([...world.initiator.loggedIn], [`10.0.0.1:3260 ${IQN}`]);
});

const REFUSED = { code: 24, output: "iscsiadm: initiator reported error (24 - authorization failure)" };
for (const { it, prepare, source = INLINE, message } of [
  {
    it: "open-iscsi is not installed",
    prepare: ({ initiator }: VolumeWorld) => void (initiator.hasProgram = false),
    message: /^exec: "iscsiadm": executable file not found in \$PATH/,
  },
  {
    it: "the target does not accept the login",
    prepare: ({ initiator }: VolumeWorld) => void initiator.failures.set("--login", REFUSED),
    message: /^failed to get any path for iscsi disk, last err seen:\niscsi: failed to attach disk: Error: .*authorization failure/,
  },
  {
    it: "the portal does not respond",
    prepare: ({ initiator }: VolumeWorld) => void initiator.failures.set("--discover", { code: 4, output: "connection refused" }),
    message: /iscsi: failed to sendtargets to portal 10\.0\.0\.1:3260 output: connection refused/,
  },
  {
    it: "the interface is unknown",
    prepare: ({ initiator }: VolumeWorld) => void initiator.failures.set("show", { code: 6, output: "no such iface" }),
    message: /^iscsi: could not read iface default error: no such iface/,
  },
  {
    it: "the Secret is missing",
    source: { iscsi: { ...TARGET, chapAuthSession: true, secretRef: { name: "chap" } } },
    message: /^couldn't get secret ns\/chap error: secrets "chap" not found/,
  },
  {
    it: "a name would leave the directory",
    source: { iscsi: { ...TARGET, iscsiInterface: "../x" } },
    message: /^invalid iscsiInterface: \.\.\/x/,
  },
]) {
  test(`an iscsi volume is not mounted if ${it}, and says so`, async () => {
    const world = new VolumeWorld();
    prepare?.(world);

    await rejects(world.mount(iscsi, source), (error: Error) => message.test(error.message));

    deepEqual([world.mounter.mounts(), [...world.initiator.loggedIn]], [[], []]);
  });
}

test("an iscsi volume that never got a session is unstaged without one", async () => {
  const world = new VolumeWorld();
  world.initiator.failures.set("--discover", { code: 4, output: "connection refused" });
  await rejects(world.mount(iscsi, INLINE));

  await world.unmount(iscsi, INLINE);

  deepEqual(
    world.mounter.lines().filter((line) => line.startsWith(STAGED)),
    [],
  );
});

test("an iscsi volume is unstaged without open-iscsi if there is no session, and waits for it if there is one", async () => {
  const world = new VolumeWorld();
  world.initiator.hasProgram = false;
  await rejects(world.mount(iscsi, INLINE));

  await world.unmount(iscsi, INLINE);

  deepEqual(
    world.mounter.lines().filter((line) => line.startsWith(STAGED)),
    [],
  );

  world.initiator.hasProgram = true;
  await world.mount(iscsi, INLINE);
  world.initiator.hasProgram = false;
  await rejects(world.unmount(iscsi, INLINE), /"iscsiadm": executable file not found/);
});

test("a raw iscsi device is linked, and its session ends with it", async () => {
  const world = new VolumeWorld();
  const { path, isBlockDevice } = await world.mount(iscsi, BLOCK);
  equal(isBlockDevice, true);
  equal(
    world.mounter
      .lines()
      .find((line) => line.startsWith(`${path} `))
      ?.endsWith(`→ ${DEVICE}`),
    true,
  );

  await world.unmount(iscsi, BLOCK);

  equal(world.initiator.loggedIn.size, 0);
});

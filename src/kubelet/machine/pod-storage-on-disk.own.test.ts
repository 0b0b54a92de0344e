import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Pod, Volume } from "../../api/generated/core/v1.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { MountedVolume } from "../contracts/pod-volumes.ts";
import { PodStorageOnDisk, VOLUME_USAGE_KEPT_MS } from "./pod-storage-on-disk.ts";
import { buildPod } from "../../api/testing/pod.ts";

const VOLUMES: readonly Volume[] = [
  { name: "disk", emptyDir: {} },
  { name: "memory", emptyDir: { medium: "Memory" } },
  { name: "settings", configMap: { name: "settings" } },
  { name: "foreign", hostPath: { path: "/" } },
  { name: "later", emptyDir: {} },
];
const POD: Pod = buildPod({ metadata: { name: "web", namespace: "default", uid: "u-1" }, spec: { containers: [], volumes: [...VOLUMES] } });

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), "k8ts-storage-"));
  for (const name of ["disk", "memory", "settings", "pods/u-1", "logs/default_web_u-1/main"])
    await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, "disk", "a"), "x");
  await writeFile(join(root, "pods", "u-1", "etc-hosts"), "127.0.0.1 localhost\n");
  for (const name of ["0.log", "1.log"]) await writeFile(join(root, "logs", "default_web_u-1", "main", name), "x\n");
});
after(() => rm(root, { recursive: true }));

function aStorage() {
  const clock = virtualClock();
  const at = (name: string, fields: Partial<MountedVolume> = {}): [string, MountedVolume] => [
    name,
    { path: join(root, name), isReadOnly: false, isExternal: false, isEphemeral: false, ...fields },
  ];
  const [ephemeral, external] = [{ isEphemeral: true }, { path: "/", isExternal: true }];
  const mounted = new Map([at("disk", ephemeral), at("memory"), at("settings", ephemeral), at("foreign", external)]);
  const directories = { logs: join(root, "logs"), pods: join(root, "pods") };
  return {
    clock,
    storage: new PodStorageOnDisk({ clock, directories, volumes: { mounted: () => mounted, report: async () => undefined } }),
  };
}

test("podStorage measures a Pod's own volumes with their disks, its logs by container, and its hosts file", async () => {
  const { volumes, logs, hostsFile } = await aStorage().storage.of(POD);

  deepEqual(
    volumes.map(({ name, isEphemeral, used }) => [name, isEphemeral, used?.inodesUsed]),
    [
      ["disk", true, 2],
      ["memory", false, 1],
      ["settings", true, 1],
    ],
  );
  ok(volumes.every(({ filesystem }) => filesystem.capacityBytes > 0));
  deepEqual(
    [...logs].map(([name, { inodesUsed }]) => [name, inodesUsed]),
    [["main", 2]],
  );
  equal(hostsFile?.inodesUsed, 1);
});

test("the measured size of a volume is cached for a minute", async () => {
  const { clock, storage } = aStorage();
  const inodes = async () => (await storage.of(POD)).volumes[0]?.used?.inodesUsed;
  const before = await inodes();
  await writeFile(join(root, "disk", "b"), "x");

  equal(await inodes(), before);
  await clock.advance(VOLUME_USAGE_KEPT_MS);
  equal(await inodes(), (before ?? 0) + 1);
});

test("a volume with a claim is measured by its file system, or by its driver, and named by its claim", async () => {
  const claim = { namespace: "default", name: "data" };
  const mounted = (fields: Partial<MountedVolume>): MountedVolume => ({
    ...{ path: join(root, "disk"), isReadOnly: false, isExternal: false, isEphemeral: false, claim },
    ...fields,
  });
  const volumes = new Map([
    ["local", mounted({})],
    ["host", mounted({ isExternal: true })],
    ["raw", mounted({ isBlockDevice: true })],
    ["driven", mounted({ isBlockDevice: true })],
  ]);
  const filesystem = { availableBytes: 1, capacityBytes: 3, usedBytes: 2 };
  const condition = { isAbnormal: true, message: "broken" };
  const reported: string[] = [];
  const storage = new PodStorageOnDisk({
    clock: virtualClock(),
    directories: { logs: join(root, "logs"), pods: join(root, "pods") },
    abnormal: (_pod, { name, message }) => void reported.push(`${name}: ${message}`),
    volumes: { mounted: () => volumes, report: async (_uid, name) => (name === "driven" ? { filesystem, condition } : undefined) },
  });
  const spec = { containers: [], volumes: [...volumes.keys()].map((name) => ({ name, persistentVolumeClaim: { claimName: "data" } })) };

  const pod = buildPod({ metadata: { uid: "u-1" }, spec });

  const { volumes: measured } = await storage.of(pod);
  await storage.of(pod);

  deepEqual(
    measured.map(({ name, claim: of }) => [name, of]),
    [
      ["local", claim],
      ["driven", claim],
    ],
  );
  equal(measured[0]?.used?.usedBytes, measured[0]?.filesystem.usedBytes);
  deepEqual([measured[1]?.filesystem, measured[1]?.condition], [filesystem, condition]);
  deepEqual(reported, ["driven: broken"]);
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { emptyDir } from "./empty-dir.ts";

const NO_REQUEST = "hugePages storage requested, but there is no resource request for huge pages";

for (const medium of ["", "Memory"])
  volumeSuite({
    plugin: emptyDir,
    source: { emptyDir: { medium } },
    prepare: (world) => void (world.spec = { ...world.spec, securityContext: { fsGroup: 7 } }),
    invalid: [
      { source: { emptyDir: { medium: "HugePages-2Mi" } }, message: `medium HugePages-2Mi: ${NO_REQUEST}` },
      { source: { emptyDir: { medium: "HugePages" } }, message: `medium HugePages: ${NO_REQUEST}` },
      { source: { emptyDir: { medium: "Tape" } }, message: 'unknown storage medium "Tape"' },
    ],
  });

test("an emptyDir in memory is a tmpfs of its size limit that does not count as ephemeral storage", async () => {
  const world = new VolumeWorld();

  const { isEphemeral } = await world.mount(emptyDir, { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } });

  equal(isEphemeral, false);
  deepEqual(
    world.mounter.lines().filter((line) => line.includes(" tmpfs ")),
    ["/data/pods/u/volumes/kubernetes.io~empty-dir/v tmpfs 1048576"],
  );
});

test("an emptyDir in memory has to be mounted again after a reboot, which empties the mount table", async () => {
  const world = new VolumeWorld();
  const source = { emptyDir: { medium: "Memory" } };
  const { path } = await world.mount(emptyDir, source);
  await world.mounter.unmount(path);

  equal(await emptyDir.reconstruct(world.volumeOf(emptyDir, source), world), undefined);
});

test("an emptyDir in memory is not mounted on disk where mounting is forbidden", async () => {
  const world = new VolumeWorld();
  world.mounter.isMountAllowed = false;

  const outcome = await world.mount(emptyDir, { emptyDir: { medium: "Memory" } }).catch(String);

  equal(outcome, "Error: mount: permission denied");
});

const requesting = (...names: readonly string[]) => ({ requests: Object.fromEntries(names.map((name) => [name, "4Mi"])) });

for (const { medium, names, expected } of [
  { medium: "HugePages", names: ["hugepages-2Mi", "memory"], expected: "hugetlbfs nodev pagesize=2Mi" },
  { medium: "HugePages-1Gi", names: ["hugepages-2Mi", "hugepages-1Gi"], expected: "hugetlbfs nodev pagesize=1Gi" },
  { medium: "HugePages-2048Ki", names: ["hugepages-2Mi"], expected: "hugetlbfs nodev pagesize=2Mi" },
  {
    medium: "HugePages",
    names: ["hugepages-2Mi", "hugepages-1Gi"],
    expected: "medium: HugePages can't be used if container requests multiple huge page sizes",
  },
  { medium: "HugePages-1Gi", names: ["hugepages-2Mi"], expected: `medium HugePages-1Gi: ${NO_REQUEST}` },
]) {
  test(`an emptyDir of medium ${medium} in a Pod that requests ${names.join(" and ")}: ${expected}`, async () => {
    const world = new VolumeWorld();
    world.spec = { ...world.spec, containers: [{ name: "c", image: "i:1", resources: requesting(...names) }] };
    const mount = () => world.mount(emptyDir, { emptyDir: { medium } });
    const outcome = await mount().then(
      async () => {
        await mount();
        return world.mounter.lines().filter((line) => line.includes(" hugetlbfs "));
      },
      (error: unknown) => (error instanceof Error ? error.message : error),
    );
    deepEqual(outcome, expected.startsWith("hugetlbfs") ? [`/data/pods/u/volumes/kubernetes.io~empty-dir/v ${expected}`] : expected);
  });
}

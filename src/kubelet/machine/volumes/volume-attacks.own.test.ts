/** Volumes that hostile containers prepare, and many volumes at once: nothing outside is reached, and nothing is left. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Container, PersistentVolumeSpec, Pod, Volume, VolumeMount } from "../../../api/generated/core/v1.ts";
import { buildPod } from "../../../api/testing/pod.ts";
import { giveToGroup } from "../../../host/files/shared-directory.ts";
import { loopDevicesUnder } from "../../../host/kernel/loop-devices.ts";
import { mountMemory } from "../../../host/kernel/mounts.ts";
import { needs } from "../../../testing/needs.ts";
import { aDevice, mountPaths, podOfClaims, startVolumeCase, type VolumeCase } from "./testing/volume-case.ts";

const ANY = new AbortController().signal;
const RACES = 60;

/** Swaps a directory and a link to `target` at the same name, as fast as a shell can, until it is disposed. */
async function swapping(directory: string, target: string): Promise<AsyncDisposable> {
  const script = `cd "$1" && mkdir -p safe && ln -sfn "$2" link && echo ready && while :; do mv -T safe place && mv -T place safe; mv -T link place && mv -T place link; done`;
  const child = spawn("sh", ["-c", script, "sh", directory, target], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      // The group: the shell's current program, too.
      process.kill(-(child.pid as number), "SIGKILL");
      await exited;
    },
  };
}

function withSubPath(pod: Pod, subPath: string): { readonly container: Container; readonly mount: VolumeMount } {
  const mount = { name: "here", mountPath: "/here", subPath };
  return { container: { ...(pod.spec?.containers[0] as Container), volumeMounts: [mount] }, mount };
}

const DIRECTORY_VOLUMES: Readonly<Record<string, (path: string) => PersistentVolumeSpec>> = {
  local: (path) => ({ local: { path } }),
  hostPath: (path) => ({ hostPath: { path, type: "Directory" } }),
};

for (const [kind, specOf] of Object.entries(DIRECTORY_VOLUMES)) {
  const title = `a subPath of a ${kind} volume that is swapped with a link to a secret directory is mounted from the volume or refused`;
  test(title, { ...needs("tmpfs") }, async () => {
    await using all = await startVolumeCase();
    const [data, outside] = [join(all.disk, "data"), join(all.disk, "outside")];
    for (const directory of [data, outside]) await mkdir(directory);
    await writeFile(join(outside, "secret"), "");
    all.bind("here", specOf(data));
    const pod = podOfClaims("u", ["here"]);
    await all.volumes.mount(pod, ANY);
    const { container, mount } = withSubPath(pod, "place");
    const outcomes = new Set<string>();
    {
      await using _attacker = await swapping(data, outside);
      for (let attempt = 0; attempt < RACES; attempt++) {
        const path = await all.volumes.subPath(pod, container, mount, "place").catch(() => undefined);
        const names = path === undefined ? ["refused"] : await readdir(path);
        outcomes.add(names.includes("secret") ? "escaped" : path === undefined ? "refused" : "inside");
      }
    }
    assert.equal(outcomes.has("escaped"), false);
    await all.volumes.unmount("u");
    assert.deepEqual([await mountPaths(all.root), await readdir(outside)], [[], ["secret"]]);
  });
}

test("fsGroup changes nothing outside of a volume whose entries are swapped with links", { ...needs("tmpfs") }, async () => {
  await using all = await startVolumeCase();
  const [data, outside] = [join(all.disk, "data"), join(all.disk, "outside")];
  for (const directory of [data, outside]) await mkdir(directory, { mode: 0o700 });
  await writeFile(join(outside, "secret"), "", { mode: 0o600 });
  {
    await using _attacker = await swapping(data, outside);
    for (let attempt = 0; attempt < RACES; attempt++) await giveToGroup(data, 4_711, (mode) => mode | 0o660).catch(() => undefined);
  }
  const rights = await Promise.all([outside, join(outside, "secret")].map(async (path) => await stat(path)));
  assert.deepEqual(
    rights.map(({ mode, gid }) => [(mode & 0o777).toString(8), gid]),
    [
      ["700", rights[0]?.gid === 4_711 ? -1 : rights[0]?.gid],
      ["600", rights[1]?.gid === 4_711 ? -1 : rights[1]?.gid],
    ],
  );
});

test(
  "device files, links, long names and deep trees in a Pod's own volume are removed with it, and their targets are kept",
  { ...needs("tmpfs") },
  async () => {
    await using all = await startVolumeCase();
    await writeFile(join(all.disk, "kept"), "1");
    const pod = buildPod({
      metadata: { uid: "u", namespace: "ns" },
      spec: {
        containers: [{ name: "c", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
        volumes: [{ name: "v", emptyDir: {} }],
      },
    });
    const path = (await all.volumes.mount(pod, ANY)).get("v")?.path ?? "";
    await symlink(join(all.disk, "kept"), join(path, "link"));
    await symlink("/", join(path, "root"));
    await writeFile(join(path, "n".repeat(255)), "");
    const child = spawn("sh", [
      "-c",
      'cd "$1" && mkfifo pipe && { mknod null c 1 3 || true; } && for i in $(seq 30); do mkdir "$2" && cd -P "./$2" || exit 1; done',
      "sh",
      path,
      "d".repeat(200),
    ]);
    assert.deepEqual(await once(child, "exit"), [0, null]);
    const { container, mount } = withSubPath(pod, "null");
    await assert.rejects(all.volumes.subPath(pod, container, { ...mount, name: "v" }, "root/etc"), {
      message: 'failed to prepare subPath for volumeMount "v" of container "c"',
    });

    await all.volumes.unmount("u");

    assert.deepEqual(
      [await all.volumes.pods(), await readFile(join(all.disk, "kept"), "utf8"), (await lstat("/dev/null")).isCharacterDevice()],
      [[], "1", true],
    );
  },
);

/** Of a file name, and of a path: limits of Linux. */
const [NAME_BYTES_MAX, PATH_BYTES_MAX] = [255, 4_096];
/** Of an object's name, such as a PersistentVolume's or a claim's, and of a volume's and a container's in a Pod. */
const [OBJECT_NAME_MAX, LABEL_NAME_MAX] = [253, 63];

test("volumes, claims, containers and subPaths with names of maximum length are mounted and removed", { ...needs("tmpfs") }, async () => {
  await using all = await startVolumeCase();
  const data = join(all.disk, "data");
  await mkdir(data);
  // The helper prefixes the name of the claim.
  const bound = "b".repeat(OBJECT_NAME_MAX - "c-".length);
  all.bind(bound, { local: { path: data } });
  const [volume, container] = ["v".repeat(LABEL_NAME_MAX), "k".repeat(LABEL_NAME_MAX)];
  const subPath = ["x", "y", "z"].map((letter) => letter.repeat(NAME_BYTES_MAX)).join("/");
  const mount = { name: volume, mountPath: "/v", subPath };
  const pod = buildPod({
    metadata: { uid: "u", name: "p".repeat(OBJECT_NAME_MAX), namespace: "ns" },
    spec: {
      containers: [{ name: container, image: "i", volumeMounts: [mount] }],
      volumes: [{ name: volume, persistentVolumeClaim: { claimName: `c-${bound}` } }],
    },
  });
  await all.volumes.mount(pod, ANY);
  await writeFile(join(await all.volumes.subPath(pod, pod.spec?.containers[0] as Container, mount, subPath), "row"), "1");
  await all.restart();
  await all.volumes.unmount("u");

  assert.deepEqual([await readFile(join(data, subPath, "row"), "utf8"), await mountPaths(all.root)], ["1", []]);
});

const TOO_LONG: Readonly<Record<string, string>> = {
  "with a name that is too long for the file system": "n".repeat(NAME_BYTES_MAX + 1),
  "that is too long for the kernel": Array.from({ length: PATH_BYTES_MAX / 2 }, () => "d").join("/"),
};

for (const [which, path] of Object.entries(TOO_LONG)) {
  test(`a subPath ${which} is refused, and the Pod's volumes can still be removed`, { ...needs("tmpfs") }, async () => {
    await using all = await startVolumeCase();
    const data = join(all.disk, "data");
    await mkdir(data);
    all.bind("here", { local: { path: data } });
    const pod = podOfClaims("u", ["here"]);
    await all.volumes.mount(pod, ANY);
    const { container, mount } = withSubPath(pod, path);

    await assert.rejects(all.volumes.subPath(pod, container, mount, path), {
      name: "ContainerConfigError",
      message: 'failed to prepare subPath for volumeMount "here" of container "c"',
    });

    await all.volumes.unmount("u");
    assert.deepEqual([await mountPaths(all.root), await all.volumes.pods(), await readdir(data)], [[], [], []]);
  });
}

test("a subPath that is a FIFO is mounted without being opened, so that the kubelet does not block", { ...needs("tmpfs") }, async () => {
  await using all = await startVolumeCase();
  const data = join(all.disk, "data");
  await mkdir(data);
  execFileSync("mkfifo", [join(data, "pipe")]);
  all.bind("here", { local: { path: data } });
  const pod = podOfClaims("u", ["here"]);
  await all.volumes.mount(pod, ANY);
  const { container, mount } = withSubPath(pod, "pipe");
  // Twice: the second start of a container finds the FIFO at its mount point.
  const paths = [await all.volumes.subPath(pod, container, mount, "pipe"), await all.volumes.subPath(pod, container, mount, "pipe")];
  assert.deepEqual([paths[0] === paths[1], (await lstat(paths[0] ?? "")).isFIFO()], [true, true]);
  await all.volumes.unmount("u");
  assert.deepEqual([await mountPaths(all.root), await readdir(data)], [[], ["pipe"]]);
});

test("a full disk fails a mount with its reason, leaves the claim's data, and is recovered from", { ...needs("tmpfs") }, async () => {
  await using all = await startVolumeCase();
  const data = join(all.disk, "data");
  await mkdir(data);
  await writeFile(join(data, "row"), "1");
  all.bind("here", { local: { path: data } });
  const pods = join(await realpath(all.root), "pods");
  await mkdir(pods, { recursive: true });
  // Inodes for some directories, and not for all.
  await mountMemory(pods, { sizeBytes: 64 * 1024 });
  await writeFile(join(pods, "filler"), Buffer.alloc(64 * 1024)).catch(() => undefined);
  const pod: Pod = podOfClaims("u", ["here"]);
  const volumes: readonly Volume[] = [...(pod.spec?.volumes ?? []), { name: "config", configMap: { name: "c" } }];
  const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const full: Pod = { ...pod, spec: { containers: [{ name: "c", image: "i", volumeMounts: mounts }], volumes } };

  await assert.rejects(all.volumes.mount(full, ANY), {
    name: "MountError",
    message: /^MountVolume.SetUp failed for volume ".*" : .*ENOSPC/,
  });
  await writeFile(join(pods, "filler"), "");
  await all.volumes.mount(full, ANY);

  await all.volumes.unmount("u");
  assert.deepEqual([await mountPaths(all.root), await readFile(join(data, "row"), "utf8")], [[pods], "1"]);
});

/** Pods of the test of many volumes: 200 is the full size. */
const MANY_PODS = Number(process.env["K8TS_VOLUME_PODS"] ?? 6);
/** Pods that come and go at the same time. */
const AT_ONCE = 20;

/** Ten volumes of every kind that mounts something. */
function manyVolumes(uid: string): Pod {
  const volumes: readonly Volume[] = [
    { name: "disk", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    { name: "config", configMap: { name: "c" } },
    { name: "secret", secret: { secretName: "s" } },
    { name: "other", secret: { secretName: "t" } },
    { name: "labels", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
    { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
    { name: "host", hostPath: { path: "/tmp" } },
    { name: "here", persistentVolumeClaim: { claimName: "c-here" } },
    { name: "device", persistentVolumeClaim: { claimName: "c-device" } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return buildPod({
    metadata: { uid, name: uid, namespace: "ns" },
    spec: { containers: [{ name: "c", image: "i", volumeMounts }], volumes },
  });
}

async function comeAndGo({ volumes }: VolumeCase, uid: string): Promise<void> {
  const pod = manyVolumes(uid);
  const mounted = await volumes.mount(pod, ANY);
  assert.equal(mounted.size, 10);
  const mount = { name: "disk", mountPath: "/part", subPath: "part" };
  await volumes.subPath(pod, { name: "c", image: "i", volumeMounts: [mount] }, mount, "part");
  await volumes.unmount(uid);
}

test(
  `${MANY_PODS} Pods with ten volumes each come and go, and no mount, loop device or directory is left`,
  { ...needs("tmpfs", "loop") },
  async () => {
    await using all = await startVolumeCase();
    await using device = await aDevice(all.disk);
    const data = join(all.disk, "data");
    await mkdir(data);
    all.bind("here", { local: { path: data } });
    all.bind("device", { local: { path: device.path } });
    const left = async () => [...(await mountPaths(all.root)), ...(await mountPaths(all.disk)), ...(await loopDevicesUnder(all.disk))];
    const before = await left();

    for (let first = 0; first < MANY_PODS; first += AT_ONCE) {
      const uids = Array.from({ length: Math.min(AT_ONCE, MANY_PODS - first) }, (_, index) => `pod-${first + index}`);
      await Promise.all(uids.map((uid) => comeAndGo(all, uid)));
    }

    assert.deepEqual(await left(), before);
    assert.deepEqual([await all.volumes.pods(), await readdir(join(all.root, "plugins/kubernetes.io/local-volume/mounts"))], [[], []]);
  },
);

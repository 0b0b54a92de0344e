import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type {
  ConfigMap,
  Container,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  Secret,
  Volume,
  VolumeMount,
} from "../../../api/generated/core/v1.ts";
import { createLogger } from "../../../base/logger.ts";
import { mountsUnder } from "../../../host/kernel/mount-table.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { realClock } from "../../../host/real-clock.ts";
import { needs } from "../../../testing/needs.ts";
import type { PodVolumes } from "../../contracts/pod-volumes.ts";
import { startPodVolumes } from "./pod-volumes-on-disk.ts";
import { buildPod } from "../../../api/testing/pod.ts";

const ANY = new AbortController().signal;
const DEADLINE_MS = 30_000;

/** API objects by name, for tests to change; `changed` announces a change. */
class Objects {
  readonly configMaps = new Map<string, Readonly<Record<string, string>>>();
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();
  readonly claims = new Map<string, PersistentVolumeClaim>();
  readonly persistentVolumes = new Map<string, PersistentVolume>();
  nodeLabels: Readonly<Record<string, string>> = {};
  token = "t1";
  error: Error | undefined;
  readonly #listeners = new Set<(podUid: string) => void>();

  changed(podUid = "u"): void {
    for (const listener of this.#listeners) listener(podUid);
  }

  listen(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    if (this.error !== undefined) return Promise.reject(this.error);
    const data = this.configMaps.get(name);
    return Promise.resolve(data && { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data });
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    const texts = this.secrets.get(name);
    const data = Object.entries(texts ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    return Promise.resolve(texts && { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data: Object.fromEntries(data) });
  }

  persistentVolumeClaim(_namespace: string, name: string): Promise<PersistentVolumeClaim | undefined> {
    return Promise.resolve(this.claims.get(name));
  }

  persistentVolume(name: string): Promise<PersistentVolume | undefined> {
    return Promise.resolve(this.persistentVolumes.get(name));
  }

  node(name: string): Promise<Node> {
    return Promise.resolve({ apiVersion: "v1", kind: "Node", metadata: { name, labels: this.nodeLabels } });
  }

  trustBundles(): Promise<[]> {
    return Promise.resolve([]);
  }

  csiDriver(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  volumeAttachment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

interface Case extends AsyncDisposable {
  readonly root: string;
  readonly objects: Objects;
  /** The first logged warning. */
  readonly warned: Promise<string>;
  volumes: PodVolumes;
  /** Simulates a kill: a new instance on the same disk. */
  restart(): Promise<void>;
}

async function startCase(): Promise<Case> {
  const directory = await makeTemporaryDirectory("k8ts-volumes-");
  const root = join(await realpath(directory.path), "kubelet");
  const objects = new Objects();
  let warn = (_sentence: string): void => {};
  const warned = new Promise<string>((resolve) => void (warn = resolve));
  const log = createLogger({ clock: realClock, level: "warn", sink: ({ sentence }) => warn(sentence) });
  const start = () =>
    startPodVolumes({
      rootDirectory: root,
      nodeName: "n1",
      references: objects,
      tokens: { token: () => Promise.resolve(objects.token), forget: () => {}, listen: (listener) => objects.listen(listener) },
      nodeAllocatable: () => ({ cpu: "2", memory: "64Mi" }),
      clock: realClock,
      log,
    });
  const running: Case = {
    root,
    objects,
    warned,
    volumes: await start(),
    async restart() {
      await running.volumes[Symbol.asyncDispose]();
      running.volumes = await start();
    },
    async [Symbol.asyncDispose]() {
      await running.volumes[Symbol.asyncDispose]();
      await unmountUnder(root);
      await directory[Symbol.asyncDispose]();
    },
  };
  return running;
}

/** With a container that uses all of its volumes. */
function aPod(volumes: readonly Volume[], more: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return buildPod({
    metadata: { namespace: "ns", uid: "u", ...metadata },
    spec: { containers: [{ name: "c", image: "i", volumeMounts: volumes.map(mountOf) }], volumes, ...more },
  });
}

function mountOf({ name }: Volume): VolumeMount {
  return { name, mountPath: `/${name}` };
}

async function mountOne({ volumes }: Case, source: Omit<Volume, "name">, more: Partial<PodSpec> = {}): Promise<string> {
  const mounted = await volumes.mount(aPod([{ name: "v", ...source }], more), ANY);
  return mounted.get("v")?.path ?? "";
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

async function rightsOf(path: string): Promise<string> {
  const { mode, uid, gid } = await lstat(path);
  return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
}

/** Waits until a file of a volume has this content: each update is a rename in the volume's directory. */
async function untilSays(volume: string, file: string, text: string | undefined): Promise<void> {
  const says = () => readFile(join(volume, file), "utf8").catch(() => undefined);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const watcher = watch(volume);
  try {
    for (;;) {
      // Listening begins before each read, so that no change is missed.
      const change = once(watcher, "change", { signal });
      // The last wait is not awaited; the signal rejects it while later tests run.
      change.catch(() => undefined);
      if ((await says()) === text) return;
      await change;
    }
  } finally {
    watcher.close();
  }
}

test("volumes have upstream's paths and modes", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  all.objects.configMaps.set("c", { a: "1" });
  all.objects.secrets.set("s", { b: "2" });
  const pod = aPod([
    { name: "empty", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    { name: "config", configMap: { name: "c", defaultMode: 0o440 } },
    { name: "secret", secret: { secretName: "s" } },
    { name: "host", hostPath: { path: "/tmp" } },
    { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
  ]);
  const mounted = await all.volumes.mount(pod, ANY);
  const base = join(all.root, "pods/u/volumes");
  assert.deepEqual(
    [...mounted].toSorted(byName).map(([name, { path, isReadOnly, isExternal }]) => [name, path.replace(base, ""), isReadOnly, isExternal]),
    [
      ["config", "/kubernetes.io~configmap/config", true, false],
      ["empty", "/kubernetes.io~empty-dir/empty", false, false],
      ["host", "/tmp", false, true],
      ["memory", "/kubernetes.io~empty-dir/memory", false, false],
      ["secret", "/kubernetes.io~secret/secret", true, false],
      ["token", "/kubernetes.io~projected/token", true, false],
    ],
  );
  assert.equal(await rightsOf(join(base, "kubernetes.io~empty-dir/empty")), "777 0:0");
  assert.equal(await rightsOf(base), "750 0:0");
  assert.equal((await stat(join(base, "kubernetes.io~configmap/config/a"))).mode & 0o777, 0o440);
  assert.equal(await readFile(join(base, "kubernetes.io~projected/token/token"), "utf8"), "t1");
  const inMemory = ["kubernetes.io~empty-dir/memory", "kubernetes.io~projected/token", "kubernetes.io~secret/secret"];
  assert.deepEqual(
    (await mountsUnder(base)).map(({ path }) => path).toSorted(),
    inMemory.map((path) => join(base, path)),
  );
  assert.deepEqual(await all.volumes.pods(), ["u"]);
  assert.equal(all.volumes.mounted("u"), mounted);
});

test("a volume that cannot be mounted fails with upstream's message, and the next attempt succeeds", async () => {
  await using all = await startCase();
  for (const [source, why] of [
    [{ configMap: { name: "c" } }, 'configmap "c" not found'],
    [{ rbd: { monitors: ["x"], image: "i" } }, "volumes of type rbd are not supported by this version"],
    [
      { emptyDir: { medium: "HugePages-2Mi" } },
      "medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages",
    ],
    [{ hostPath: { path: "/no/such", type: "Directory" } }, "hostPath type check failed: /no/such is not a directory"],
  ] as const) {
    await assert.rejects(mountOne(all, source), { name: "MountError", message: `MountVolume.SetUp failed for volume "v" : ${why}` });
  }
  all.objects.configMaps.set("c", { a: "1" });
  assert.equal(await readFile(join(await mountOne(all, { configMap: { name: "c" } }), "a"), "utf8"), "1");
});

test("an unused volume delays nothing, and is mounted when a container uses it", async () => {
  await using all = await startCase();
  const unused: readonly Volume[] = [
    { name: "secret", secret: { secretName: "none" } },
    { name: "claim", persistentVolumeClaim: { claimName: "none" } },
    { name: "host", hostPath: { path: "/nowhere/at/all", type: "Directory" } },
    { name: "later", configMap: { name: "later" } },
  ];
  const used: Volume = { name: "used", emptyDir: {} };
  const containers = [{ name: "c", image: "i", volumeMounts: [mountOf(used)] }];
  const pod = aPod([...unused, used], { containers });
  const looking = (volume: string) =>
    aPod([...unused, used], {
      containers,
      ephemeralContainers: [{ name: "debug", image: "i", volumeMounts: [{ name: volume, mountPath: "/v" }] }],
    });

  assert.deepEqual([...(await all.volumes.mount(pod, ANY)).keys()], ["used"]);
  await assert.rejects(all.volumes.mount(looking("later"), ANY), /"later" : configmap "later" not found$/);
  all.objects.configMaps.set("later", { word: "sesame" });
  const { path = "" } = (await all.volumes.mount(looking("later"), ANY)).get("later") ?? {};
  assert.equal(await readFile(join(path, "word"), "utf8"), "sesame");
  all.objects.configMaps.set("later", { word: "open" });
  all.objects.changed();
  await untilSays(path, "word", "open");
});

test("every hostPath type is checked or created", async () => {
  await using all = await startCase();
  const at = (name: string) => join(all.root, name);
  await writeFile(at("file"), "");
  await mkdir(at("dir"));
  const server = createServer().listen(at("socket"));
  await new Promise((resolve) => void server.once("listening", resolve));
  const outcome = (path: string, type: string) =>
    mountOne(all, { hostPath: { path, type } as never }).then(
      () => "fine",
      (error: Error) => error.message.replace(/^.* : /, "").replaceAll(all.root, ""),
    );
  const rows = [
    [at("dir"), "Directory", "fine"],
    [at("file"), "Directory", "hostPath type check failed: /file is not a directory"],
    [at("file"), "DirectoryOrCreate", "hostPath type check failed: /file is not a directory"],
    [at("new/deep"), "DirectoryOrCreate", "fine"],
    [at("file"), "File", "fine"],
    [at("dir"), "FileOrCreate", "hostPath type check failed: /dir is not a file"],
    [at("new-file"), "FileOrCreate", "fine"],
    [at("none/new-file"), "FileOrCreate", "ENOENT: no such file or directory, open '/none/new-file'"],
    [at("socket"), "Socket", "fine"],
    [at("file"), "Socket", "hostPath type check failed: /file is not a socket file"],
    ["/dev/null", "CharDevice", "fine"],
    [at("file"), "CharDevice", "hostPath type check failed: /file is not a character device"],
    ["/dev/null", "BlockDevice", "hostPath type check failed: /dev/null is not a block device"],
    [`${at("dir")}/../dir`, "", "invalid HostPath `/dir/../dir`: must not contain '..'"],
    [at("anything"), "", "fine"],
  ] as const;
  for (const [path, type, expected] of rows) {
    assert.equal(await outcome(path, type), expected, `${path} ${type}`);
    await all.volumes.unmount("u");
  }
  server.close();
  assert.equal(existsSync(at("anything")), false);
  assert.deepEqual([await rightsOf(at("new/deep")), await rightsOf(at("new-file"))], ["755 0:0", "644 0:0"]);
});

test("fsGroup owns the volumes: writable for the Pod's own, readable for projected ones", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  all.objects.secrets.set("s", { key: "1" });
  const group = { securityContext: { fsGroup: 1_234 } };
  const empty = await mountOne(all, { emptyDir: {} }, group);
  assert.equal(await rightsOf(empty), "2777 0:1234");
  await all.volumes.unmount("u");

  const projected = { sources: [{ secret: { name: "s" } }, { serviceAccountToken: { path: "token" } }], defaultMode: 0o400 };
  const files = await mountOne(all, { projected }, group);
  const real = await realpath(join(files, "..data"));
  assert.deepEqual(await Promise.all([rightsOf(real), rightsOf(join(real, "key")), rightsOf(join(real, "token"))]), [
    "2755 0:1234",
    "440 0:1234",
    "640 0:1234",
  ]);
});

/** Whether the kernel has huge pages of 2Mi, reserved or not. */
const HUGE_PAGES = existsSync("/sys/kernel/mm/hugepages/hugepages-2048kB");
const NO_HUGE_PAGES = "the kernel has no huge pages of 2Mi";

test("an emptyDir in huge pages is a hugetlbfs", { ...needs("tmpfs"), ...(HUGE_PAGES ? {} : { skip: NO_HUGE_PAGES }) }, async () => {
  await using all = await startCase();
  const resources = { requests: { "hugepages-2Mi": "2Mi" }, limits: { "hugepages-2Mi": "2Mi" } };
  const path = await mountOne(
    all,
    { emptyDir: { medium: "HugePages" } },
    {
      containers: [{ name: "c", image: "i:1", resources, volumeMounts: [{ name: "v", mountPath: "/v" }] }],
    },
  );
  assert.equal(execFileSync("stat", ["--file-system", "--format=%T %s", path], { encoding: "utf8" }), "hugetlbfs 2097152\n");
  await all.volumes.unmount("u");
  assert.deepEqual(await mountsUnder(path), []);
});

test("a changed source is refreshed in a mounted volume", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const { objects, volumes } = all;
  objects.configMaps.set("c", { a: "1" });
  const projected = {
    sources: [
      { configMap: { name: "c" } },
      { configMap: { name: "o", optional: true } },
      { serviceAccountToken: { path: "token" } },
      { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    ],
  };
  const path = await mountOne(all, { projected });

  objects.configMaps.set("c", { a: "2" });
  objects.changed();
  await untilSays(path, "a", "2");
  objects.configMaps.set("o", { extra: "x" });
  objects.changed();
  await untilSays(path, "extra", "x");
  objects.configMaps.delete("o");
  objects.changed();
  await untilSays(path, "extra", undefined);
  objects.token = "t2";
  objects.changed();
  await untilSays(path, "token", "t2");
  volumes.update(aPod([{ name: "v", projected }], {}, { labels: { app: "web" } }));
  await untilSays(path, "labels", 'app="web"');
});

test("a failed update keeps the old contents and is retried", async () => {
  await using all = await startCase();
  const { objects, warned } = all;
  objects.configMaps.set("c", { a: "1" });
  const path = await mountOne(all, { configMap: { name: "c" } });
  objects.error = new Error("the API is away");
  objects.configMaps.set("c", { a: "2" });
  objects.changed();
  assert.equal(await warned, "Cannot update the volumes of a Pod; retrying");
  assert.equal(await readFile(join(path, "a"), "utf8"), "1");

  objects.error = undefined;

  await untilSays(path, "a", "2");
});

test("a restarted kubelet keeps its mounted volumes", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  all.objects.secrets.set("s", { a: "1" });
  const pod = aPod(
    [
      { name: "empty", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory" } },
      { name: "secret", secret: { secretName: "s" } },
    ],
    { securityContext: { fsGroup: 5 } },
  );
  const before = await all.volumes.mount(pod, ANY);
  const empty = before.get("empty")?.path ?? "";
  await writeFile(join(before.get("memory")?.path ?? "", "kept"), "");
  await writeFile(join(empty, "private"), "", { mode: 0o600 });
  await chmod(empty, 0o700);
  const shown = await realpath(join(before.get("secret")?.path ?? "", "..data"));
  const mounts = await mountsUnder(all.root);

  await all.restart();
  const after = await all.volumes.mount(pod, ANY);

  assert.deepEqual([...after].toSorted(byName), [...before].toSorted(byName));
  assert.deepEqual(await mountsUnder(all.root), mounts);
  assert.deepEqual(await readdir(after.get("memory")?.path ?? ""), ["kept"]);
  assert.equal(await realpath(join(after.get("secret")?.path ?? "", "..data")), shown);
  assert.deepEqual([await rightsOf(empty), await rightsOf(join(empty, "private"))], ["700 0:5", "600 0:5"]);
});

test("other volumes can be mounted inside a read-only one", async () => {
  await using all = await startCase();
  all.objects.configMaps.set("c", { a: "1" });
  const volumeMounts = [
    { name: "v", mountPath: "/etc/app" },
    { name: "w", mountPath: "/etc/app/data/x" },
  ];
  const path = await mountOne(all, { configMap: { name: "c" } }, { containers: [{ name: "c", image: "i", volumeMounts }] });
  assert.equal((await stat(join(path, "data/x"))).isDirectory(), true);
});

// ── subPaths ────────────────────────────────────────────────────────────────────────────────────────

const MOUNT: VolumeMount = { name: "v", mountPath: "/m" };
const CONTAINER: Container = { name: "c", image: "i", volumeMounts: [{ name: "w", mountPath: "/w" }, MOUNT] };

function subPath(all: Case, path: string): Promise<string> {
  return all.volumes.subPath(aPod([]), CONTAINER, MOUNT, path);
}

test("a subPath is a mount of its own, created with the volume's mode, and reused", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const volume = await mountOne(all, { emptyDir: {} }, { securityContext: { fsGroup: 7 } });
  const path = await subPath(all, "a/b");
  assert.equal(path, join(all.root, "pods/u/volume-subpaths/v/c/1"));
  assert.deepEqual([await rightsOf(path), await rightsOf(join(volume, "a"))], ["2777 0:7", "2777 0:7"]);
  await writeFile(join(path, "x"), "through");
  assert.equal(await readFile(join(volume, "a/b/x"), "utf8"), "through");
  assert.equal(await subPath(all, "a/b"), path);
  assert.equal((await mountsUnder(path)).length, 1);

  await rename(join(volume, "a/b"), join(volume, "a/old"));
  await subPath(all, "a/b");
  assert.deepEqual(await readdir(path), []);
  assert.equal((await mountsUnder(path)).length, 1);
});

test("a subPath of a ConfigMap file is its current version", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  all.objects.configMaps.set("c", { "app.conf": "1" });
  const volume = await mountOne(all, { configMap: { name: "c" } });
  const path = await subPath(all, "app.conf");
  assert.equal(await readFile(path, "utf8"), "1");
  all.objects.configMaps.set("c", { "app.conf": "2" });
  all.objects.changed();
  await untilSays(volume, "app.conf", "2");
  assert.equal(await readFile(path, "utf8"), "1");
  assert.equal(await readFile(await subPath(all, "app.conf"), "utf8"), "2");
});

test("a subPath that leaves the volume is rejected without revealing its target", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const volume = await mountOne(all, { emptyDir: {} });
  await symlink("/etc", join(volume, "evil"));
  await symlink("/etc/new", join(volume, "dangling"));
  const refusal = 'failed to prepare subPath for volumeMount "v" of container "c"';
  for (const [path, message] of [
    ["/etc", "error SubPath `/etc` must not be an absolute path"],
    ["a/../../b", "unable to provision SubPath `a/../../b`: must not contain '..'"],
    ["evil", refusal],
    ["evil/passwd", refusal],
    ["dangling/x", refusal],
  ] as const) {
    await assert.rejects(subPath(all, path), { name: "ContainerConfigError", message });
  }
  assert.equal(existsSync("/etc/new"), false);
});

// ── unmounting ──────────────────────────────────────────────────────────────────────────────────────

test("unmounting removes everything of the Pod, whatever is in it, and nothing else", { ...needs("tmpfs") }, async () => {
  await using all = await startCase();
  const host = join(all.root, "host");
  await mkdir(join(host, "part"), { recursive: true });
  await writeFile(join(host, "part/precious"), "");
  const pod = aPod([
    { name: "v", hostPath: { path: host } },
    { name: "e", emptyDir: {} },
    { name: "m", emptyDir: { medium: "Memory" } },
  ]);
  const mounted = await all.volumes.mount(pod, ANY);
  const [empty, memory] = [mounted.get("e")?.path ?? "", mounted.get("m")?.path ?? ""];
  await subPath(all, "part");
  await symlink(host, join(empty, "link"));
  const name = "d".repeat(200);
  const litter = `mkfifo "${empty}/pipe" && mkdir "${empty}/locked" "${memory}/inner" && chmod 000 "${empty}/locked"`;
  const deep = `cd "${empty}" && for i in $(seq 40); do mkdir ${name} && cd -P ./${name} || exit 1; done`;
  execFileSync("sh", ["-c", `${litter} && mount -t tmpfs tmpfs "${memory}/inner" && mount --bind "${host}" "${empty}/locked" && ${deep}`]);

  // As after a kill: the state is only on disk and in the kernel.
  await all.restart();
  assert.deepEqual(await all.volumes.pods(), ["u"]);
  await all.volumes.unmount("u");

  assert.deepEqual(await all.volumes.pods(), []);
  assert.deepEqual(await mountsUnder(all.root), []);
  assert.deepEqual(await readdir(join(host, "part")), ["precious"]);
  await all.volumes.unmount("u");
  await assert.rejects(all.volumes.unmount("../host"), /is not a valid directory name/);
});

test("unmounting aborts pending operations of the Pod", async () => {
  await using all = await startCase();
  const { objects, volumes } = all;
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => void (asked = resolve));
  objects.configMap = ((_namespace: string, _name: string, signal: AbortSignal) => {
    asked();
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("given up"))));
  }) as never;
  const mounting = assert.rejects(mountOne(all, { configMap: { name: "c" } }), /given up/);
  await isAsked;

  await volumes.unmount("u");

  await mounting;
  assert.deepEqual([await volumes.pods(), volumes.mounted("u")], [[], undefined]);
});

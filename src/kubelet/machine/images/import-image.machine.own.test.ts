import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { silentLogger } from "../../../base/logger.ts";
import { openGrpcChannel } from "../../../host/grpc/channel.ts";
import { isAlive, processMark } from "../../../host/processes/process-identity.ts";
import { realClock } from "../../../host/real-clock.ts";
import { busyboxImage } from "../../../testing/fixtures/busybox-image.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { runCriPod } from "../../../testing/fixtures/cri-pod.ts";
import { needs } from "../../../testing/needs.ts";
import { startOwnContainerd } from "../containerd/own-containerd.ts";
import { askSettings } from "../containerd/runtime-settings.ts";
import { criImageId, importImage } from "./import-image.ts";
import { digestOf } from "./oci-image.ts";
import { pauseProgram } from "./pause-program.ts";
import { PAUSE_IMAGE } from "./pause-image-name.ts";
import { ensureSandboxImage } from "./sandbox-image.ts";
import { writeTar, type TarEntry } from "../../../host/archive/tar-writer.ts";

const NEEDS = needs("containerd", "cni", "busybox", "iptables");

describe("imported images", { ...NEEDS }, () => {
  let containerd: TestContainerd;
  before(async () => {
    containerd = await startTestContainerd({ images: false });
  });
  after(() => containerd[Symbol.asyncDispose]());

  const load = (tar: Uint8Array, name?: string) =>
    importImage({ endpoint: containerd.endpoint, tar: [tar], clock: realClock, ...(name === undefined ? {} : { name }) });

  /** The version that a container of the image reports. */
  async function versionIn(image: string): Promise<string> {
    const pod = await runCriPod(containerd, { name: `v${digestOf(new TextEncoder().encode(image)).slice(7, 15)}${counter++}`, image });
    try {
      return await pod.exec("cat", "/version");
    } finally {
      await pod.remove();
    }
  }
  let counter = 0;

  test("run in containers and are known by their id", async () => {
    const progress: number[] = [];
    const tar = busyboxImage("k8ts.test/a:1");
    const [image] = await importImage({
      endpoint: containerd.endpoint,
      tar: [tar],
      clock: realClock,
      onProgress: (bytes) => progress.push(bytes),
    });

    equal(image?.name, "k8ts.test/a:1");
    match(image?.id ?? "", /^sha256:[0-9a-f]{64}$/);
    equal(await versionIn("k8ts.test/a:1"), "1\n");
    ok(progress.every((bytes, index) => bytes > (progress[index - 1] ?? 0)) && (progress.at(-1) ?? 0) > tar.length / 2);
  });

  test("are unpacked before a container uses them, and stay so when containerd collects garbage", async () => {
    await load(busyboxImage("k8ts.test/l:1"));
    const ctr = (...args: string[]) =>
      execFileSync("ctr", ["--address", containerd.endpoint.slice("unix://".length), "-n", "k8s.io", ...args], { encoding: "utf8" });
    ctr("content", "prune", "references");
    const isUnpacked = (snapshotter: string) =>
      ctr("images", "check", "--snapshotter", snapshotter, "name==k8ts.test/l:1").trimEnd().endsWith("true");
    ok(isUnpacked("overlayfs") || isUnpacked("native"), ctr("images", "check"));
  });

  test("are unchanged by a second import, and may be imported under another name", async () => {
    const [first] = await load(busyboxImage("k8ts.test/b:1"));
    const [again] = await load(busyboxImage("k8ts.test/b:1"));
    const [renamed] = await load(busyboxImage("k8ts.test/b:1"), "other/name");

    deepEqual(again, first);
    deepEqual(renamed, { name: "docker.io/other/name:latest", id: first?.id });
  });

  test("are imported although containerd has their blobs, of another namespace or not collected yet", async () => {
    const tar = busyboxImage("k8ts.test/k:6");
    const address = ["--address", containerd.endpoint.slice("unix://".length)];
    execFileSync("ctr", [...address, "-n", "other", "images", "import", "--no-unpack", "-"], { input: tar });

    await load(tar);

    equal(await versionIn("k8ts.test/k:6"), "6\n");
  });

  test("replace an image of the same name", async () => {
    await load(busyboxImage("k8ts.test/c:1"));
    equal(await versionIn("k8ts.test/c:1"), "1\n");
    await load(busyboxImage("k8ts.test/d:2"), "k8ts.test/c:1");
    equal(await versionIn("k8ts.test/c:1"), "2\n");
  });

  test("may be gzipped and arrive in small chunks", async () => {
    const packed = gzipSync(busyboxImage("k8ts.test/e:7"));
    async function* pieces() {
      for (let offset = 0; offset < packed.length; offset += 5_000) yield packed.subarray(offset, offset + 5_000);
    }
    await importImage({ endpoint: containerd.endpoint, tar: pieces(), clock: realClock });
    equal(await versionIn("k8ts.test/e:7"), "7\n");
  });

  test("may come from an older docker save, with layers as links", async () => {
    await load(oldDockerArchive("k8ts.test/f:9"));
    equal(await versionIn("k8ts.test/f:9"), "9\n");
  });

  for (const { it, tar, says } of [
    { it: "are rejected if the input is no tar", tar: new TextEncoder().encode("hello ".repeat(500)), says: /it is damaged, or no tar/ },
    {
      it: "are rejected if the tar has no image",
      tar: writeTar([{ is: "file", path: "x", content: new Uint8Array(9) }]),
      says: /neither an index\.json/,
    },
    { it: "are rejected if a blob does not match its digest", tar: withWrongBlob(), says: /unexpected commit digest/ },
    { it: "are rejected without a name", tar: () => oldDockerArchive(undefined), says: /contains no name for it/ },
    {
      it: "are rejected if a layer is corrupt",
      tar: () => withDamage(oldDockerArchive("k8ts.test/g:9")),
      says: /"one\/layer\.tar" is damaged/,
    },
    {
      it: "are rejected if a compressed layer does not match the config",
      tar: () => oldDockerArchive("k8ts.test/h:9", (layer) => gzipSync(withDamage(layer))),
      says: /"one\/layer\.tar" is damaged/,
    },
    {
      it: "are rejected if their name is invalid",
      tar: () => oldDockerArchive("BAD NAME:1"),
      says: /BAD NAME:1", which is not a valid image name/,
    },
  ]) {
    test(it, () => rejects(load(typeof tar === "function" ? tar() : tar), says));
  }

  test("may have compressed layers, and a name that overrides an invalid one in the tar", async () => {
    const [image] = await load(oldDockerArchive("BAD NAME:1", gzipSync), "k8ts.test/i:9");
    equal(image?.name, "k8ts.test/i:9");
    equal(await versionIn("k8ts.test/i:9"), "9\n");
  });

  test("have no name if they were rejected", async () => {
    await rejects(load(withDamage(oldDockerArchive("k8ts.test/j:9"))));
    await rejects(load(oldDockerArchive("k8ts.test/J J:9")));
    const images = execFileSync("ctr", ["--address", containerd.endpoint.slice("unix://".length), "-n", "k8s.io", "images", "ls", "-q"]);
    equal(/test\/j/i.test(String(images)), false, String(images));
  });

  test("serve as sandbox image: k8ts's pause image is loaded into a runtime that lacks its own and cannot pull it", async () => {
    const base = await mkdtemp("/tmp/k8ts-sandbox-");
    const { directory, runDirectory, cniConfigDirectory } = {
      directory: `${base}/c`,
      runDirectory: `${base}/r`,
      cniConfigDirectory: `${base}/n`,
    };
    const sandboxImage = "localhost:1/pause:3.6";
    const other = await startOwnContainerd({
      directory,
      runDirectory,
      cniConfigDirectory,
      ...{ bridge: "k8-none", addressDirectory: `${base}/addresses` },
      sandboxImage,
      environment: process.env,
      clock: realClock,
      log: silentLogger,
    });
    const channel = await openGrpcChannel({ host: other.endpoint.slice("unix://".length), port: 0, clock: realClock });
    try {
      const { networkTrouble, ...settings } = await askSettings(other.endpoint, realClock);
      // From 2.0 on containerd does not report its sandbox image; it has to be probed.
      const isReported = other.version.startsWith("1.");
      deepEqual(settings, { sandboxImage: isReported ? sandboxImage : undefined, cniConfigDirectory });
      match(networkTrouble ?? "", /cni/);
      const reported: string[] = [];
      for (const _ of [1, 2])
        await ensureSandboxImage({ endpoint: other.endpoint, isOwn: false, report: (line) => reported.push(line), clock: realClock });
      equal(reported.length, 1);
      match(reported[0] ?? "", /localhost:1\/pause:3\.6.* cannot be pulled; k8ts has loaded its own/);
      match((await criImageId(channel, sandboxImage)) ?? "", /^sha256:/);
      await ensureSandboxImage({ endpoint: other.endpoint, isOwn: true, report: (line) => reported.push(line), clock: realClock });
      match((await criImageId(channel, PAUSE_IMAGE)) ?? "", /^sha256:/);
      equal(reported.length, 1);
    } finally {
      channel.close();
      await other.stop();
      await rm(base, { recursive: true });
    }
  });
});

/** Two layers, the second a link to the first: the older way to share one. */
function oldDockerArchive(name: string | undefined, pack: (layer: Uint8Array) => Uint8Array = (layer) => layer): Uint8Array {
  const busybox = execFileSync("sh", ["-c", "cat $(command -v busybox)"], { maxBuffer: 1 << 26 });
  const layer = writeTar([
    { is: "directory", path: "bin" },
    { is: "file", path: "bin/busybox", content: busybox, mode: 0o755 },
    ...["sleep", "cat"].map((applet): TarEntry => ({ is: "link", path: `bin/${applet}`, target: "busybox" })),
    { is: "file", path: "version", content: new TextEncoder().encode("9\n") },
  ]);
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Cmd: ["/bin/sleep", "1000"], Env: ["PATH=/bin"] },
    rootfs: { type: "layers", diff_ids: [digestOf(layer), digestOf(layer)] },
  };
  const manifest = [{ Config: "config.json", RepoTags: name === undefined ? null : [name], Layers: ["one/layer.tar", "two/layer.tar"] }];
  const json = (path: string, value: unknown): TarEntry => ({ is: "file", path, content: new TextEncoder().encode(JSON.stringify(value)) });
  return writeTar([
    { is: "file", path: "one/layer.tar", content: pack(layer) },
    { is: "link", path: "two/layer.tar", target: "../one/layer.tar" },
    json("config.json", config),
    json("manifest.json", manifest),
  ]);
}

/** Two bytes of a file in it are flipped. */
function withDamage(tar: Uint8Array): Uint8Array {
  const damaged = tar.slice();
  damaged.set([0xde, 0xad], 100_000);
  return damaged;
}

function withWrongBlob(): Uint8Array {
  return writeTar([{ is: "file", path: `blobs/sha256/${"0".repeat(64)}`, content: new Uint8Array(5) }]);
}

test(
  "the pause program waits, reaps zombies, and exits on SIGTERM",
  { skip: process.platform !== "linux" || process.arch !== "x64", timeout: 60_000 },
  async () => {
    const directory = await mkdtemp("/tmp/k8ts-pause-");
    try {
      await writeFile(`${directory}/pause`, pauseProgram("amd64"), { mode: 0o755 });
      // A shell starts the child and then execs pause, which makes it pause's child. The child ends once pause ignores SIGCHLD (signal 17),
      // without which it would be a zombie of the shell's, and sleeps: it sleeps only while it waits for SIGTERM, which would kill it
      // before. The blocked signals are no indicator: while pause waits for them the kernel shows none.
      const until = (pattern: string) => `until grep -q '${pattern}' /proc/$$/status; do :; done`;
      const child = `(${until("^SigIgn:.*[13579bdf]....$")}; ${until("^State:.S")})`;
      const pause = spawn("sh", ["-c", `${child} & echo $!; exec ${directory}/pause`], { stdio: ["ignore", "pipe", "ignore"] });
      const [line] = (await once(pause.stdout, "data")) as [Buffer];
      // A zombie would stay in the process table.
      while (existsSync(`/proc/${String(line).trim()}`)) await new Promise((resolve) => setImmediate(resolve));
      ok(isAlive(processMark(pause.pid ?? 0)));
      pause.kill("SIGSTOP");
      pause.kill("SIGCONT");
      pause.kill("SIGTERM");
      deepEqual(await once(pause, "exit"), [0, null]);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
);

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { silentLogger } from "../../base/logger.ts";
import { ourProcess } from "../../host/processes/process-identity.ts";
import { realClock } from "../../host/real-clock.ts";
import { busyboxImage } from "../../testing/fixtures/busybox-image.ts";
import { startTestContainerd, type TestContainerd } from "../../testing/servers/containerd-server.ts";
import { runCriPod } from "../../testing/fixtures/cri-pod.ts";
import { needs } from "../../testing/needs.ts";
import { openHome, type HeldHome } from "../../cluster/home/cluster-home.ts";
import { imageLoad } from "./image-load.ts";

const ENVIRONMENT = { HOME: "/nowhere" };

/** What it says now and then if it takes long. */
const PROGRESS = /^[\d.]+( of [\d.]+)? MiB$/;

/** What it says when it is called so, but for how far it is. */
async function run(...argv: readonly string[]): Promise<readonly string[]> {
  const parsed = imageLoad.parse(argv, ENVIRONMENT);
  if (!parsed.ok) throw new Error(parsed.problems.join("; "));
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const signal = new AbortController().signal;
  await imageLoad.run(parsed.options, { out: say, note: say, environment: ENVIRONMENT, clock: realClock, log: silentLogger, signal });
  return lines.filter((line) => !PROGRESS.test(line));
}

async function record(held: HeldHome, runtimeEndpoint: string | undefined): Promise<void> {
  const { logFile, runtimeDirectory, name } = held.home;
  await held.writeRecord({
    ...{ name, logFile, runtimeDirectory, process: ourProcess(), state: "running", version: "0", kubernetesVersion: "v1.36.0" },
    ...{ mode: "one process", isDetached: false, since: "2026-01-01T00:00:00Z" },
    node: { name: "machine", ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }) },
  });
}

describe("k8ts image load", { ...needs("containerd", "cni", "busybox", "iptables") }, () => {
  let containerd: TestContainerd;
  let held: HeldHome;
  let directory: string;
  const home = () => ["--data-dir", `${directory}/home`];
  before(async () => {
    directory = await mkdtemp("/tmp/k8ts-load-");
    containerd = await startTestContainerd({ images: false });
    held = await openHome({ directory: `${directory}/home`, name: "loaded" }, { XDG_RUNTIME_DIR: directory });
    await record(held, containerd.endpoint);
  });
  after(async () => {
    await held[Symbol.asyncDispose]();
    await rm(held.home.runtimeDirectory, { recursive: true, force: true });
    await containerd[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  async function file(name: string, content: Uint8Array): Promise<string> {
    await writeFile(`${directory}/${name}`, content);
    return `${directory}/${name}`;
  }

  test("imports an image into the node, where a Pod runs it", async () => {
    const lines = await run(await file("app.tar.gz", gzipSync(busyboxImage("app:3"))), ...home());

    equal(lines.length, 1);
    match(lines[0] ?? "", /^Loaded docker\.io\/library\/app:3 \(sha256:[0-9a-f]{64}\)$/);
    const pod = await runCriPod(containerd, { name: "app", image: "app:3" });
    equal(await pod.exec("cat", "/version"), "3\n");
    await pod.remove();
  });

  test("uses the name of --image-name", async () => {
    const [line] = await run(await file("app.tar", busyboxImage("app:4")), ...home(), "--image-name", "other.example/x");
    match(line ?? "", /^Loaded other\.example\/x:latest /);
  });

  test("accepts a digest in --image-name only if it is that of the image", async () => {
    const tar = await file("app.tar", busyboxImage("app:4"));
    const wrong = `other.example/x@sha256:${"0".repeat(64)}`;
    let own = "";
    await rejects(run(tar, ...home(), "--image-name", wrong), ({ message }: Error) => {
      match(message, /^Cannot load ".*\/app\.tar": Cannot call the image "other\.example\/x@sha256:0+": its digest is sha256:/);
      own = / its digest is (sha256:[0-9a-f]{64});/.exec(message)?.[1] ?? "";
      return true;
    });

    const [line] = await run(tar, ...home(), "--image-name", `other.example/x@${own}`);

    match(line ?? "", new RegExp(`^Loaded other\\.example/x@${own} \\(sha256:`));
  });

  for (const { it, content, says } of [
    { it: "no tar", content: new Uint8Array(2_000).fill(65), says: /Cannot load ".*\/bad": Cannot read the tar: .* no tar/ },
    {
      it: "a damaged gzip",
      content: gzipSync(busyboxImage("a:1")).subarray(0, 50_000),
      says: /Cannot load ".*\/bad": the gzip stream is truncated or corrupt \(unexpected end of file\); save/,
    },
    {
      it: "zstd",
      content: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0),
      says: /Cannot load ".*\/bad": .* packed with zstd, which is not supported, .*: zstd -dc FILE \| k8ts image load -/,
    },
    {
      it: "xz",
      content: Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 0),
      says: /Cannot load ".*\/bad": .* packed with xz, which is not supported, .*: xz -dc FILE \| k8ts image load -/,
    },
    {
      it: "a name that is none",
      content: busyboxImage("BAD NAME:1"),
      says: /Cannot load ".*\/bad": .* calls it "docker\.io\/library\/BAD NAME:1", which is not a valid image name .*; give another with --image-name/,
    },
    { it: "a tar without an image", content: new Uint8Array(10_240), says: /Cannot load ".*\/bad": Cannot find an image in the tar/ },
  ]) {
    test(`rejects ${it}`, async () => {
      await rejects(run(await file("bad", content), ...home()), says);
    });
  }

  test("reports a missing file", () =>
    rejects(run("/nowhere/x.tar", ...home()), /Cannot load "\/nowhere\/x\.tar": the file does not exist/));

  test("reports a cluster that does not run", () =>
    rejects(
      run("x.tar", "--data-dir", `${directory}/none`),
      /cluster "default" is not running; start it with "k8ts up --data-dir .*\/none"/,
    ));

  test("reports an unknown cluster by the given name", () =>
    rejects(
      run("x.tar", "--name", "nope"),
      /^Error: Cannot load an image: cluster "nope" is not running; start it with "k8ts up --name nope"$/,
    ));

  test("reports a directory", () =>
    rejects(run(directory, ...home()), /Cannot load "\/tmp\/k8ts-load-.*": it is a directory; give the archive/));

  test("reports that simulated Pods have no images", async () => {
    await record(held, undefined);
    try {
      await rejects(run(await file("a.tar", busyboxImage("a:1")), ...home()), /into cluster "loaded": its nodes are simulated/);
    } finally {
      await record(held, containerd.endpoint);
    }
  });
});

test("k8ts image load takes one file, or standard input", () => {
  const environment = { HOME: "/home/x" };
  deepEqual(imageLoad.parse(["-", "--name", "second"], environment), {
    ok: true,
    options: { home: { directory: "/home/x/.local/share/k8ts/second", name: "second" }, file: "-" },
  });
  equal(imageLoad.parse([], environment).ok, false);
  deepEqual(imageLoad.parse(["-", "--image-name", "BAD NAME"], environment), {
    ok: false,
    problems: ['--image-name must be an image reference such as registry.example/app:1, is "BAD NAME"'],
  });
});

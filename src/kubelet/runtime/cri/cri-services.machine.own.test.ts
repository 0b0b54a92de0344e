/** Images, commands, connections and statistics of this driver, on a real containerd. */
import { deepEqual, equal, fail, match, ok, rejects, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { mountView, unmountUnder } from "../../../host/kernel/mounts.ts";
import { busyboxImage } from "../../../testing/fixtures/busybox-image.ts";
import { needs } from "../../../testing/needs.ts";
import type { PullProgress } from "../../contracts/runtime.ts";
import { containerOf, sharedMachine, started } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";
import { startTestRegistry } from "./testing/test-registry.ts";

const machine = sharedMachine();
/** A wait for something that never happens fails, and its containers are removed. */
const options = { ...needs("containerd", "cni", "busybox"), timeout: 120_000 };
/** For a command that exits by itself: longer than a busy machine takes to start it. */
const EXEC_WITHIN_MS = 60_000;
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("a CRI runtime reports its version, its configuration and that it is healthy", options, async () => {
  const { open } = await machine();
  await using runtime = await open();

  match(runtime.version, /^containerd:\/\/\d+\.\d+\.\d+$/);
  // From 2.0 on containerd does not report it.
  equal(runtime.setUp.sandboxImage !== undefined, /:\/\/1\./.test(runtime.version));
  equal(runtime.setUp.networkLoad, "OK");
  equal(runtime.setUp.usesSystemdCgroups, false);
  equal(await runtime.notReadyReason(), undefined);
});

test("opening a CRI runtime rejects if no runtime answers", options, async () => {
  const { open } = await machine();

  await rejects(open({ endpoint: "unix:///no/such.sock" }), { reason: "Unavailable", message: /\/no\/such\.sock/ });
  await rejects(open({ endpoint: "tcp://127.0.0.1:1" }), /must be a Unix socket/);
});

test("an image of a password-protected registry is pulled with the matching credentials, and its user is reported", options, async () => {
  const { open } = await machine();
  await using runtime = await open();
  await using registry = await startTestRegistry(busyboxImage("secret:1", { user: "daemon" }), { password: "me:right" });
  const image = `${registry.host}/secret:1`;
  const pod = shellPod("web", image, PROGRAMS.waits);
  const [wrong, right] = [
    { username: "me", password: "wrong" },
    { username: "me", password: "right" },
  ];

  await rejects(runtime.pullImage(image, pod), {
    reason: "ImagePull",
    message: /^rpc error: code = \w+ desc = failed to pull and unpack image /,
  });
  await rejects(runtime.pullImage(image, pod, { credentials: [wrong] }), { reason: "ImagePull" });
  const id = await runtime.pullImage(image, pod, { credentials: [wrong, right] });

  const status = await runtime.imageStatus(image);
  deepEqual([status?.id, status?.user, status?.names.includes(image)], [id, { name: "daemon" }, true]);
  await runtime.removeImage(image);
});

test("a view of an image shows its files, read-only and not executable, also after the image was removed", options, async () => {
  const { open } = await machine();
  await using runtime = await open();
  await using registry = await startTestRegistry(busyboxImage("viewed:1", {}));
  await using directory = await makeTemporaryDirectory("k8ts-view-");
  const [path, key, image] = [await realpath(directory.path), `k8ts-test-${process.pid}`, `${registry.host}/viewed:1`];
  const views = runtime.imageViews ?? fail("containerd has views");
  const id = await runtime.pullImage(image, shellPod("web", image, PROGRAMS.waits));
  try {
    for (const mount of await views.view(id, key)) await mountView(mount, path, ["ro", "noexec"]);
    await runtime.removeImage(image);

    ok((await readdir(join(path, "bin"))).includes("busybox"));
    await rejects(writeFile(join(path, "x"), ""), { code: "EROFS" });
    throws(() => execFileSync(join(path, "bin/busybox"), ["true"], { stdio: "ignore" }), { code: "EACCES" });
  } finally {
    await unmountUnder(path);
    await views.remove(key);
    await views.remove(key);
  }
});

test("pulling a missing image fails as not found, and an invalid reference with upstream's message", options, async () => {
  const { open, registry } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", "", PROGRAMS.waits);

  await rejects(runtime.pullImage(`${registry.host}/busybox:absent`, pod), {
    reason: "ImagePull",
    message: /code = NotFound desc = .*not found$/,
  });
  await rejects(runtime.pullImage("Web:1", pod), {
    reason: "InvalidImage",
    message: `Failed to apply default image tag "Web:1": couldn't parse image name "Web:1": invalid reference format: repository name (library/Web) must be lowercase`,
  });
});

test("an image pull reports its progress and can be cancelled", options, async () => {
  const { open } = await machine();
  await using runtime = await open();
  // Takes 20 s: polled every second, so that a busy machine does not miss the pull in progress.
  const slow = busyboxImage("slow:1", { command: ["slow"], ballastBytes: 8 << 20 });
  await using registry = await startTestRegistry(slow, { bytesPerSecond: 400_000 });
  const pod = shellPod("web", "", PROGRAMS.waits);
  const giveUp = new AbortController();
  const reported: PullProgress[] = [];

  const pulling = runtime.pullImage(`${registry.host}/slow:1`, pod, {
    signal: giveUp.signal,
    onProgress: (done) => {
      reported.push(done);
      // The first part, such as the manifest, may be complete before another one has started.
      if (done.bytes > 0 && done.bytes < done.totalBytes) giveUp.abort();
    },
  });
  await rejects(pulling, { reason: "ImagePull" });

  const last = reported.at(-1)!;
  ok(last.bytes > 0 && last.bytes < last.totalBytes, JSON.stringify(reported));
  equal(await runtime.imageStatus(`${registry.host}/slow:1`), undefined);
});

test("a command without streams returns exit code and output, and is killed at its timeout", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const id = await started(runtime, shellPod("web", image, PROGRAMS.waits));

  const { exitCode, output } = await runtime.execSync(id, ["sh", "-c", "echo out; echo err >&2; exit 5"], EXEC_WITHIN_MS);
  deepEqual([exitCode, textOf(output)], [5, "out\nerr\n"]);
  equal((await runtime.execSync(id, ["sleep", "60"], 1_000)).exitCode, undefined);
  equal((await runtime.execSync(id, ["head", "-c", "100000", "/dev/zero"], 0)).output.length, 16 * 1024);
  await rejects(runtime.execSync("f".repeat(64), ["true"], 1_000), { reason: "NotFound" });
});

test("a port of a Pod is reachable through its sandbox", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, { script: "exec nc -l -p 8080 -e cat" });
  const id = await started(runtime, pod);
  // The container runs before it listens, and does not report when it does.
  await runtime.execSync(id, ["sh", "-c", "until netstat -ltn | grep -q :8080; do usleep 10000; done"], EXEC_WITHIN_MS);
  const received: string[] = [];
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  async function* input(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("hello");
    await ended;
  }
  const stream = {
    input: input(),
    write: async (chunk: Uint8Array) => {
      received.push(textOf(chunk));
      if (received.join("") === "hello") end();
    },
    end: () => end(),
    abort: () => end(),
    closed: ended,
  };

  await runtime.portForward(pod.metadata.uid!, 8080, stream, new AbortController().signal);

  equal(received.join(""), "hello");
});

test("resource usage of Pods is reported, and their limits can be updated", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, PROGRAMS.waits);
  const id = await started(runtime, pod);

  const [stats, ...others] = await runtime.stats();
  deepEqual([stats?.podUid, stats?.name, others], [pod.metadata.uid, "web", []]);
  const [container] = stats!.containers;
  deepEqual([container?.id, container?.name], [id, "main"]);
  ok(container!.memoryWorkingSetBytes! > 0 && container!.cpuNanoseconds! > 0);
  deepEqual(
    (await runtime.stats(pod.metadata.uid)).map(({ podUid }) => podUid),
    [pod.metadata.uid],
  );
  deepEqual(await runtime.stats("another"), []);

  await runtime.updateContainer(id, { memoryLimitBytes: 64 * 1024 * 1024 });
  const limit = await runtime.execSync(
    id,
    ["sh", "-c", "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>&-"],
    EXEC_WITHIN_MS,
  );
  equal(textOf(limit.output).trim(), String(64 * 1024 * 1024));
  equal((await containerOf(runtime, pod, id)).state.is, "running");
});

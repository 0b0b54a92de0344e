/** Images, commands, connections and counting by this driver, on a real containerd. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { busyboxImage } from "../../../testing/fixtures/busybox-image.ts";
import { needs } from "../../../testing/needs.ts";
import type { PullProgress } from "../../contracts/runtime.ts";
import { containerOf, sharedMachine, started } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";
import { startTestRegistry } from "./testing/test-registry.ts";

const machine = sharedMachine();
/** What waits for something that never comes fails, and what it ran is removed. */
const options = { ...needs("containerd", "cni", "busybox"), timeout: 120_000 };
/** For a command that ends by itself: longer than a busy machine takes to begin it. */
const EXEC_WITHIN_MS = 60_000;
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("a runtime says what it is, how it is set up, and that nothing is wrong with it", options, async () => {
  const { open } = await machine();
  await using runtime = await open();

  match(runtime.version, /^containerd:\/\/\d+\.\d+\.\d+$/);
  // From 2.0 on containerd keeps it to itself.
  equal(runtime.setUp.sandboxImage !== undefined, /:\/\/1\./.test(runtime.version));
  equal(runtime.setUp.networkLoad, "OK");
  equal(runtime.setUp.usesSystemdCgroups, false);
  equal(await runtime.notReadyReason(), undefined);
});

test("where no runtime answers, that is said", options, async () => {
  const { open } = await machine();

  await rejects(open({ endpoint: "unix:///no/such.sock" }), { reason: "Unavailable", message: /\/no\/such\.sock/ });
  await rejects(open({ endpoint: "tcp://127.0.0.1:1" }), /must be a Unix socket/);
});

test("an image of a registry with a password is pulled with the credentials that fit, and its user is known", options, async () => {
  const { open } = await machine();
  await using runtime = await open();
  await using registry = await startTestRegistry(busyboxImage("secret:1", { user: "nobody" }), { password: "me:right" });
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
  deepEqual([status?.id, status?.user, status?.names.includes(image)], [id, { name: "nobody" }, true]);
  await runtime.removeImage(image);
});

test("an image that is not there is not found, and one that is no name is told in upstream's words", options, async () => {
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

test("a pull says how far it is, and can be given up", options, async () => {
  const { open } = await machine();
  await using runtime = await open();
  // Takes 20 s: asked every second, a busy machine must not miss that it is under way.
  const slow = busyboxImage("slow:1", { command: ["slow"], ballastBytes: 8 << 20 });
  await using registry = await startTestRegistry(slow, { bytesPerSecond: 400_000 });
  const pod = shellPod("web", "", PROGRAMS.waits);
  const giveUp = new AbortController();
  const told: PullProgress[] = [];

  const pulling = runtime.pullImage(`${registry.host}/slow:1`, pod, {
    signal: giveUp.signal,
    onProgress: (done) => {
      told.push(done);
      // Of what comes first, such as the manifest, all may be there and nothing else be begun.
      if (done.bytes > 0 && done.bytes < done.totalBytes) giveUp.abort();
    },
  });
  await rejects(pulling, { reason: "ImagePull" });

  const last = told.at(-1)!;
  ok(last.bytes > 0 && last.bytes < last.totalBytes, JSON.stringify(told));
  equal(await runtime.imageStatus(`${registry.host}/slow:1`), undefined);
});

test("a command without streams has an exit code and output, and ends when its time is up", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const id = await started(runtime, shellPod("web", image, PROGRAMS.waits));

  const { exitCode, output } = await runtime.execSync(id, ["sh", "-c", "echo out; echo err >&2; exit 5"], EXEC_WITHIN_MS);
  deepEqual([exitCode, textOf(output)], [5, "out\nerr\n"]);
  equal((await runtime.execSync(id, ["sleep", "60"], 1_000)).exitCode, undefined);
  equal((await runtime.execSync(id, ["head", "-c", "100000", "/dev/zero"], 0)).output.length, 16 * 1024);
  await rejects(runtime.execSync("f".repeat(64), ["true"], 1_000), { reason: "NotFound" });
});

test("a port of a Pod is reached through its sandbox", options, async () => {
  const { open, image } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, { script: "exec nc -l -p 8080 -e cat" });
  const id = await started(runtime, pod);
  // It runs before it listens, and does not say when it does.
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

test("what Pods use is counted, and what they may use can be changed", options, async () => {
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

/**
 * Conformance suite of runtime drivers. A driver's own test file calls `runtimeSuite` and adds tests of its specifics. The driver defines
 * how each of a few programs is run on it; the suite lets time pass through it, so that a driver may use real or virtual time.
 */
import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ExecStreams, LogOptions, Runtime, RuntimeContainer, SandboxStatus } from "../contracts/runtime.ts";

/**
 * - waits: runs until SIGTERM, then exits at once. In it `echo hello` writes "hello", `cat` writes what it reads, and
 *   `false` fails.
 * - completes: exits by itself with 0, and leaves the message "done".
 * - fails: exits by itself with 3.
 * - stubborn: writes a line, and ignores SIGTERM.
 * - talks: writes "one", "two" and "three", one after the other, and then waits.
 */
export type Program = "waits" | "completes" | "fails" | "stubborn" | "talks";

export interface RuntimeDriver {
  readonly name: string;
  /** Passed to every test of the suite: why it is skipped, if it is. */
  readonly skip?: string | false;
  /** A new runtime without Pods. */
  open(): Promise<OpenedRuntime>;
}

export interface OpenedRuntime {
  readonly runtime: Runtime;
  /** A new Pod with one container, "main", that runs this program. */
  pod(name: string, program: Program): Pod;
  /** Awaits the promise, and lets as much time pass as that needs. */
  passing<T>(promise: Promise<T>): Promise<T>;
  /** Releases what the driver needed beside the runtime. The suite disposes of the runtime itself. */
  close?(): Promise<void>;
}

export function runtimeSuite(driver: RuntimeDriver): void {
  sandboxTests(driver);
  containerTests(driver);
  endingTests(driver);
  imageTests(driver);
  logTests(driver);
  execTests(driver);
}

/** Longer than any program needs that exits on SIGTERM. */
const LONG_GRACE_MS = 30_000;
const SHORT_GRACE_MS = 1_000;
const KILLED_EXIT_CODE = 137;
const NEVER = new AbortController().signal;
const WHOLE: LogOptions = { follow: false };

function runtimeTest(driver: RuntimeDriver, title: string, run: (opened: OpenedRuntime) => Promise<void>): void {
  test(`${driver.name}: ${title}`, { skip: driver.skip ?? false }, async () => {
    const opened = await driver.open();
    try {
      await run(opened);
    } finally {
      await opened.runtime[Symbol.asyncDispose]();
      await opened.close?.();
    }
  });
}

// ── shared by the tests ────────────────────────────────────────────────────────────────────────────────

/** Pulls the image, creates and starts attempt `attempt` of the container; resolves with its id. */
async function started({ runtime, passing }: OpenedRuntime, pod: Pod, attempt = 0): Promise<string> {
  const id = await created({ runtime, passing }, pod, attempt);
  await passing(runtime.startContainer(id));
  return id;
}

async function created({ runtime, passing }: Pick<OpenedRuntime, "runtime" | "passing">, pod: Pod, attempt = 0): Promise<string> {
  const container = pod.spec!.containers[0]!;
  const sandbox = await passing(runtime.runSandbox(pod));
  const imageId = await passing(runtime.pullImage(container.image!, pod));
  return await passing(runtime.createContainer(sandbox.id, { pod, container, attempt, imageId }));
}

async function sandboxOf({ runtime, passing }: OpenedRuntime, pod: Pod): Promise<SandboxStatus> {
  const sandbox = await passing(runtime.status(pod.metadata.uid!));
  ok(sandbox !== undefined, `there should be a sandbox of ${pod.metadata.name}`);
  return sandbox;
}

async function containerOf(opened: OpenedRuntime, pod: Pod, id: string): Promise<RuntimeContainer> {
  const container = (await sandboxOf(opened, pod)).containers.find((candidate) => candidate.id === id);
  ok(container !== undefined, `there should be a container ${id}`);
  return container;
}

/** Waits for its exit as a kubelet does: checks after each notification. */
async function ended(opened: OpenedRuntime, pod: Pod, id: string): Promise<RuntimeContainer> {
  const { runtime, passing } = opened;
  return await passing(
    new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        const container = (await runtime.status(pod.metadata.uid!))?.containers.find((candidate) => candidate.id === id);
        if (container?.state.is !== "exited") return;
        watching[Symbol.dispose]();
        resolve(container);
      };
      const watching = runtime.watch((podUid) => {
        if (podUid === pod.metadata.uid) look().catch(reject);
      });
      look().catch(reject);
    }),
  );
}

async function linesOf({ runtime, passing }: OpenedRuntime, id: string, options: LogOptions, signal = NEVER): Promise<string[]> {
  const lines: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const line of runtime.logs(id, options, signal)) lines.push(line.text);
  };
  await passing(reading());
  return lines;
}

/** The timestamp of each of the first lines. */
async function timestampsOf({ runtime, passing }: OpenedRuntime, id: string, count: number): Promise<number[]> {
  const timestamps: number[] = [];
  const reading = async (): Promise<void> => {
    for await (const line of runtime.logs(id, { follow: true }, NEVER)) if (timestamps.push(line.atMs) === count) return;
  };
  await passing(reading());
  return timestamps;
}

// ── the tests ─────────────────────────────────────────────────────────────────────────────────────────

function sandboxTests(driver: RuntimeDriver): void {
  runtimeTest(driver, "running a sandbox is idempotent", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");
    const { uid, namespace, name } = pod.metadata;

    const first = await passing(runtime.runSandbox(pod));
    const second = await passing(runtime.runSandbox(pod));

    deepEqual(second, first);
    deepEqual([first.podUid, first.namespace, first.name, first.state, first.containers], [uid, namespace, name, "ready", []]);
    deepEqual(await passing(runtime.list()), [first]);
    deepEqual(await sandboxOf(opened, pod), first);
  });

  runtimeTest(driver, "every Pod has an address of its own, and a host-network Pod has none", async (opened) => {
    const { runtime, passing } = opened;
    const onNode = opened.pod("c", "waits");
    const a = await passing(runtime.runSandbox(opened.pod("a", "waits")));
    const b = await passing(runtime.runSandbox(opened.pod("b", "waits")));
    const c = await passing(runtime.runSandbox({ ...onNode, spec: { ...onNode.spec!, hostNetwork: true } }));

    ok(a.ips.length > 0 && b.ips.length > 0);
    deepEqual(new Set([...a.ips, ...b.ips]).size, a.ips.length + b.ips.length);
    deepEqual(c.ips, []);
  });

  runtimeTest(driver, "stopping a sandbox kills its containers, and it can be run again", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "stubborn");
    const id = await started(opened, pod);
    const { id: sandboxId } = await sandboxOf(opened, pod);

    await passing(runtime.stopSandbox(sandboxId));
    await passing(runtime.stopSandbox(sandboxId));

    equal((await sandboxOf(opened, pod)).state, "not-ready");
    equal((await ended(opened, pod, id)).state.is, "exited");
    const again = await passing(runtime.runSandbox(pod));
    deepEqual([again.state, again.ips.length > 0], ["ready", true]);
  });

  runtimeTest(driver, "removing a sandbox removes its containers, and has no effect on a removed one", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");
    const id = await started(opened, pod);
    const { id: sandboxId } = await sandboxOf(opened, pod);

    await passing(runtime.stopSandbox(sandboxId));
    await passing(runtime.removeSandbox(sandboxId));
    await passing(runtime.removeSandbox(sandboxId));
    await passing(runtime.stopSandbox(sandboxId));

    deepEqual([await passing(runtime.status(pod.metadata.uid!)), await passing(runtime.list())], [undefined, []]);
    await rejects(linesOf(opened, id, WHOLE), { reason: "NotFound" });
  });
}

function containerTests(driver: RuntimeDriver): void {
  runtimeTest(driver, "creating, starting and removing a container are idempotent", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");

    const id = await created(opened, pod);
    equal(await created(opened, pod), id);
    const { name, attempt, image, state } = await containerOf(opened, pod, id);
    deepEqual([name, attempt, image, state], ["main", 0, pod.spec!.containers[0]!.image, { is: "created" }]);

    await passing(runtime.startContainer(id));
    const running = await containerOf(opened, pod, id);
    await passing(runtime.startContainer(id));
    ok(running.state.is === "running" && running.state.startedAtMs >= running.createdAtMs);
    deepEqual(await containerOf(opened, pod, id), running);
    if (runtime.probes === "runtime") deepEqual([running.started, running.ready], [true, true]);

    await passing(runtime.stopContainer(id, 0));
    await passing(runtime.removeContainer(id));
    await passing(runtime.removeContainer(id));
    deepEqual((await sandboxOf(opened, pod)).containers, []);
  });

  runtimeTest(driver, "a second attempt is listed beside and before the first", async (opened) => {
    const pod = opened.pod("web", "fails");
    const first = await started(opened, pod, 0);
    await ended(opened, pod, first);
    const second = await started(opened, pod, 1);

    notEqual(first, second);
    deepEqual(
      (await sandboxOf(opened, pod)).containers.map(({ id, attempt }) => ({ id, attempt })),
      [
        { id: second, attempt: 1 },
        { id: first, attempt: 0 },
      ],
    );
  });

  runtimeTest(driver, "operations on missing objects fail, but stopping and removing them succeed", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");
    const container = pod.spec!.containers[0]!;
    const absent = "f".repeat(64);

    await rejects(passing(runtime.createContainer(absent, { pod, container, attempt: 0, imageId: "" })), { reason: "NotFound" });
    await rejects(passing(runtime.startContainer(absent)), { reason: "NotFound" });
    await rejects(passing(runtime.exec(absent, ["true"], silent(), NEVER)), { reason: "NotFound" });
    await rejects(linesOf(opened, absent, WHOLE), { reason: "NotFound" });
    await passing(runtime.stopContainer(absent, 0));
    await passing(runtime.removeContainer(absent));
    equal(await passing(runtime.status("missing")), undefined);
  });
}

function endingTests(driver: RuntimeDriver): void {
  for (const { program, exitCode, reason, message } of [
    { program: "completes", exitCode: 0, reason: "Completed", message: "done" },
    { program: "fails", exitCode: 3, reason: "Error", message: undefined },
  ] as const) {
    runtimeTest(driver, `watchers are notified of the exit of a program that ${program}`, async (opened) => {
      const pod = opened.pod("job", program);
      const id = await started(opened, pod);

      const { state } = await ended(opened, pod, id);

      ok(state.is === "exited" && state.finishedAtMs >= state.startedAtMs);
      deepEqual([state.exitCode, state.reason, state.message], [exitCode, reason, message]);
    });
  }

  runtimeTest(driver, "a program that handles SIGTERM exits within its grace period", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");
    const id = await started(opened, pod);

    await passing(runtime.stopContainer(id, LONG_GRACE_MS));

    const { state } = await containerOf(opened, pod, id);
    ok(state.is === "exited" && state.exitCode !== KILLED_EXIT_CODE && state.finishedAtMs - state.startedAtMs < LONG_GRACE_MS);
    await passing(runtime.stopContainer(id, LONG_GRACE_MS));
    deepEqual((await containerOf(opened, pod, id)).state, state);
  });

  for (const { program, graceMs } of [
    { program: "stubborn", graceMs: SHORT_GRACE_MS },
    { program: "waits", graceMs: 0 },
  ] as const) {
    runtimeTest(
      driver,
      `a program that ${program === "waits" ? "waits" : "is stubborn"} is killed after a grace period of ${graceMs} ms`,
      async (opened) => {
        const pod = opened.pod("web", program);
        const id = await started(opened, pod);
        // The started process becomes the program slightly later, and until then exits on SIGTERM.
        if (program === "stubborn") await timestampsOf(opened, id, 1);

        await opened.passing(opened.runtime.stopContainer(id, graceMs));

        const { state } = await containerOf(opened, pod, id);
        ok(state.is === "exited" && state.finishedAtMs - state.startedAtMs >= graceMs);
        deepEqual([state.exitCode, state.reason], [KILLED_EXIT_CODE, "Error"]);
      },
    );
  }
}

function imageTests(driver: RuntimeDriver): void {
  runtimeTest(driver, "a pulled image exists until it is removed", async (opened) => {
    const { runtime, passing } = opened;
    const pod = opened.pod("web", "waits");
    const name = pod.spec!.containers[0]!.image!;

    const id = await passing(runtime.pullImage(name, pod));
    equal(await passing(runtime.pullImage(name, pod)), id);
    const image = await passing(runtime.imageStatus(name));
    ok(image !== undefined && image.id === id && image.sizeBytes > 0 && image.names.length > 0);
    deepEqual(
      (await passing(runtime.images())).filter((listed) => listed.id === id),
      [image],
    );

    await passing(runtime.removeImage(name));
    await passing(runtime.removeImage(name));
    equal(await passing(runtime.imageStatus(name)), undefined);
  });

  runtimeTest(driver, "pulling an invalid image reference fails", async (opened) => {
    await rejects(opened.passing(opened.runtime.pullImage("No Image", opened.pod("web", "waits"))), { reason: "InvalidImage" });
  });
}

function logTests(driver: RuntimeDriver): void {
  runtimeTest(driver, "a log returns all lines in order, the last ones, or those since a timestamp", async (opened) => {
    const id = await started(opened, opened.pod("web", "talks"));
    const timestamps = await timestampsOf(opened, id, 3);
    // A busy runtime reads several lines at once and gives all of them one timestamp.
    const sinceSecond = ["one", "two", "three"].filter((_, index) => timestamps[index]! >= timestamps[1]!);

    deepEqual(
      timestamps.toSorted((a, b) => a - b),
      timestamps,
    );
    deepEqual(await linesOf(opened, id, WHOLE), ["one", "two", "three"]);
    deepEqual(await linesOf(opened, id, { follow: false, tailLines: 2 }), ["two", "three"]);
    deepEqual(await linesOf(opened, id, { follow: false, tailLines: 0 }), []);
    deepEqual(await linesOf(opened, id, { follow: false, tailLines: 9 }), ["one", "two", "three"]);
    deepEqual(await linesOf(opened, id, { follow: false, sinceMs: timestamps[1]! }), sinceSecond);
    deepEqual(await linesOf(opened, id, { follow: false, sinceMs: timestamps[2]! + LONG_GRACE_MS }), []);
  });

  runtimeTest(driver, "following a log reads until the container exits, and the log is kept", async (opened) => {
    const { runtime, passing } = opened;
    const id = await started(opened, opened.pod("web", "talks"));
    await timestampsOf(opened, id, 3);

    const [followed] = await passing(
      Promise.all([linesOf({ ...opened, passing: (promise) => promise }, id, { follow: true }), runtime.stopContainer(id, LONG_GRACE_MS)]),
    );

    deepEqual(followed, ["one", "two", "three"]);
    deepEqual(await linesOf(opened, id, { follow: true }), followed);
  });

  runtimeTest(driver, "following a log can be cancelled", async (opened) => {
    const id = await started(opened, opened.pod("web", "talks"));
    const leaving = new AbortController();
    const lines: string[] = [];

    const reading = async (): Promise<void> => {
      for await (const line of opened.runtime.logs(id, { follow: true }, leaving.signal)) {
        if (lines.push(line.text) === 3) leaving.abort();
      }
    };
    await opened.passing(reading());

    deepEqual(lines, ["one", "two", "three"]);
  });
}

function execTests(driver: RuntimeDriver): void {
  runtimeTest(driver, "exec in a container has input, output and an exit code", async (opened) => {
    const { runtime, passing } = opened;
    const id = await started(opened, opened.pod("web", "waits"));
    const exec = async (command: readonly string[], input?: string): Promise<{ exitCode: number; output: string }> => {
      const written = recorded(input);
      return { exitCode: await passing(runtime.exec(id, command, written.streams, NEVER)), output: written.output() };
    };

    deepEqual(await exec(["echo", "hello"]), { exitCode: 0, output: "hello\n" });
    deepEqual(await exec(["cat"], "a line\n"), { exitCode: 0, output: "a line\n" });
    notEqual((await exec(["false"])).exitCode, 0);
  });

  runtimeTest(driver, "exec in a container that is not running fails", async (opened) => {
    const { runtime, passing } = opened;
    const id = await started(opened, opened.pod("web", "waits"));
    await passing(runtime.stopContainer(id, 0));

    await rejects(passing(runtime.exec(id, ["echo", "hello"], silent(), NEVER)), { reason: "CannotRun" });
  });
}

function silent(): ExecStreams {
  return { output: () => undefined, error: () => undefined };
}

function recorded(input: string | undefined): { readonly streams: ExecStreams; output(): string } {
  const chunks: Uint8Array[] = [];
  async function* bytes(text: string): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(text);
  }
  return {
    streams: { ...silent(), output: (chunk) => void chunks.push(chunk), ...(input !== undefined && { input: bytes(input) }) },
    output: () => chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""),
  };
}

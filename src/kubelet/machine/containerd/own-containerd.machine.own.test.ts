import { equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import type { Clock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { signalProcess } from "../../../host/processes/detached-program.ts";
import { isAlive, processMark } from "../../../host/processes/process-identity.ts";
import { encode } from "../../../base/protobuf/messages.ts";
import { openGrpcChannel } from "../../../host/grpc/channel.ts";
import { realClock } from "../../../host/real-clock.ts";
import { startImageRegistry } from "../../../testing/servers/image-registry.ts";
import { needs } from "../../../testing/needs.ts";
import { CRI_IMAGES, PULL_REQUEST } from "../images/containerd-messages.ts";
import { criImageId } from "../images/import-image.ts";
import { chooseRuntime } from "./choose-runtime.ts";
import { removeLeftovers } from "./leftovers.ts";
import { containerdFiles, startOwnContainerd, type OwnContainerdOptions } from "./own-containerd.ts";

const NEEDS = needs("containerd", "cni", "iptables");

/** Runs in a directory of its own and terminates what it started. */
async function inDirectory(
  work: (options: OwnContainerdOptions) => Promise<void>,
  more: Partial<OwnContainerdOptions> = {},
): Promise<void> {
  const base = await mkdtemp("/tmp/k8ts-own-");
  const options: OwnContainerdOptions = {
    directory: `${base}/containerd`,
    runDirectory: `${base}/run`,
    cniConfigDirectory: `${base}/cni`,
    bridge: `k8o${process.pid}`,
    addressDirectory: `${base}/addresses`,
    sandboxImage: "k8ts.local/pause:1",
    environment: process.env,
    clock: realClock,
    log: silentLogger,
    ...more,
  };
  try {
    await work(options);
  } finally {
    await removeLeftovers(options);
    await rm(base, { recursive: true });
  }
}

/** Installs a script as the program containerd, on a PATH of its own. */
async function withFakeContainerd(script: string, work: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp("/tmp/k8ts-fake-");
  await writeFile(`${folder}/containerd`, `#!/bin/sh\n${script}\n`);
  await chmod(`${folder}/containerd`, 0o755);
  try {
    await work(`${folder}:${process.env["PATH"]}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Clock that stands still until the file has a line and then jumps past the timeout: a shell on a busy machine may write late. */
function upOnceSaid(file: string, timeoutMs: number): Clock {
  let isSaid = false;
  return {
    ...realClock,
    monotonic() {
      isSaid ||= existsSync(file) && readFileSync(file, "utf8").includes("\n");
      return isSaid ? timeoutMs + realClock.monotonic() : 0;
    },
  };
}

/** Mounts an overlay on a tmpfs, since an overlay cannot be stacked on another: works also where the tests themselves run on an overlay. */
function mountOverlay(directory: string): void {
  const memory = `${directory}.memory`;
  const mount = `mount -t tmpfs k8ts-test ${memory} && mkdir ${memory}/lower ${memory}/upper ${memory}/work`;
  const overlay = `mount -t overlay k8ts-test -o lowerdir=${memory}/lower,upperdir=${memory}/upper,workdir=${memory}/work ${directory}`;
  execFileSync("sh", ["-c", `mkdir ${memory} ${directory} && ${mount} && ${overlay}`]);
}

async function pull(endpoint: string, image: string): Promise<string | undefined> {
  const channel = await openGrpcChannel({ host: endpoint.replace("unix://", ""), port: 0, clock: realClock });
  try {
    await channel.call(`${CRI_IMAGES}/PullImage`, encode(PULL_REQUEST, { image: { image } }), { timeoutMs: 60_000 });
    return await criImageId(channel, image);
  } finally {
    channel.close();
  }
}

describe("an own containerd", { ...NEEDS }, () => {
  test("answers, is detached, and ends with stop", () =>
    inDirectory(async (options) => {
      const containerd = await startOwnContainerd(options);

      equal(containerd.name, "containerd");
      match(containerd.version, /^[12]\./);
      equal(containerd.wasAdopted, false);
      const session = execFileSync("ps", ["-o", "sid=", "-p", String(containerd.process.pid)], { encoding: "utf8" });
      equal(Number(session), containerd.process.pid);
      await containerd.stop();
      await containerd.stop();
      equal(isAlive(containerd.process), false);
    }));

  test("is adopted by the next start, with and without its pid file", () =>
    inDirectory(async (options) => {
      const first = await startOwnContainerd(options);
      const second = await startOwnContainerd(options);
      await rm(containerdFiles(options).process);
      const third = await startOwnContainerd(options);

      equal(second.process.pid, first.process.pid);
      equal(third.process.pid, first.process.pid);
      ok(second.wasAdopted && third.wasAdopted);
    }));

  test("is adopted though it answers late, as on a busy machine", () =>
    inDirectory(async (options) => {
      const first = await startOwnContainerd(options);
      const { socket } = containerdFiles(options);
      await rename(socket, `${socket}.later`);
      let hasAsked = false;
      let isLate = false;
      // Clock by which it answers only after 11 seconds.
      const clock: Clock = {
        ...realClock,
        monotonic() {
          const elapsedMs = hasAsked ? 11_000 : 0;
          hasAsked = true;
          return elapsedMs;
        },
        async sleep() {
          if (!isLate) await rename(`${socket}.later`, socket);
          isLate = true;
        },
      };

      const second = await startOwnContainerd({ ...options, clock });

      ok(isLate && second.wasAdopted);
      equal(second.process.pid, first.process.pid);
    }));

  test("is not confused with another process that reuses its pid", () =>
    inDirectory(async (options) => {
      await mkdir(options.directory);
      await writeFile(containerdFiles(options).process, JSON.stringify({ pid: process.pid, started: "1" }));

      const containerd = await startOwnContainerd(options);

      notEqual(containerd.process.pid, process.pid);
      equal(containerd.wasAdopted, false);
    }));

  test("restarts after a SIGKILL, over the stale socket", () =>
    inDirectory(async (options) => {
      const first = await startOwnContainerd(options);
      signalProcess(first.process, "SIGKILL");
      const second = await startOwnContainerd(options);

      notEqual(second.process.pid, first.process.pid);
      equal(isAlive(first.process), false);
    }));

  test("is restarted when its configuration changed", () =>
    inDirectory(async (options) => {
      const first = await startOwnContainerd(options);
      const second = await startOwnContainerd({ ...options, sandboxImage: "k8ts.local/pause:2" });

      notEqual(second.process.pid, first.process.pid);
      match(await readFile(containerdFiles(options).configuration, "utf8"), /pause:2/);
    }));

  test("on an overlay uses the native snapshotter and still pulls images", needs("tmpfs", "registry", "busybox"), () =>
    inDirectory(async (options) => {
      await using registry = await startImageRegistry();
      await registry.push("app", "1");
      mountOverlay(options.directory);
      try {
        const { endpoint, stop } = await startOwnContainerd(options);

        match(await readFile(containerdFiles(options).configuration, "utf8"), /^snapshotter = "native"$/m);
        match((await pull(endpoint, `${registry.address}/app:1`)) ?? "", /^sha256:/);
        await stop();
      } finally {
        execFileSync("umount", ["-l", options.directory, `${options.directory}.memory`]);
      }
    }),
  );

  for (const separator of [",", ":", "\\"])
    test(`uses the native snapshotter where its path contains "${separator}", which an overlay mount would parse as a separator`, () =>
      inDirectory(async (plain) => {
        const options = { ...plain, directory: `${plain.directory}${separator}b` };
        try {
          await startOwnContainerd(options);
          match(await readFile(containerdFiles(options).configuration, "utf8"), /^snapshotter = "native"$/m);
        } finally {
          await removeLeftovers({ ...options, bridge: `k8o${process.pid}`, addressDirectory: `${plain.cniConfigDirectory}/addresses` });
        }
      }));

  test("that ends immediately is reported with the tail of its log", () =>
    withFakeContainerd("echo old news; echo boom: no such thing >&2; exit 1", (PATH) =>
      inDirectory(
        (options) =>
          rejects(startOwnContainerd(options), /it exited immediately; the end of its log .*\n.*old news\n.*boom: no such thing/),
        {
          environment: { PATH },
        },
      ),
    ));

  test("that never answers is reported and terminated", () =>
    withFakeContainerd("echo $$ said nothing; exec sleep 1000", (PATH) =>
      inDirectory(
        async (options) => {
          const { log } = containerdFiles(options);
          const startTimeoutMs = 3_000;
          const failed = startOwnContainerd({ ...options, startTimeoutMs, clock: upOnceSaid(log, startTimeoutMs) });
          await rejects(failed, /does not respond within 3000 ms; the end of its log .*\n.*said nothing/);
          const [, pid] = /^(\d+) said/m.exec(await readFile(log, "utf8")) ?? [];
          equal(processMark(Number(pid)).started, "");
        },
        { environment: { PATH } },
      ),
    ));

  test("is rejected if its socket path would be too long", () =>
    inDirectory((options) => rejects(startOwnContainerd(options), /its path may have 101 bytes, it has/), {
      runDirectory: `/tmp/${"long/".repeat(20)}`,
    }));
});

describe("chooseRuntime", { ...NEEDS }, () => {
  const nowhere = ["/nowhere/x.sock"];

  test("starts an own containerd if no runtime answers, and adopts it the next time", () =>
    inDirectory(async (options) => {
      const first = await chooseRuntime({ ...options, sockets: nowhere });
      const second = await chooseRuntime({ ...options, sockets: nowhere });

      ok(first.is === "there" && first.isOwn && !first.wasAdopted);
      ok(second.is === "there" && second.isOwn && second.wasAdopted && second.endpoint === first.endpoint);
    }));

  test("uses a runtime of the machine that answers, unless the own containerd already runs", () =>
    inDirectory(async (machine) => {
      const { endpoint } = await startOwnContainerd(machine);
      const sockets = [...nowhere, endpoint.replace("unix://", "")];
      await inDirectory(async (options) => {
        const found = await chooseRuntime({ ...options, sockets });
        ok(found.is === "there" && !found.isOwn && found.endpoint === endpoint && found.name === "containerd");

        const own = await startOwnContainerd(options);
        const again = await chooseRuntime({ ...options, sockets });
        ok(again.is === "there" && again.isOwn && again.endpoint === own.endpoint);
      });
    }));

  test("uses the configured endpoint, or throws an error that names it", () =>
    inDirectory(async (options) => {
      const { endpoint } = await startOwnContainerd(options);
      const found = await chooseRuntime({ ...options, endpoint });
      ok(found.is === "there" && !found.isOwn && found.endpoint === endpoint);
      await rejects(
        chooseRuntime({ ...options, endpoint: "unix:///nowhere/x.sock" }),
        /unix:\/\/\/nowhere\/x\.sock: there is no such socket/,
      );
      await rejects(chooseRuntime({ ...options, endpoint: "tcp://x" }), /must be a Unix socket/);
    }));

  for (const { script, said } of [
    { script: "exit 1", said: "nothing" },
    { script: "echo old news; echo boom >&2; exit 1", said: "last: boom" },
  ])
    test(`returns none with a one-line reason if containerd fails and logged ${said}`, () =>
      withFakeContainerd(script, (PATH) =>
        inDirectory(
          async (options) => {
            const choice = await chooseRuntime({ ...options, sockets: nowhere });
            ok(choice.is === "none");
            const { log } = containerdFiles(options);
            equal(choice.why, `Cannot start containerd: it exited immediately, and logged ${said}; its log is ${log}`);
          },
          { environment: { PATH } },
        ),
      ));

  test("does not take another server on the socket for a runtime", () =>
    inDirectory(async (options) => {
      await mkdir(options.runDirectory);
      const socket = `${options.runDirectory}/other.sock`;
      const server = createServer((connection) => connection.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(socket);
      await new Promise((resolve) => server.once("listening", resolve));
      try {
        const choice = await chooseRuntime({ ...options, sockets: [socket] });
        ok(choice.is === "there" && choice.isOwn);
      } finally {
        server.close();
      }
    }));
});

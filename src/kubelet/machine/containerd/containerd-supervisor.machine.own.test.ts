import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { mkdir, rm, rmdir } from "node:fs/promises";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { needs } from "../../../testing/needs.ts";
import { PAUSE_IMAGE } from "../images/pause-image-name.ts";
import { ContainerdSupervisor } from "./containerd-supervisor.ts";
import { containerdFiles, findOwnContainerd } from "./own-containerd.ts";
import { askVersion } from "./runtime-version.ts";

const RESTARTED = /^containerd exited and was restarted \(process (\d+)\); its containers kept running$/;

function keep(containerd: TestContainerd) {
  const lines: string[] = [];
  let onLine = (): void => {};
  const supervisor = new ContainerdSupervisor({
    ...containerd.places,
    sandboxImage: PAUSE_IMAGE,
    environment: process.env,
    log: silentLogger,
    stop: () => containerd.stop(),
    report(line) {
      lines.push(line);
      onLine();
    },
  });
  const says = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (onLine = resolve));
    }
  };
  return { supervisor, lines, says };
}

test("ContainerdKeeper restarts a killed containerd and reports it", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { supervisor, says, lines } = keep(containerd);
  const first = containerd.pid;

  await containerd.kill();
  const [, pid] = RESTARTED.exec(await says(RESTARTED)) ?? [];

  notEqual(Number(pid), first);
  equal((await findOwnContainerd(containerd.places))?.pid, Number(pid));
  equal((await askVersion(containerd.endpoint, { clock: realClock, timeoutMs: 20_000 })).name, "containerd");
  equal(lines.length, 1);
  await supervisor.stop();
  equal(await findOwnContainerd(containerd.places), undefined, "the containerd that was started last is stopped");
});

test("ContainerdKeeper retries a failing start and reports the reason once", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { supervisor, says, lines } = keep(containerd);
  const { socket } = containerdFiles(containerd.places);
  await rm(socket);
  await mkdir(socket);

  await containerd.kill();
  match(await says(/^containerd exited and cannot/), /^containerd exited and cannot be restarted: .*; retrying$/);
  await rmdir(socket);
  await says(RESTARTED);
  // Regardless of the number of attempts.
  equal(lines.filter((line) => line.startsWith("containerd exited and cannot")).length, 1);
  await supervisor.stop();
});

test("ContainerdKeeper.stop stops containerd without a restart", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { supervisor, lines } = keep(containerd);
  ok((await findOwnContainerd(containerd.places)) !== undefined);

  await supervisor.stop();

  equal(await findOwnContainerd(containerd.places), undefined);
  deepEqual(lines, []);
});

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { mkdir, rm, rmdir } from "node:fs/promises";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { startTestContainerd, type TestContainerd } from "../../../testing/servers/containerd-server.ts";
import { needs } from "../../../testing/needs.ts";
import { PAUSE_IMAGE } from "../images/pause-image-name.ts";
import { ContainerdKeeper } from "./containerd-keeper.ts";
import { containerdFiles, findOwnContainerd } from "./own-containerd.ts";
import { askVersion } from "./runtime-version.ts";

const STARTED_AGAIN = /^containerd had ended and was started again \(process (\d+)\); its containers ran on meanwhile$/;

function keep(containerd: TestContainerd) {
  const lines: string[] = [];
  let onLine = (): void => {};
  const keeper = new ContainerdKeeper({
    ...containerd.places,
    sandboxImage: PAUSE_IMAGE,
    environment: process.env,
    log: silentLogger,
    stop: () => containerd.stop(),
    tell(line) {
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
  return { keeper, lines, says };
}

test("one that is killed is started again, and that is told", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { keeper, says, lines } = keep(containerd);
  const first = containerd.pid;

  await containerd.kill();
  const [, pid] = STARTED_AGAIN.exec(await says(STARTED_AGAIN)) ?? [];

  notEqual(Number(pid), first);
  equal((await findOwnContainerd(containerd.places))?.pid, Number(pid));
  equal((await askVersion(containerd.endpoint, { clock: realClock, timeoutMs: 20_000 })).name, "containerd");
  equal(lines.length, 1);
  await keeper.stop();
  equal(await findOwnContainerd(containerd.places), undefined, "the one that was started last is stopped, too");
});

test("one that cannot be started is tried until it can, and its reason is told once", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { keeper, says, lines } = keep(containerd);
  const { socket } = containerdFiles(containerd.places);
  await rm(socket);
  await mkdir(socket);

  await containerd.kill();
  match(await says(/^containerd has ended/), /^containerd has ended, and for now nothing can be started: .*; it is tried again$/);
  await rmdir(socket);
  await says(STARTED_AGAIN);
  // However often it was tried in between.
  equal(lines.filter((line) => line.startsWith("containerd has ended")).length, 1);
  await keeper.stop();
});

test("one that is stopped with its keeper stays so", needs("containerd"), async () => {
  await using containerd = await startTestContainerd({ images: false });
  const { keeper, lines } = keep(containerd);
  ok((await findOwnContainerd(containerd.places)) !== undefined);

  await keeper.stop();

  equal(await findOwnContainerd(containerd.places), undefined);
  deepEqual(lines, []);
});

/** One process owns the data directory, whatever isolates it from the others. */
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import type { RestorableStore } from "../store.ts";
import { openEmbeddedStore } from "./embedded-store.ts";

/** What makes a process a container: it sees neither our network, on which the lock relies, nor our processes. */
const CONTAINER = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

function needsContainers(): { readonly skip: string | false } {
  const [command = "", ...options] = CONTAINER;
  const { status, error, stderr } = spawnSync(command, [...options, "true"], { encoding: "utf8" });
  return { skip: status === 0 ? false : `needs ${CONTAINER.join(" ")}: ${error?.message ?? stderr.trim()}` };
}

function openIn(directory: string): Promise<RestorableStore> {
  return openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
}

/** A process in a container that opens the store and commits on request. */
class Container {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(directory: string) {
    const [command = "", ...options] = CONTAINER;
    const program = join(import.meta.dirname, "testing", "holder-child.js");
    this.#child = spawn(command, [...options, process.execPath, program, directory], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    return ((await this.#lines.next()) as { readonly value: string }).value;
  }

  async commit(key: string): Promise<void> {
    this.#child.stdin?.write(`${key}\n`);
    equal(await this.line(), `committed ${key}`);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async end(): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.stdin?.end();
    deepEqual(await ended, [0, null]);
  }
}

test(
  "a process in another container is refused as Locked while the first one runs, and nothing is lost",
  needsContainers(),
  async (context) => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-containers-"));
    const inContainer = () => {
      const container = new Container(directory);
      context.after(() => container.kill()); // For diagnosis if the test fails.
      return container;
    };
    const first = inContainer();
    equal(await first.line(), "open");
    await first.commit("/pods/a");

    // Both are process 1, each in its own PID namespace; we are neither.
    const second = inContainer();
    match(await second.line(), /^refused Locked Cannot open .*: another process has it open, maybe in another container; stop that first/);
    await second.end();
    await rejects(openIn(directory), { reason: "Locked" });
    await first.commit("/pods/b");
    await first.end();

    const third = inContainer();
    equal(await third.line(), "open");
    await third.commit("/pods/c");
    await third.end();
    const store = await openIn(directory);
    deepEqual(
      (await store.list("/pods/")).entries.map(({ key }) => key),
      ["/pods/a", "/pods/b", "/pods/c"],
    );
    await store.close();
    await rm(directory, { recursive: true });
  },
);

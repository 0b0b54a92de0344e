/**
 * The program `k8ts` as a user runs it, with files of the test's own: a home directory, a kubeconfig and data directories. Processes that
 * it left running are terminated with the test.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { LAUNCHER } from "./launcher.ts";

const WAITING = /^ {2}still waiting for: .*\n/gm;

export interface FinishedProgram {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A test context or anything else with an end. */
interface Life {
  after(end: () => Promise<void>): void;
}

interface MachineChoice {
  readonly user?: number | undefined;
  readonly namespace?: string | undefined;
}

export class K8tsMachine {
  readonly root: string;
  readonly kubeconfig: string;
  /** Environment of its programs: overrides what they have otherwise. */
  readonly environment: Record<string, string> = {};
  readonly #user: number | undefined;
  readonly #namespace: string | undefined;
  readonly #children: ChildProcess[] = [];
  /** These processes must have exited before the files are removed. */
  readonly #exits: Promise<unknown>[] = [];

  /** `user`: user ID that runs it, if not that of the test. `namespace`: name of the network namespace that it runs in, if another. */
  static async make(context: Life, { user, namespace }: MachineChoice = {}): Promise<K8tsMachine> {
    const machine = new K8tsMachine(await mkdtemp(join(tmpdir(), "k8ts-machine-")), { user, namespace });
    if (user !== undefined) await chown(machine.root, user, user);
    context.after(() => machine.#clear());
    return machine;
  }

  private constructor(root: string, { user, namespace }: MachineChoice) {
    this.root = root;
    this.#user = user;
    this.#namespace = namespace;
    this.kubeconfig = join(root, "kube", "config");
  }

  /** Data directory of the cluster with this name. */
  home(name = "default"): string {
    return join(this.root, "data", "k8ts", name);
  }

  async record(
    name?: string,
  ): Promise<{ readonly process: { readonly pid: number }; readonly server: string; readonly runtimeDirectory: string }> {
    return JSON.parse(await readFile(join(this.home(name), "run", "cluster.json"), "utf8")) as Awaited<ReturnType<K8tsMachine["record"]>>;
  }

  /** Runs it to its end. Progress messages are left out, since they depend on the load of the machine. */
  async k8ts(...words: readonly string[]): Promise<FinishedProgram> {
    const { child, ended } = this.#spawn(words);
    child.stdin?.end();
    const { stdout, ...end } = await ended();
    return { ...end, stdout: stdout.replace(WAITING, "") };
  }

  /** Starts it, and resolves when it prints this. */
  async start(words: readonly string[], says: RegExp = /stops it$/): Promise<{ readonly child: ChildProcess; readonly lines: string[] }> {
    const { child, ended } = this.#spawn(words);
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    reader.on("line", (line) => lines.push(line));
    const end = ended().then(({ exitCode, stdout, stderr }) => {
      throw new Error(`k8ts ${words.join(" ")} exited with ${exitCode} before it printed ${says}: ${stdout}${stderr}`);
    });
    end.catch(() => undefined);
    while (!lines.some((line) => says.test(line))) await Promise.race([once(reader, "line"), end]);
    return { child, lines };
  }

  #spawn(words: readonly string[]) {
    const places = { HOME: this.root, XDG_DATA_HOME: join(this.root, "data"), KUBECONFIG: this.kubeconfig };
    const env = { PATH: process.env["PATH"], ...places, ...this.environment };
    const command = this.#namespace === undefined ? process.execPath : "nsenter";
    const before = this.#namespace === undefined ? [] : [`--net=/run/netns/${this.#namespace}`, "--", process.execPath];
    const child = spawn(command, [...before, LAUNCHER, ...words], {
      stdio: ["pipe", "pipe", "pipe"],
      env,
      ...(this.#user === undefined ? {} : { uid: this.#user, gid: this.#user }),
    });
    this.#children.push(child);
    this.#exits.push(once(child, "exit").catch(() => undefined));
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const closed = once(child, "close") as Promise<[number | null]>;
    const ended = async (): Promise<FinishedProgram> => {
      const [exitCode] = await closed;
      return { exitCode, stdout, stderr };
    };
    return { child, ended };
  }

  async #clear(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await Promise.all(this.#exits);
    for (const name of await readdir(join(this.root, "data", "k8ts")).catch(() => [])) {
      const { exitCode } = await this.k8ts("reset", "--yes", "--name", name, "--timeout", "10s");
      // Some tests leave a home directory that is not removable.
      if (exitCode !== 0) await this.k8ts("down", "--name", name, "--timeout", "10s");
    }
    await rm(this.root, { recursive: true });
  }
}

import { deepEqual, equal, match } from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { version } from "../../base/generated/version.ts";
import { homesWithRuntime } from "../../cluster/home/runtime-directory.ts";
import { up } from "./up.ts";

const IN_MEMORY = ["--in-memory", "--listen", "127.0.0.1:0", "--containers=false"];
/** Fails only when it listens: no machine has such an address. */
const NOWHERE = ["--in-memory", "--listen", "203.0.113.9:0", "--containers=false"];

/** A slow machine prints waiting lines. */
function withoutWaiting(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith("  still waiting for: "));
}

test("`k8ts up` prints each step with its duration, the components and next steps, and stops on SIGINT", async (context) => {
  const machine = await K8tsMachine.make(context);
  await mkdir(join(machine.root, "bin"));
  await writeFile(join(machine.root, "bin", "kubectl"), "", { mode: 0o755 });
  machine.environment["PATH"] = `${join(machine.root, "bin")}:${process.env["PATH"] ?? ""}`;
  const { child, lines } = await machine.start(["up", ...IN_MEMORY, "--simulated-nodes", "2", "--controllers", "deployment"]);
  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number];

  equal(code, 0);
  const shown = withoutWaiting(lines).map((line) =>
    line
      .replaceAll(machine.root, "ROOT")
      .replace(/(127\.0\.0\.1):\d+/, "$1:PORT")
      .replace(/ +[\d.]+ m?s$/, " TIME"),
  );
  deepEqual(shown, [
    `k8ts ${version}: starting cluster "default" in ROOT/data/k8ts/default`,
    ...shown.filter((line) => line.endsWith(" TIME") && !line.includes("stopped")),
    `k8ts ${version} is up (Kubernetes v1.36.0):`,
    "  store: in memory, lost when this process exits",
    "  API server: https://127.0.0.1:PORT",
    "  controllers: 1 running",
    "  scheduler: default-scheduler",
    "  nodes: 2 simulated",
    'Dashboard: https://127.0.0.1:PORT/dashboard/ ("k8ts dashboard" prints a link that logs in)',
    'kubectl\'s current context is "k8ts" (in ROOT/kube/config)',
    "Try:",
    "  kubectl get nodes",
    "  kubectl create deployment web --image=any --replicas=3  # Pods are simulated, no image is pulled",
    "  kubectl get pods --watch",
    "  kubectl get events --watch",
    "Ctrl-C stops it",
    "Stopping; press Ctrl-C again to terminate immediately",
    "  stopped cluster TIME",
  ]);
  equal(shown.includes("  wrote kubeconfig TIME"), true);
  match(await readFile(join(machine.home(), "logs", "k8ts.log"), "utf8"), /INFO {2}Became leader.*\n[^]*stopped cluster/);
});

test("a second `k8ts up` reports the running process; another name runs beside it with its own context", async (context) => {
  const machine = await K8tsMachine.make(context);
  await machine.start(["up", ...IN_MEMORY]);
  const { process: running } = await machine.record();

  const second = await machine.k8ts("up", ...IN_MEMORY);
  equal(second.exitCode, 1);
  match(second.stderr, new RegExp(`^Error: Cannot start cluster "default": it is already running as process ${running.pid} `));

  await machine.start(["up", "--name", "second", ...IN_MEMORY]);
  const kubeconfig = await readFile(machine.kubeconfig, "utf8");
  match(kubeconfig, /current-context: k8ts-second/);
  match(kubeconfig, /name: k8ts\n/);
  const { stdout } = await machine.k8ts("status", "--all", "-o", "json");
  // Others may have theirs on this machine.
  const ours = (JSON.parse(stdout) as { name: string; directory: string; state: string }[]).filter(({ directory }) =>
    directory.startsWith(machine.root),
  );
  deepEqual(
    ours.map(({ name, state }) => `${name} ${state}`),
    ["default running", "second running"],
  );
});

test("a port in use is reported with its process or its cluster", async (context) => {
  const machine = await K8tsMachine.make(context);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  const taken = await machine.k8ts("up", "--in-memory", "--containers=false", "--listen", `127.0.0.1:${port}`);
  equal(taken.exitCode, 1);
  match(
    taken.stderr,
    new RegExp(
      `Cannot listen on 127.0.0.1:${port}: process ${process.pid} \\(.*node.*\\) already listens there; stop it, or choose .*--listen`,
    ),
  );

  await machine.start(["up", ...IN_MEMORY]);
  const { server: url } = await machine.record();
  const other = await machine.k8ts("up", "--name", "second", "--in-memory", "--containers=false", "--listen", url.replace("https://", ""));
  match(other.stderr, /cluster "default" already listens there \(process \d+\); stop it with "k8ts down", or/);
});

test("a kubeconfig that cannot be changed is a warning, and the path of the cluster's own one is printed", async (context) => {
  const machine = await K8tsMachine.make(context);
  await mkdir(join(machine.root, "kube"));
  await writeFile(machine.kubeconfig, "clusters: [");

  const { lines } = await machine.start(["up", ...IN_MEMORY]);

  match(lines.join("\n"), /warning: Cannot change .*config: it cannot be parsed: line 1/);
  equal(lines.includes(`export KUBECONFIG=${machine.home()}/kubeconfig`), true);
  equal(await readFile(machine.kubeconfig, "utf8"), "clusters: [");
});

test("--write-kubeconfig=false leaves the file unchanged, and --kubeconfig selects another", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { lines, child } = await machine.start(["up", ...IN_MEMORY, "--write-kubeconfig=false"]);
  equal(lines.includes(`export KUBECONFIG=${machine.home()}/kubeconfig`), true);
  child.kill("SIGTERM");
  await once(child, "close");

  const other = join(machine.root, "other");
  const second = await machine.start(["up", ...IN_MEMORY, "--kubeconfig", other]);
  equal(second.lines.includes(`export KUBECONFIG=${other}`), true);
  match(await readFile(other, "utf8"), /current-context: k8ts/);
});

test("with --detach the cluster is ready when the command returns, survives it, and is stopped by `k8ts down`", async (context) => {
  const machine = await K8tsMachine.make(context);

  const { exitCode, stdout } = await machine.k8ts("up", "--detach", ...IN_MEMORY);

  equal(exitCode, 0);
  const { process: running } = await machine.record();
  match(stdout, /is up \(Kubernetes[^]*"k8ts down" stops it\nRunning in the background as process/);
  equal(stdout.includes(`as process ${running.pid};`), true);
  // A session of its own: no terminal's end reaches it.
  if (process.platform === "linux")
    equal((await readFile(`/proc/${running.pid}/stat`, "utf8")).split(") ")[1]?.split(" ")[3], String(running.pid));
  equal((await machine.k8ts("status")).exitCode, 0);
  match((await machine.k8ts("down")).stdout, new RegExp(`stopped process ${running.pid}`));
  equal((await machine.k8ts("status")).exitCode, 3);
});

test("a failure in the background is reported in the foreground with the same message", async (context) => {
  const machine = await K8tsMachine.make(context);
  // One that has run before: of a first start that fails nothing stays.
  await mkdir(join(machine.home(), "pki"), { recursive: true });
  const inFront = await machine.k8ts("up", ...NOWHERE);
  const behind = await machine.k8ts("up", "--detach", ...NOWHERE);

  equal(behind.exitCode, 1);
  equal(behind.stderr, `${inFront.stderr}  log file: ${machine.home()}/logs/k8ts.log\n`);
});

/** If it is ready before it is stopped, it is stopped and started again. */
async function stopWhileItStarts(machine: K8tsMachine): Promise<{ readonly code: number | null; readonly stderr: string }> {
  for (;;) {
    const { child } = await machine.start(["up", "--detach", ...IN_MEMORY], /starting cluster/);
    let stderr = "";
    child.stderr?.on("data", (text: string) => (stderr += text));
    const closed = once(child, "close") as Promise<[number | null]>;
    const mark = await readFile(join(machine.home(), "run", "start.json"), "utf8").catch(() => undefined);
    if (mark !== undefined) process.kill((JSON.parse(mark) as { pid: number }).pid, "SIGTERM");
    const [code] = await closed;
    if (code !== 0) return { code, stderr };
    await machine.k8ts("down");
  }
}

test("a cancelled start in the background is reported as failed, and leaves no process", async (context) => {
  const machine = await K8tsMachine.make(context);

  const { code, stderr } = await stopWhileItStarts(machine);

  equal(code, 1);
  match(stderr, /^Error: Cluster "default" was stopped during startup\n {2}log file: /);
  equal((await machine.k8ts("status")).exitCode, 3);
  deepEqual(await readdir(join(machine.home(), "run")), []);
});

test("neither a failed start nor a stopped cluster leaves a socket directory", async (context) => {
  const machine = await K8tsMachine.make(context);
  const runtimes = async () => (await homesWithRuntime({})).filter((home) => home.startsWith(machine.root));

  equal((await machine.k8ts("up", ...NOWHERE)).exitCode, 1);
  deepEqual(await runtimes(), []);

  const { child } = await machine.start(["up", ...IN_MEMORY]);
  deepEqual(await runtimes(), [machine.home()]);
  child.kill("SIGTERM");
  await once(child, "close");
  deepEqual(await runtimes(), []);
});

test("of two concurrent starts in the background, the second does not report the first one's log as its own", async (context) => {
  const machine = await K8tsMachine.make(context);
  const both = await Promise.all([machine.k8ts("up", "--detach", ...IN_MEMORY), machine.k8ts("up", "--detach", ...IN_MEMORY)]);
  const [winner, loser] = both.toSorted((a, b) => (a.exitCode ?? 0) - (b.exitCode ?? 0));
  deepEqual([winner?.exitCode, loser?.exitCode], [0, 1]);
  // The owner of the lock is recorded shortly after it is acquired.
  match(loser?.stderr ?? "", /^Error: Cannot start cluster "default": it is already running as (process \d+ |another process;).*\n$/);
});

test("killing the waiting parent does not affect the background process", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--detach", ...IN_MEMORY], /starting cluster/);
  child.kill("SIGKILL");
  await once(child, "close");

  const { child: following } = await machine.start(["logs", "-f"], /"k8ts down" stops it/);
  following.kill("SIGINT");
  equal((await machine.k8ts("status")).exitCode, 0);
});

test("after a kill -9 the next start resumes with the same data", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--listen", "127.0.0.1:0", "--containers=false"]);
  child.kill("SIGKILL");
  await once(child, "close");

  match((await machine.k8ts("status")).stdout, /^cluster "default": stopped \(its process was killed;/);

  const { lines } = await machine.start(["up", "--listen", "127.0.0.1:0", "--containers=false"]);
  equal(lines.includes(`  store: in ${machine.home()}`), true);
});

test("a data directory of a newer version is rejected", async (context) => {
  const machine = await K8tsMachine.make(context);
  await mkdir(machine.home(), { recursive: true });
  await writeFile(join(machine.home(), "k8ts.json"), '{"format":99,"name":"default"}');
  const { exitCode, stderr } = await machine.k8ts("up", ...IN_MEMORY);
  equal(exitCode, 1);
  match(stderr, /it was written by a newer version of k8ts \(format 99, /);
});

/** The uid of the unprivileged user on most systems. */
const UNPRIVILEGED_USER = 65_534;
const asUnprivilegedUser = { skip: process.getuid?.() !== 0 && "only root can become another user" };

test("a missing permission for a directory or a port is reported with the flag that changes it", asUnprivilegedUser, async (context) => {
  const machine = await K8tsMachine.make(context, { user: UNPRIVILEGED_USER });
  const place = await mkdtemp(join(tmpdir(), "k8ts-others-"));
  context.after(() => rm(place, { recursive: true }));

  const directory = await machine.k8ts("up", ...IN_MEMORY, "--data-dir", join(place, "x"));
  equal(directory.exitCode, 1);
  match(directory.stderr, /^Error: Cannot use .*\/x: this user has no write permission; choose another path with --data-dir/);

  const port = await machine.k8ts("up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:80");
  equal(port.exitCode, 1);
  match(port.stderr, /^Error: Cannot listen on 127\.0\.0\.1:80: permission denied; choose a port of 1024 or higher/);
});

test(
  "an inaccessible container runtime socket is reported, be it the socket itself or its directory",
  asUnprivilegedUser,
  async (context) => {
    const machine = await K8tsMachine.make(context, { user: UNPRIVILEGED_USER });
    const [open, closed] = [await mkdtemp(join(tmpdir(), "k8ts-others-")), await mkdtemp(join(tmpdir(), "k8ts-others-"))];
    await chmod(open, 0o755);
    for (const directory of [open, closed]) {
      context.after(() => rm(directory, { recursive: true }));
      const server = createServer().listen(join(directory, "x.sock"));
      await once(server, "listening");
      context.after(() => server.close());
      await chmod(join(directory, "x.sock"), 0o600);

      const endpoint = `unix://${directory}/x.sock`;
      const { exitCode, stderr } = await machine.k8ts(
        "up",
        "--in-memory",
        "--listen",
        "127.0.0.1:0",
        "--container-runtime-endpoint",
        endpoint,
      );
      equal(exitCode, 1);
      equal(
        stderr.split("\n")[0],
        `Error: Cannot use the container runtime at ${endpoint}: this user may not use it; run k8ts as root, or have its owner let this user write to it, or give another endpoint`,
      );
    }
  },
);

test("a read-only or full disk is reported", needs("tmpfs"), async (context) => {
  const machine = await K8tsMachine.make(context);
  const disk = await mkdtemp(join(tmpdir(), "k8ts-disk-"));
  const mount = (...words: readonly string[]) =>
    execFileSync(toolPath("tmpfs"), ["-t", "tmpfs", "-o", "mode=0700", ...words, "none", disk]);
  const unmount = () => execFileSync("umount", [disk]);
  context.after(() => rm(disk, { recursive: true }));

  mount("-o", "ro");
  const readOnly = await machine.k8ts("up", "--data-dir", disk);
  unmount();
  match(readOnly.stderr, /^Error: Cannot use .*: the file system is read-only; choose another path with --data-dir/);

  mount("-o", "size=4k");
  await writeFile(join(disk, "lost+found"), "x".repeat(4_096));
  const full = await machine.k8ts("up", "--data-dir", disk);
  unmount();
  match(full.stderr, /^Error: Cannot use .*: no space is left on the disk; free some/);
});

test("a cluster with a full disk stops gracefully, and the next start reports the problem", needs("tmpfs"), async (context) => {
  const machine = await K8tsMachine.make(context);
  const disk = await mkdtemp(join(tmpdir(), "k8ts-disk-"));
  execFileSync(toolPath("tmpfs"), ["-t", "tmpfs", "-o", "size=16m,mode=0700", "none", disk]);
  context.after(async () => {
    await machine.k8ts("down", "--data-dir", disk);
    execFileSync("umount", [disk]);
    await rm(disk, { recursive: true });
  });
  const words = ["--data-dir", disk, "--listen", "127.0.0.1:0", "--containers=false"];
  equal((await machine.k8ts("up", "--detach", ...words)).exitCode, 0);
  // What is left of the disk, to the last byte: from now on not even the log can be written.
  await writeFile(join(disk, "lost+found"), new Uint8Array(32 * 1_048_576)).catch(() => undefined);
  match((await machine.k8ts("status", "--data-dir", disk)).stdout, /: running\n/);

  const stopped = await machine.k8ts("down", "--data-dir", disk);
  deepEqual([stopped.exitCode, stopped.stderr], [0, ""]);
  const again = await machine.k8ts("up", "--detach", ...words);
  match(again.stderr, /^Error: Cannot use .*: no space is left on the disk; free some/);
});

test("another user's cluster is reported as inaccessible by every command", asUnprivilegedUser, async (context) => {
  const machine = await K8tsMachine.make(context, { user: UNPRIVILEGED_USER });
  const place = await mkdtemp(join(tmpdir(), "k8ts-others-"));
  context.after(() => rm(place, { recursive: true }));
  for (const words of [["status"], ["down"], ["logs"], ["reset", "--yes"], ["image", "load", "-"]]) {
    const { exitCode, stderr } = await machine.k8ts(...words, "--data-dir", place);
    equal(exitCode, 1);
    match(stderr, /^Error: Cannot access .*: permission denied; run this as the owner of the cluster or with sudo/);
  }
});

for (const [flag, ...words] of [
  ["--listen", "--listen", "203.0.113.9:0"],
  ["--bind-address", "--bind-address", "203.0.113.9", "--secure-port=0"],
  ["--listen", "--listen", "203.0.113.9:0", "--processes"],
] as const) {
  test(`an address that this machine does not have is reported once, with the flag that was used: ${words.join(" ")}`, async (context) => {
    const machine = await K8tsMachine.make(context);
    const { stderr } = await machine.k8ts("up", "--containers=false", ...words);
    const [error = "", ...causes] = stderr.trimEnd().split("\n");
    equal(error, `Error: Cannot listen on 203.0.113.9:0: this machine does not have that address; choose another with ${flag}`);
    deepEqual([causes.length, causes[0]?.startsWith("  caused by: listen EADDRNOTAVAIL")], [1, true]);
  });
}

test("a failed first start leaves no cluster, in the foreground or the background; a later one leaves existing data", async (context) => {
  const machine = await K8tsMachine.make(context);
  const wrong = ["--containers=false", "--listen", "203.0.113.9:0"];
  for (const words of [wrong, ["--detach", ...wrong]]) {
    const { exitCode, stderr } = await machine.k8ts("up", ...words);
    deepEqual([exitCode, stderr.includes("its log")], [1, false]);
    deepEqual(await readdir(join(machine.root, "data", "k8ts")), []);
  }
  const chosen = join(machine.root, "chosen");
  await mkdir(chosen);
  equal((await machine.k8ts("up", ...wrong, "--data-dir", chosen)).exitCode, 1);
  deepEqual(await readdir(chosen), []);

  const { child } = await machine.start(["up", ...IN_MEMORY]);
  child.kill("SIGTERM");
  await once(child, "close");
  equal((await machine.k8ts("up", ...wrong)).exitCode, 1);
  equal((await readdir(machine.home())).includes("pki"), true);
});

/** Its output. If it is ready before it is stopped, it is started again. */
async function interruptWhileItStarts(machine: K8tsMachine): Promise<readonly string[]> {
  for (;;) {
    const { child, lines } = await machine.start(
      ["up", "--processes", "--containers=false", "--listen", "127.0.0.1:0"],
      /started API server/,
    );
    child.kill("SIGINT");
    deepEqual(await once(child, "close"), [0, null]);
    if (!lines.includes("Ctrl-C stops it")) return lines;
  }
}

test("a start of several processes that is cancelled gives up immediately", async (context) => {
  const machine = await K8tsMachine.make(context);
  const lines = await interruptWhileItStarts(machine);
  // What was ready before the signal came may have been said; nothing is after it.
  equal(withoutWaiting(lines).at(-1), "Stopping during startup; press Ctrl-C again to terminate immediately");
});

test("a kubeconfig that is a directory, of another kind or read-only is reported and left unchanged", async (context) => {
  const machine = await K8tsMachine.make(context);
  const list = join(machine.root, "list");
  await writeFile(list, "apiVersion: v1\nkind: List\nitems: []\n");
  const locked = join(machine.root, "locked");
  await writeFile(locked, "", { mode: 0o444 });
  for (const [path, why] of [
    [machine.root, "it is a directory, not a file; choose another path with --kubeconfig"],
    [list, 'it cannot be parsed: its kind must be "Config", is "List"; correct it, or use another file with --kubeconfig'],
    [locked, `it is read-only; make it writable (chmod u+w ${locked}), or use another file with --kubeconfig`],
  ] as const) {
    const { child, lines } = await machine.start(["up", ...IN_MEMORY, "--kubeconfig", path]);
    equal(lines.includes(`  warning: Cannot change ${path}: ${why}`), true, lines.join("\n"));
    equal(lines.includes(`export KUBECONFIG=${machine.home()}/kubeconfig`), true);
    child.kill("SIGTERM");
    await once(child, "close");
    deepEqual(await machine.k8ts("reset", "--yes").then(({ exitCode, stderr }) => [exitCode, stderr]), [0, ""]);
  }
});

test("a container runtime and no containers are mutually exclusive", () => {
  const parsed = up.parse(["--container-runtime-endpoint=/x.sock", "--simulated-nodes=1", "--containers=false"], { HOME: "/home/a" });
  deepEqual(parsed.ok || parsed.problems, [
    "--container-runtime-endpoint and --simulated-nodes are mutually exclusive: leave one of them out",
    "--container-runtime-endpoint and --containers=false are mutually exclusive: leave one of them out",
  ]);
});

test("kubectl finds the cluster by the merged context", needs("kubectl"), async (context) => {
  const machine = await K8tsMachine.make(context);
  await machine.start(["up", ...IN_MEMORY, "--simulated-nodes", "1"]);
  const kubectl = promisify(execFile);
  const { stdout } = await kubectl(toolPath("kubectl"), ["get", "nodes", "-o", "name"], {
    env: { HOME: machine.root, KUBECONFIG: machine.kubeconfig },
  });
  equal(stdout, "node/node-0\n");
});

test("a config file sets flags, the command line overrides it, and all problems of both are reported at once", async (context) => {
  const machine = await K8tsMachine.make(context);
  const file = join(machine.root, "cluster.yaml");
  await writeFile(file, "listen: 127.0.0.1:1\nin-memory: true\ncontainers: false\nsimulated-nodes: 1\n");
  const { lines } = await machine.start(["up", "--config", file, "--secure-port", "0", "--simulated-nodes=3"]);
  equal(lines.includes("  nodes: 3 simulated"), true);

  await writeFile(file, "listne: 127.0.0.1:1\nin-memory: 7\nlisten: 127.0.0.1:1\nsecure-port: 2\n");
  const wrong = await machine.k8ts("up", "--config", file, "--frob", "--etcd-keyfile", "x", "--name", "Y");
  equal(wrong.exitCode, 2);
  deepEqual(wrong.stderr.replaceAll(file, "FILE").split("\n"), [
    'Unknown flag "--frob"',
    '--name must be a name of at most 32 lower-case letters, digits and dashes, is "Y"',
    'FILE:1: Unknown flag "listne"; did you mean "listen"?',
    'FILE:2: "in-memory" must be true or false, is the number 7',
    'FILE:3: "listen" and FILE:4: "secure-port" are mutually exclusive: leave one of them out',
    "--etcd-keyfile requires --store etcd, the store is embedded",
    "k8ts up --help describes the flags",
    "",
  ]);

  const missing = await machine.k8ts("up", "--config", join(machine.root, "none.yaml"));
  equal(missing.exitCode, 2);
  match(missing.stderr, /^Cannot read .*none\.yaml: the file does not exist; set --config to a readable file\n/);
  const directory = await machine.k8ts("up", "--config", machine.root);
  match(directory.stderr, /: it is a directory, not a file; set --config to a readable file\n/);
  await writeFile(file, "name: a\n---\nname: b\n");
  match((await machine.k8ts("up", "--config", file)).stderr, /cluster\.yaml:2: It must be one document, and here another begins\n/);
});

test("unusable files of flags and config file are reported with all other problems, and nothing is started", async (context) => {
  const machine = await K8tsMachine.make(context);
  const [scheduler, file] = [join(machine.root, "scheduler.yaml"), join(machine.root, "cluster.yaml")];
  await writeFile(
    scheduler,
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npodInitialBackoffSeconds: -1\n",
  );
  await writeFile(file, "etcd-servers: [https://127.0.0.1:1]\netcd-cafile: /none/ca\ntoken-auth-file: /none/tokens\nfrob: 1\n");
  const ofScheduler = ["Cannot use SCHEDULER:", "  podInitialBackoffSeconds: Invalid value: -1: must be greater than 0"];
  const hint = ["k8ts up --help describes the flags", ""];
  const missing = (path: string, flag: string) => `Cannot read ${path}: the file does not exist; set ${flag} to a readable file`;
  for (const [words, reported] of [
    [
      ["--scheduler-config", scheduler, "--token-auth-file", "/none/tokens", "--listen", "x"],
      [
        '--listen must be an address such as 127.0.0.1, 0.0.0.0:6443 or [::1]:6443, is "x"',
        ...ofScheduler,
        missing("/none/tokens", "--token-auth-file"),
      ],
    ],
    [["--scheduler-config", "/none/s"], [missing("/none/s", "--scheduler-config")]],
    [["--processes", "--containers=false", "--client-ca-file", "/none/ca"], [missing("/none/ca", "--client-ca-file")]],
    [["--detach", "--client-ca-file", "/none/ca"], [missing("/none/ca", "--client-ca-file")]],
    [
      ["--config", "/none/c", "--scheduler-config", scheduler],
      [missing("/none/c", "--config"), ...ofScheduler],
    ],
    [
      ["--config", file, "--scheduler-config", scheduler, "--simulated-nodes", "many"],
      [
        '--simulated-nodes must be an integer from 0 to 20000, is "many"',
        'FILE:4: Unknown flag "frob"',
        ...ofScheduler,
        missing("/none/tokens", "--token-auth-file"),
        missing("/none/ca", "--etcd-cafile"),
      ],
    ],
    // The command line wins: etcd's files are then unused and not checked.
    [
      ["--config", file, "--in-memory"],
      ['FILE:4: Unknown flag "frob"', missing("/none/tokens", "--token-auth-file")],
    ],
  ] as const) {
    const { exitCode, stdout, stderr } = await machine.k8ts("up", ...words);
    deepEqual(stderr.replaceAll(scheduler, "SCHEDULER").replaceAll(file, "FILE").split("\n"), [...reported, ...hint]);
    deepEqual([exitCode, stdout], [2, ""]);
  }
  deepEqual((await readdir(machine.root)).toSorted(), ["cluster.yaml", "scheduler.yaml"]);
});

test("the default is an embedded store in the user's data directory, with the cluster's files beside it", () => {
  const parsed = up.parse([], { HOME: "/home/a" });
  const options = parsed.ok && "store" in parsed.options ? parsed.options : undefined;
  const directory = "/home/a/.local/share/k8ts/default";
  deepEqual(options?.store, { driver: "embedded", dataDirectory: directory });
  deepEqual(
    [options?.apiServer.serving.kubeconfig, options?.apiServer.serving.certificateDirectory],
    [`${directory}/kubeconfig`, `${directory}/pki`],
  );
  deepEqual(options?.kubeconfigs, ["/home/a/.kube/config"]);
});

test("etcd endpoints alone select etcd, and the other files of the cluster have a home", () => {
  const parsed = up.parse(["--etcd-servers", "http://10.0.0.1:2379", "--data-dir", "/d"], {});
  const options = parsed.ok && "store" in parsed.options ? parsed.options : undefined;
  deepEqual([options?.store.driver, options?.apiServer.serving.certificateDirectory, options?.kubeconfigs], ["etcd", "/d/pki", []]);
});

test("all problems of the flags are reported at once", () => {
  const parsed = up.parse(["--store", "paper", "--frob", "--etcd-servers", "x", "--controllers=*,-frob"], { HOME: "/home/a" });
  equal(parsed.ok, false);
  deepEqual(parsed.ok || parsed.problems.map((problem) => problem.replace(/known controllers: .*/, "known controllers")), [
    '--store must be embedded, memory or etcd, is "paper"',
    'Unknown flag "--frob"',
    '--etcd-servers must be a URL such as https://10.0.0.1:2379, is "x"',
    '--controllers: "-frob" is not in the list of known controllers',
  ]);
});

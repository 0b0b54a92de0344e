/** "In-process by default: no port, no file, no child process, nothing left behind if the test process is killed". */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { aDeployment } from "../testing/clients/manifests.ts";
import type { ClusterOptions } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";
import { isAvailable } from "./conditions.ts";

const CLUSTER_MODULE = new URL("./start-cluster.js", import.meta.url).href;
/** Longer than anything here takes on a busy machine. */
const HANGS_MS = 60_000;

const temporary = mkdtempSync(join(tmpdir(), "k8ts-test-"));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** What this process holds open, by what it is. */
function openFiles(): readonly string[] {
  const directory = "/proc/self/fd";
  const names = readdirSync(directory).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(directory, descriptor))];
    } catch {
      return []; // The one that is reading the directory.
    }
  });
  return names.sort();
}

function children(): string {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
}

/** Of the event loop, after all that was to be done at once. */
const turn = () => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

const isLinux = { skip: process.platform === "linux" ? false : "only Linux shows what a process has open" };

for (const clock of ["virtual", "real"] as const) {
  test(`a cluster under ${clock} time opens no port and no file and starts no program`, isLinux, async () => {
    await (await startCluster({ clock })).close(); // What is loaded once is loaded.
    const before = { files: openFiles(), resources: process.getActiveResourcesInfo().sort() };
    const environment = process.env["TMPDIR"];
    process.env["TMPDIR"] = mkdtempSync(join(temporary, "t-"));
    try {
      await using cluster = await startCluster({ nodes: 3, clock });
      await cluster.apply(aDeployment("web", { replicas: 3 }));
      await cluster.until("deployment/web", isAvailable);

      deepEqual(openFiles(), before.files);
      equal(children(), "");
      const timers = ["Timeout", "Immediate"];
      const more = process.getActiveResourcesInfo().filter((name) => !before.resources.includes(name));
      deepEqual(clock === "virtual" ? more : more.filter((name) => !timers.includes(name)), []);
      deepEqual(readdirSync(tmpdir()), []);
    } finally {
      if (environment === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = environment;
    }
    await turn(); // What was asked for when it ended is over by then.
    deepEqual({ files: openFiles(), resources: process.getActiveResourcesInfo().sort() }, before);
  });
}

/** A process of its own with a cluster in it; `then` is what it does with it. */
function startProgram(options: ClusterOptions, then: string) {
  const directory = mkdtempSync(join(temporary, "p-"));
  const script = `
    import { startCluster } from ${JSON.stringify(CLUSTER_MODULE)};
    const cluster = await startCluster(${JSON.stringify(options)});
    console.log(${options.listen === true ? "cluster.kubeconfig" : '"no kubeconfig"'});
    ${then}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: HANGS_MS,
    killSignal: "SIGABRT",
  });
  const line = once(createInterface({ input: child.stdout }), "line").then(([text]) => String(text));
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  return { child, directory, line, exited };
}

const KILLED: readonly ClusterOptions[] = [{}, { clock: "virtual" }];

for (const options of KILLED) {
  test(`nothing remains of a cluster whose process is killed: ${JSON.stringify(options)}`, async () => {
    const { child, directory, line, exited } = startProgram(options, "setInterval(() => undefined, 1_000);");
    await line;
    child.kill("SIGKILL");
    equal(await exited, "SIGKILL");
    deepEqual(readdirSync(directory), []);
  });
}

test("the kubeconfig of a listening cluster whose process is killed remains until the next one starts", isLinux, async () => {
  const killed = startProgram({ listen: true }, "");
  const kubeconfig = await killed.line;
  killed.child.kill("SIGKILL");
  await killed.exited;
  ok(existsSync(kubeconfig), "if it is gone by now, say so in the title");

  const environment = process.env["TMPDIR"];
  process.env["TMPDIR"] = killed.directory;
  try {
    await using living = await startCluster({ listen: true });
    await using next = await startCluster({ listen: true });
    equal(existsSync(kubeconfig), false);
    deepEqual(
      readdirSync(killed.directory).sort(),
      [living, next].map((cluster) => dirname(cluster.kubeconfig).slice(killed.directory.length + 1)).sort(),
    );
  } finally {
    if (environment === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = environment;
  }
  deepEqual(readdirSync(killed.directory), []);
});

const ENDING: readonly (readonly [string, ClusterOptions, string])[] = [
  ["after close, under real time", {}, "await cluster.close();"],
  ["after close, with a door", { listen: true }, "await cluster.close();"],
  ["after close, with a door under virtual time", { listen: true, clock: "virtual" }, "await cluster.close();"],
  ["after close of a cluster and its fork", {}, "const fork = await cluster.fork(); await cluster.close(); await fork.close();"],
  ["if a cluster under virtual time is never closed", { clock: "virtual" }, 'await cluster.advance("1h");'],
];

for (const [when, options, then] of ENDING) {
  test(`a process exits by itself ${when}`, async () => {
    const { directory, exited } = startProgram(options, then);
    equal(await exited, 0);
    deepEqual(readdirSync(directory), []);
  });
}

test("a failed start leaves nothing that keeps the process alive", async () => {
  const { exited } = startProgram(
    {},
    `await cluster.close(); await startCluster({ from: "/nowhere/a" }).catch((error) => console.log(error.message));`,
  );
  equal(await exited, 0);
});

test("missing external dependencies are reported", async () => {
  await using cluster = await startCluster();
  for (const property of ["url", "kubeconfig"] as const) {
    let message = "";
    try {
      message = cluster[property];
    } catch (error) {
      ({ message } = error as Error);
    }
    match(message, /^This cluster has no address: start it with `listen: true` to serve HTTPS$/);
  }
});

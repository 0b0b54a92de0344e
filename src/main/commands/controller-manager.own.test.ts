import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { startTestApiServer } from "../../testing/api-server.ts";
import { commandHelp } from "../help.ts";
import { controllerManager } from "./controller-manager.ts";

/** The command in this process: what it says, and when it ends. */
class Running {
  readonly lines: string[] = [];
  readonly #stop = new AbortController();
  readonly ended: Promise<void>;
  #onLine = (): void => {};

  constructor(...argv: readonly string[]) {
    const parsed = controllerManager.parse(argv, {});
    ok(parsed.ok);
    const out = (line: string): void => {
      this.lines.push(line);
      this.#onLine();
    };
    const io = { out, note: out, environment: {}, clock: realClock, log: silentLogger, signal: this.#stop.signal };
    this.ended = controllerManager.run(parsed.options, io);
    this.ended.catch(() => undefined);
  }

  /** Resolves with the rest of the first line that begins so, at any time. */
  async says(beginning: string): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => line.startsWith(beginning));
      if (found !== undefined) return found.slice(beginning.length);
      const told = new Promise<void>((resolve) => (this.#onLine = resolve));
      await Promise.race([told, this.ended.then(() => Promise.reject(new Error(`It ended without "${beginning}"`)))]);
    }
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.ended;
  }
}

const PAGE = "--metrics-address=127.0.0.1:0";

async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

test("the one that leads acts, both show their figures to this machine, and a clean stop lets the other act at once", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  const flags = [`--kubeconfig=${server.kubeconfig}`, "--controllers=deployment-controller,garbage-collector-controller", PAGE];
  const one = new Running(...flags);
  await one.says("acting as ");
  const other = new Running(...flags);
  match(await other.says("controllers for "), new RegExp(`^${server.url}, standing for kube-system/kube-controller-manager as `));

  const [its, others] = [await one.says("figures at "), await other.says("figures at ")];
  match(its, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const figures = await get(its);
  match(figures, /^workqueue_depth\{name="deployment-controller"\} \d+$/m);
  match(figures, /^leader_election_master_status\{name="kube-controller-manager"\} 1$/m);
  equal(await get(its.replace("/metrics", "/healthz")), "ok");
  match(await get(others), /^leader_election_master_status\{name="kube-controller-manager"\} 0$/m);
  equal((await get(others)).includes("workqueue"), false, "who stands by has no controllers");

  await one.stop();
  await other.says("acting as ");
  deepEqual(one.lines.slice(-2), ["Stopping", "standing by"]);
  await rejects(fetch(its));
  await other.stop();
});

test("without an election it says nothing of one", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  const one = new Running(`--kubeconfig=${server.kubeconfig}`, "--controllers=deployment-controller", "--leader-elect=false", PAGE);
  await one.says("acting as ");

  equal(await one.says("controllers for "), server.url);
  const figures = await get(await one.says("figures at "));
  match(figures, /^workqueue_depth\{name="deployment-controller"\}/m);
  equal(figures.includes("leader_election"), false);
  await one.stop();
});

describe("against a server that does not answer", () => {
  for (const elects of [true, false]) {
    // Less than it waits for a connection.
    test(`it waits, and can be stopped, ${elects ? "in an election" : "alone"}`, { timeout: 15_000 }, async () => {
      await using directory = await makeTemporaryDirectory("k8ts-controller-manager-");
      // Takes connections, and says nothing.
      const silent = createServer().listen(0, "127.0.0.1");
      await once(silent, "listening");
      const { port } = silent.address() as { readonly port: number };
      const kubeconfig = join(directory.path, "config");
      const entry = (of: object) => [{ name: "a", ...of }];
      const clusters = entry({ cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } });
      const contexts = entry({ context: { cluster: "a", user: "a" } });
      const users = entry({ user: { token: "t" } });
      await writeFile(kubeconfig, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "a", clusters, contexts, users }));
      const one = new Running(`--kubeconfig=${kubeconfig}`, "--controllers=deployment-controller", `--leader-elect=${elects}`);
      await one.says("controllers for ");

      await one.stop();

      equal(one.lines.at(-1), "Stopping");
      silent.close();
    });
  }
});

test("an address that is taken is told before it stands in the election", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { readonly port: number };

  await rejects(new Running(`--kubeconfig=${server.kubeconfig}`, `--metrics-address=127.0.0.1:${port}`).ended, /^Error: Cannot listen on/);

  equal((await server.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager")).code, 404);
  taken.close();
});

test("all that is wrong is told at once", () => {
  const words = [
    "--metrics-address=0.0.0.0:80",
    "--controllers=frob",
    "--cluster-signing-key-file=k",
    "--leader-elect-lease-duration=1s",
    "x",
  ];
  const parsed = controllerManager.parse(words, {});

  deepEqual(parsed.ok || parsed.problems.map((problem) => problem.replace(/known controllers: .*/, "known controllers")), [
    '--metrics-address must be an address of this machine alone, such as 127.0.0.1:10257, is "0.0.0.0:80"',
    'Unexpected argument "x"',
    '--controllers: "frob" is not in the list of known controllers',
    "--cluster-signing-key-file is of no use alone: give --cluster-signing-cert-file, too",
    "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline (10000), is 1000 (in ms)",
  ]);
  ok(controllerManager.parse(["--leader-elect=false", "--leader-elect-lease-duration=1s"], {}).ok, "times of no election do not matter");
});

test("the help names every controller", () => {
  const help = commandHelp("controller-manager", controllerManager).join(" ");
  for (const word of ["deployment-controller", "garbage-collector-controller", "--metrics-address HOST:PORT", "--leader-elect"])
    ok(help.includes(word), word);
});

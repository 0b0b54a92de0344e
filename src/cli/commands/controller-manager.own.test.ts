import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { startTestApiServer } from "../../testing/servers/api-server.ts";
import { refused } from "../../testing/servers/refused-command.ts";
import { RunningCommand } from "../../testing/servers/running-command.ts";
import { startSilentServer } from "../../testing/servers/silent-server.ts";
import { commandHelp } from "../framework/help.ts";
import { controllerManager } from "./controller-manager.ts";

function run(...argv: readonly string[]): RunningCommand {
  return new RunningCommand(controllerManager, ...argv);
}

const PAGE = "--metrics-address=127.0.0.1:0";

async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

test("only the leader acts, both instances serve metrics on loopback, and after a graceful stop the standby takes over immediately", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  const flags = [`--kubeconfig=${server.kubeconfig}`, "--controllers=deployment-controller,garbage-collector-controller", PAGE];
  const one = run(...flags);
  await one.says("active as ");
  const other = run(...flags);
  match(await other.says("controllers for "), new RegExp(`^${server.url}, leader election with kube-system/kube-controller-manager as `));

  const [its, others] = [await one.says("metrics at "), await other.says("metrics at ")];
  match(its, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const metrics = await get(its);
  match(metrics, /^workqueue_depth\{name="deployment-controller"\} \d+$/m);
  match(metrics, /^leader_election_master_status\{name="kube-controller-manager"\} 1$/m);
  equal(await get(its.replace("/metrics", "/healthz")), "ok");
  match(await get(others), /^leader_election_master_status\{name="kube-controller-manager"\} 0$/m);
  equal((await get(others)).includes("workqueue"), false, "a standby instance has no controllers");

  await one.stop();
  await other.says("active as ");
  deepEqual(one.lines.slice(-2), ["Stopping", "on standby"]);
  await rejects(fetch(its));
  await other.stop();
});

test("without leader election the controller manager does not mention it", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  const one = run(`--kubeconfig=${server.kubeconfig}`, "--controllers=deployment-controller", "--leader-elect=false", PAGE);
  await one.says("active as ");

  equal(await one.says("controllers for "), server.url);
  const metrics = await get(await one.says("metrics at "));
  match(metrics, /^workqueue_depth\{name="deployment-controller"\}/m);
  equal(metrics.includes("leader_election"), false);
  await one.stop();
});

describe("with an unresponsive API server", () => {
  for (const elects of [true, false]) {
    // Less than it waits for a connection.
    test(
      `k8ts controller-manager waits and can be stopped, ${elects ? "with leader election" : "without leader election"}`,
      { timeout: 15_000 },
      async () => {
        await using silent = await startSilentServer();
        const one = run(`--kubeconfig=${silent.kubeconfig}`, "--controllers=deployment-controller", `--leader-elect=${elects}`);
        await one.says("controllers for ");

        await one.stop();

        equal(one.lines.at(-1), "Stopping");
      },
    );
  }
});

test("an address in use is reported before leader election starts", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  await using taken = await startSilentServer();

  await rejects(
    run(`--kubeconfig=${server.kubeconfig}`, `--metrics-address=127.0.0.1:${taken.port}`).ended,
    new RegExp(
      `^Error: Cannot listen on 127\\.0\\.0\\.1:${taken.port}: process ${process.pid} \\(.*\\) already listens there; stop it, or choose another port with --metrics-address HOST:PORT`,
    ),
  );

  equal((await server.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager")).code, 404);
});

test("all problems of the flags are reported at once", () => {
  const words = [
    "--metrics-address=0.0.0.0:80",
    "--controllers=frob",
    "--cluster-signing-key-file=k",
    "--leader-elect-lease-duration=1s",
    "x",
  ];
  const parsed = controllerManager.parse(words, {});

  deepEqual(parsed.ok || parsed.problems.map((problem) => problem.replace(/known controllers: .*/, "known controllers")), [
    '--metrics-address must be a loopback address such as 127.0.0.1:10257, is "0.0.0.0:80"',
    'Unexpected argument "x"',
    '--controllers: "frob" is not in the list of known controllers',
    "--cluster-signing-key-file requires --cluster-signing-cert-file",
    "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline (10000), is 1000 (in ms)",
  ]);
  ok(controllerManager.parse(["--leader-elect=false", "--leader-elect-lease-duration=1s"], {}).ok, "times of no election do not matter");
});

test("all unusable files are reported together with the problems of the flags", async () => {
  const files = [
    "--kubeconfig=/k",
    "--root-ca-file=/r",
    "--cluster-signing-cert-file=/c",
    "--cluster-signing-key-file=/s",
    "--service-account-private-key-file=/a",
  ];
  const { exitCode, notes } = await refused(controllerManager, "--frob", ...files);

  equal(exitCode, 2);
  const missing = files
    .map((word) => word.split("=") as [string, string])
    .map(([flag, path]) => `Cannot read ${path}: the file does not exist; set ${flag} to a readable file`);
  deepEqual(notes, ['Unknown flag "--frob"', ...missing, "k8ts it --help describes the flags"]);
});

test("the help lists every controller", () => {
  const help = commandHelp("controller-manager", controllerManager).join(" ");
  for (const word of ["deployment-controller", "garbage-collector-controller", "--metrics-address HOST:PORT", "--leader-elect"])
    ok(help.includes(word), word);
});

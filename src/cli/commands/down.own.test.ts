import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";

test("`k8ts down` stops a cluster in the foreground, and is idempotent", async (context) => {
  const machine = await K8tsMachine.make(context);
  deepEqual(
    (await machine.k8ts("down")).stdout,
    `Nothing is running: there is no cluster in ${machine.home()}; "k8ts status --all" lists the clusters of this machine\n`,
  );
  const { child, lines } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  const closed = once(child, "close");

  const stopped = await machine.k8ts("down");

  equal(stopped.exitCode, 0);
  match(stopped.stdout, /^( {2}still waiting for: .*\n)* {2}stopped process \d+ +[\d.]+ m?s\n$/);
  deepEqual(await closed, [0, null]);
  match(lines.at(-1) ?? "", /stopped cluster/);
  deepEqual(await machine.k8ts("down"), { exitCode: 0, stdout: 'Nothing is running: cluster "default" is stopped\n', stderr: "" });
});

test("`k8ts down` cleans up after a killed cluster, keeps its data and leaves no socket directory", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--containers=false", "--listen", "127.0.0.1:0"]);
  const { runtimeDirectory } = await machine.record();
  await access(runtimeDirectory);
  child.kill("SIGKILL");
  await once(child, "close");

  const { stdout, exitCode } = await machine.k8ts("down");

  deepEqual([exitCode, stdout], [0, 'Nothing is running: cluster "default" is stopped (its process was killed)\n']);
  equal(
    await access(runtimeDirectory).then(
      () => "there",
      () => "gone",
    ),
    "gone",
  );
  equal((await readdir(machine.home())).includes("store.mdb"), true);
  deepEqual(await readdir(join(machine.home(), "run")), ["context-place"]);
});

function recordOf(machine: K8tsMachine): string {
  return join(machine.home(), "run", "cluster.json");
}

/** Held in the middle of its stop, for as long as it takes another one to ask. One that was faster than us is started again. */
async function heldInItsStop(machine: K8tsMachine) {
  for (;;) {
    const { child, lines } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
    const closed = once(child, "close");
    const first = machine.k8ts("down");
    while (!lines.some((line) => line.startsWith("Stopping;"))) await once(child.stdout as NodeJS.ReadableStream, "data");
    child.kill("SIGSTOP");
    const record = await readFile(recordOf(machine), "utf8").catch(() => undefined);
    if (record !== undefined) return { child, lines, closed, first, record };
    child.kill("SIGCONT");
    await Promise.all([closed, first]);
  }
}

test("a second `k8ts down` waits for the running stop, reports it, and does not shorten it", { timeout: 120_000 }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child, lines, closed, first, record } = await heldInItsStop(machine);
  await writeFile(recordOf(machine), JSON.stringify({ ...(JSON.parse(record) as object), state: "stopping" }));
  const second = await machine.start(["down"], /^Process \d+ is already stopping; waiting for it$/);
  const secondClosed = once(second.child, "close");
  child.kill("SIGCONT");

  deepEqual(await closed, [0, null]);
  match(lines.at(-1) ?? "", /stopped cluster/);
  deepEqual([(await first).exitCode, ...(await secondClosed)], [0, 0, null]);
});

test("a cluster that does not stop within the timeout is killed", { timeout: 120_000 }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  child.kill("SIGSTOP");
  const closed = once(child, "close");

  const { stderr, exitCode } = await machine.k8ts("down", "--timeout", "200ms");

  equal(exitCode, 0);
  match(stderr, /Process \d+ did not stop within 0.2 s; sending SIGKILL/);
  deepEqual(await closed, [null, "SIGKILL"]);
});

import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { logs } from "./logs.ts";

async function withLog(machine: K8tsMachine, lines: readonly string[]): Promise<string> {
  const directory = join(machine.home(), "logs");
  await mkdir(directory, { recursive: true });
  await writeFile(join(machine.home(), "k8ts.json"), '{"format":1,"name":"default"}');
  const file = join(directory, "k8ts.log");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

test("`k8ts logs` prints all lines, the last ones, or those of one component", async (context) => {
  const machine = await K8tsMachine.make(context);
  await withLog(machine, ["one part=store", "two part=kubelet x=1", "three", "four part=kubelet"]);
  const lines = async (...words: readonly string[]) => (await machine.k8ts("logs", ...words)).stdout.trimEnd().split("\n");
  deepEqual(await lines(), ["one part=store", "two part=kubelet x=1", "three", "four part=kubelet"]);
  deepEqual(await lines("--tail", "2"), ["three", "four part=kubelet"]);
  deepEqual(await lines("kubelet", "--tail=1"), ["four part=kubelet"]);
  deepEqual(await lines("store"), ["one part=store"]);
});

test("an unknown component is rejected with the list of components", () => {
  const known = "the components are apiserver, controllers, scheduler, kubelet, nodes, network, store, compaction, expiry";
  for (const { part, problem } of [
    { part: "nopart", problem: `Unknown component "nopart"; ${known}` },
    { part: "kublet", problem: `Unknown component "kublet"; ${known}; did you mean kubelet?` },
  ]) {
    deepEqual(logs.parse([part], { HOME: "/home/x" }), { ok: false, problems: [problem] });
  }
  equal(logs.parse(["store"], { HOME: "/home/x" }).ok, true);
});

test("`k8ts logs -f` follows the log until it is cancelled", async (context) => {
  const machine = await K8tsMachine.make(context);
  const file = await withLog(machine, ["one"]);
  const { child, lines } = await machine.start(["logs", "-f"], /^one$/);
  const more = once(child.stdout as NodeJS.ReadableStream, "data");
  await appendFile(file, "two\n");
  await more;
  child.kill("SIGINT");
  deepEqual(await once(child, "close"), [0, null]);
  deepEqual(lines, ["one", "two"]);
});

test("without a cluster `k8ts logs` fails with the remedy", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { exitCode, stderr } = await machine.k8ts("logs");
  equal(exitCode, 1);
  match(stderr, /^Error: Cannot print logs: no log files in .*"k8ts status --all"/);
});

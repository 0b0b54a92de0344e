/** The contexts that `k8ts up` writes to shared kubeconfigs, as kubectl sees them; and how `k8ts reset` removes them. */
import { deepEqual, equal, match } from "node:assert/strict";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { clientProgram, type ClientProgram } from "../../src/testing/clients/client-program.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";

const UP = ["up", "--detach", "--in-memory", "--listen", "127.0.0.1:0"];

function kubectlOf({ root }: K8tsMachine, kubeconfig: string): ClientProgram {
  const { PATH = "" } = process.env;
  return clientProgram({ path: toolPath("kubectl"), environment: { PATH, HOME: root, KUBECONFIG: kubeconfig } });
}

const SECOND = `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://prod
  name: k8ts-kz
users:
- name: k8ts-kz
  user:
    token: secret
contexts:
- context:
    cluster: k8ts-kz
    user: k8ts-kz
  name: prod
current-context: prod
`;

test(
  "k8ts up writes its context to the first existing file in KUBECONFIG and shadows nothing in the others",
  needs("kubectl"),
  async (context) => {
    const machine = await K8tsMachine.make(context);
    const [missing, first, second] = ["missing", "first", "second"].map((name) => join(machine.root, name)) as [string, string, string];
    await writeFile(first, "# mine\n");
    await writeFile(second, SECOND);
    machine.environment["KUBECONFIG"] = [missing, first, second].join(":");
    const kubectl = kubectlOf(machine, machine.environment["KUBECONFIG"]);

    const { stdout } = await machine.k8ts(...UP, "--name", "kz", "--simulated-nodes=1");

    equal(stdout.includes(`kubectl's current context is "k8ts-kz" (in ${first})\n`), true, stdout);
    equal(await kubectl("get nodes -o name"), "node/node-0\n");
    const prod = await kubectl(
      "config view --minify --raw --context prod -o jsonpath={.clusters[0].cluster.server},{.users[0].user.token}",
    );
    equal(prod, "https://prod,secret");
    deepEqual((await kubectl("config get-clusters")).trim().split("\n").sort(), ["NAME", "k8ts-kz", "k8ts-kz-2"]);
    equal(await readFile(second, "utf8"), SECOND);

    equal((await machine.k8ts("reset", "--yes", "--name", "kz")).exitCode, 0);
    equal(await kubectl("config current-context"), "prod\n");
  },
);

test("clusters that differ only in their data directories have separate contexts and keep them", needs("kubectl"), async (context) => {
  const machine = await K8tsMachine.make(context);
  const kubectl = kubectlOf(machine, machine.kubeconfig);
  const there = ["--data-dir", join(machine.root, "there")];
  await machine.k8ts(...UP, "--simulated-nodes=1");
  const second = await machine.k8ts(...UP, ...there, "--simulated-nodes=2");
  context.after(async () => void (await machine.k8ts("reset", "--yes", ...there)));
  match(second.stdout, /kubectl's current context is "k8ts-2" /);
  const nodes = async (name: string) => (await kubectl(`--context ${name} get nodes -o name`)).trim().split("\n").length;
  deepEqual([await nodes("k8ts"), await nodes("k8ts-2")], [1, 2]);
  match((await machine.k8ts("status", ...there)).stdout, /context: +k8ts-2 in /);

  // Neither its port nor its certificates identify it.
  await machine.k8ts("down", ...there);
  await rm(join(machine.root, "there", "pki"), { recursive: true });
  match((await machine.k8ts(...UP, ...there, "--simulated-nodes=3")).stdout, /kubectl's current context is "k8ts-2" /);
  deepEqual([await nodes("k8ts"), await nodes("k8ts-2")], [1, 3]);

  const { stdout } = await machine.k8ts("reset", "--yes", ...there);
  equal(stdout.includes(`Removed context "k8ts-2" from ${machine.kubeconfig}\n`), true, stdout);
  equal(await kubectl("config get-contexts -o name"), "k8ts\n");
  equal(await nodes("k8ts"), 1);
});

test("k8ts reset removes its context from every kubeconfig that a start wrote, and reports where it cannot", async (context) => {
  const machine = await K8tsMachine.make(context);
  const files = ["one", "two", "locked", "gone"].map((name) => join(machine.root, "kubes", name));
  const [one = "", two = "", locked = "", gone = ""] = files;
  await mkdir(join(machine.root, "kubes"));
  for (const file of files) {
    equal((await machine.k8ts(...UP, "--containers=false", "--kubeconfig", file)).exitCode, 0);
    equal((await machine.k8ts("down")).exitCode, 0);
  }
  await chmod(locked, 0o444);
  await rm(gone);

  const { exitCode, stdout, stderr } = await machine.k8ts("reset", "--yes");

  equal(exitCode, 0);
  deepEqual(
    stdout.split("\n").filter((line) => line.startsWith("Removed context ")),
    [one, two].map((file) => `Removed context "k8ts" from ${file}`),
  );
  equal(
    stderr,
    `Warning: Cannot change ${locked}: it is read-only; make it writable (chmod u+w ${locked}), or use another file with --kubeconfig\n`,
  );
  for (const file of [one, two]) equal((await readFile(file, "utf8")).includes("client-key-data"), false);
});

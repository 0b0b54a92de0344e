/** `k8ts store …` on a running cluster, in one process and in several, and on the same one after it has stopped. */
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";

for (const { title, start, says } of [
  { title: "k8ts up", start: ["up", "--listen", "127.0.0.1:0", "--containers=false", "--name", "looked-at"], says: undefined },
  {
    title: "k8ts up --processes",
    start: ["up", "--processes", "--listen", "127.0.0.1:0", "--containers=false", "--name", "looked-at"],
    says: undefined,
  },
]) {
  test(`k8ts store lists, reads and backs up the store of ${title} while it runs and after it has stopped`, async (context) => {
    const machine = await K8tsMachine.make(context);
    const { child } = await machine.start(start, says);
    const store = (...words: readonly string[]) => machine.k8ts("store", ...words, "--name", "looked-at");

    const listed = (await store("list")).stdout.split("\n");
    const key = listed.find((line) => line.endsWith("namespaces/default")) ?? "";
    match(key, /namespaces\/default$/);
    const shown = await store("get", key);
    equal((JSON.parse(shown.stdout) as { metadata: { name: string } }).metadata.name, "default");
    equal((await store("get", `/registry${key}`)).stdout, shown.stdout);
    match((await store("status")).stdout, /^driver: embedded\nrevision: \d+\n/);
    const backup = join(machine.root, "backup.k8ts");
    const taken = await store("snapshot", backup);
    match(taken.stdout, /^Wrote \d+ keys at revision \d+ to /);
    const refused = await store("restore", backup);
    deepEqual([refused.exitCode, /a cluster is running there; stop it first \(k8ts down\)/.test(refused.stderr)], [1, true]);

    child.kill("SIGINT");
    await once(child, "close");
    equal((await store("get", key)).stdout, shown.stdout);
    const absent = await store("watch", key.replace(/default$/, ""));
    deepEqual([absent.exitCode, /no cluster is running there; start it first \(k8ts up\)/.test(absent.stderr)], [1, true]);
    equal((await machine.k8ts("store", "restore", backup, "--name", "copy")).exitCode, 0);
    const [, hash] = /hash ([0-9a-f]{64})/.exec(taken.stdout) ?? [];
    match((await machine.k8ts("store", "hash", "--name", "copy")).stdout, new RegExp(`^${hash} `));
  });
}

test("k8ts store watch prints the changes of a running API server until Ctrl-C", async (context) => {
  const machine = await K8tsMachine.make(context);
  const data = join(machine.root, "data", "alone");
  await machine.start(["apiserver", "--data-dir", data, "--secure-port", "0", "--bind-address", "127.0.0.1"], /^listening on/);
  const keys = (await machine.k8ts("store", "list", "--data-dir", data)).stdout;
  const prefix = /^(\S*namespaces\/)default$/m.exec(keys)?.[1] ?? "";
  const { child, lines } = await machine.start(["store", "watch", prefix, "--data-dir", data, "--after", "1"], /namespaces\/default"/);
  const change = JSON.parse(lines.find((line) => line.includes('namespaces/default"')) ?? "{}") as {
    type: string;
    value: { kind: string };
  };
  deepEqual([change.type, change.value.kind], ["put", "Namespace"]);
  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number];
  equal(code, 0);
});

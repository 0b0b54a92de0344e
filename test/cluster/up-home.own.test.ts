import { equal, match } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { processMark } from "../../src/host/processes/process-identity.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";

const QUICK = ["--containers=false", "--listen", "127.0.0.1:0"];

test("k8ts reports a read-only file system for every command on its cluster", needs("tmpfs"), async (context) => {
  const machine = await K8tsMachine.make(context);
  const disk = await mkdtemp(join(tmpdir(), "k8ts-disk-"));
  execFileSync(toolPath("tmpfs"), ["-t", "tmpfs", "-o", "mode=0700", "none", disk]);
  context.after(async () => {
    execFileSync("umount", [disk]);
    await rm(disk, { recursive: true });
  });
  const place = ["--data-dir", disk];
  const { child } = await machine.start(["up", "--in-memory", ...QUICK, ...place]);
  child.kill("SIGTERM");
  await once(child, "close");
  execFileSync(toolPath("tmpfs"), ["-o", "remount,ro", disk]);

  for (const [sentence, ...words] of [
    ["Cannot use DISK: the file system is read-only; choose another path with --data-dir, or remount it read-write", "up", ...QUICK],
    [
      "Cannot use DISK: the file system is read-only; choose another path with --data-dir, or remount it read-write",
      "up",
      ...QUICK,
      "--detach",
    ],
    ['Cannot clean up after cluster "default": the file system is read-only; remount it read-write', "down"],
    ['Cannot clean up after cluster "default": the file system is read-only; remount it read-write', "reset", "--yes"],
  ] as const) {
    const { exitCode, stderr } = await machine.k8ts(...words, ...place);
    equal(exitCode, 1);
    equal(stderr.startsWith(`Error: ${sentence.replace("DISK", disk)} (${disk}/`), true, stderr);
  }
});

for (const words of [[], ["--detach"]]) {
  test(`progress before the first step is printed, too: up ${words.join(" ")}`, async (context) => {
    const machine = await K8tsMachine.make(context);
    const { child } = await machine.start(["up", ...QUICK]);
    child.kill("SIGKILL");
    await once(child, "close");
    // As if a component were a process of its own that takes long to exit.
    const part = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    context.after(() => part.kill("SIGKILL"));
    const path = join(machine.home(), "run", "cluster.json");
    const record = JSON.parse(await readFile(path, "utf8")) as object;
    const parts = [{ name: "scheduler", description: "x", process: processMark(part.pid ?? 0) }];
    await writeFile(path, JSON.stringify({ ...record, parts }));

    const says = /^ {2}still waiting for: processes of the previous run \(\d/;
    const { child: next, lines } = await machine.start(["up", ...QUICK, ...words], new RegExp(`${says.source}|stops it$`));
    part.kill("SIGKILL");
    equal(
      lines.some((line) => says.test(line)),
      true,
      lines.join("\n"),
    );
    while (!lines.some((line) => line.endsWith("stops it"))) await once(next.stdout as NodeJS.ReadableStream, "data");
    equal(
      lines.some((line) => /^ {2}terminated processes of the previous run/.test(line)),
      false,
    );
  });
}

test("k8ts up reports an invalid CA key with its file", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", ...QUICK]);
  child.kill("SIGTERM");
  await once(child, "close");
  const key = join(machine.home(), "pki", "ca.key");
  const whole = await readFile(key, "utf8");
  for (const text of ["", whole.slice(0, whole.length / 2), "garbage"]) {
    await writeFile(key, text);
    const { exitCode, stderr } = await machine.k8ts("up", ...QUICK);
    equal(exitCode, 1);
    equal(stderr.startsWith(`Error: Cannot use ${key}: it contains no unencrypted PEM private key`), true, stderr);
  }
});

test("k8ts up writes its kubeconfigs at every start, whatever their content", async (context) => {
  const machine = await K8tsMachine.make(context);
  const first = await machine.start(["up", ...QUICK]);
  first.child.kill("SIGTERM");
  await once(first.child, "close");
  const components = ["controller-manager", "scheduler", "kube-proxy"].map((name) => join("pki", "kubeconfigs", `${name}.conf`));
  const files = ["kubeconfig", ...components].map((name) => join(machine.home(), name));
  for (const file of files) await writeFile(file, "garbage");

  await machine.start(["up", ...QUICK]);
  for (const file of files) match(await readFile(file, "utf8"), /"current-context"|current-context:/, file);
});

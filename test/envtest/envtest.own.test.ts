/**
 * An operator in Go, with the suite that it would have anywhere (greeting_test.go), runs on k8ts by controller-runtime's envtest. Skipped
 * without Go or its modules: `go mod download` in this folder fetches them, which takes minutes and is no part of the test run.
 */
import { match } from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { findProgram } from "../../src/host/processes/find-program.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";

const FOLDER = join(packageDirectory(import.meta.dirname), "test", "envtest");
const GO = findProgram("go", `${process.env["PATH"]}:/usr/local/go/bin`);
/** Never downloads anything, neither modules nor another Go. */
const OFFLINE = { GOPROXY: "off", GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", GOWORK: "off" };

function reasonToSkip(): string | false {
  if (GO === undefined) return "Go 1.26 or later is not installed";
  const env = { ...process.env, ...OFFLINE };
  const { status } = spawnSync(GO, ["list", "-deps", "-test", "."], { cwd: FOLDER, env, stdio: "ignore" });
  return status === 0 ? false : "the Go modules of test/envtest are not in the module cache; run `go mod download` there";
}

/** Compiling the modules takes minutes if the build cache is cold. */
const LIMIT_MS = 1_200_000;

test("a Go operator's envtest suite passes on k8ts", { timeout: LIMIT_MS, skip: reasonToSkip() }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const assets = join(machine.root, "assets");
  await machine.k8ts("envtest", assets);

  const env = { ...process.env, ...OFFLINE, KUBEBUILDER_ASSETS: assets, K8TS_ENVTEST_CONTROLLERS: "namespace-controller" };
  const { stdout } = await promisify(execFile)(GO ?? "go", ["test", "-count=1", "-v", "."], { cwd: FOLDER, env });

  for (const [line] of stdout.matchAll(/environment st\w+ in .*/g)) context.diagnostic(line);
  match(stdout, /--- PASS: TestOperator/);
  match(stdout, /--- PASS: TestUsersAndNamespaces/);
});

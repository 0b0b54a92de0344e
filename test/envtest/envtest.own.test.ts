/**
 * An operator in Go, with the suite that it would have anywhere (greeting_test.go), runs on k8ts by controller-runtime's envtest. The set-up
 * has fetched Go's modules (tools/setup/go.ts); the first run compiles them, with the lowest priority, into a build cache beside them.
 */
import { match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";

const OPERATOR = join(packageDirectory(import.meta.dirname), "test", "envtest");

/** The first compilation takes minutes on a loaded machine. */
const LIMIT_MS = 1_200_000;

/** envtest's own limit is 20 s, too short for a loaded machine. */
const START_LIMIT = "5m";

/** Compiling without optimizations takes half the time. */
const QUICKLY = ["-vet=off", "-gcflags=all=-N -l", "-ldflags=-s -w"];

const execute = promisify(execFile);

test("a Go operator's envtest suite passes on k8ts", { timeout: LIMIT_MS, ...needs("go", "goModules") }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const assets = join(machine.root, "assets");
  await machine.k8ts("envtest", assets);
  const modules = toolPath("goModules");
  const offline = { GOMODCACHE: modules, GOCACHE: join(dirname(modules), "go-build"), GOPROXY: "off", GOTOOLCHAIN: "auto" };
  const go = { ...process.env, ...offline, GOFLAGS: "-mod=readonly -modcacherw", GOWORK: "off", CGO_ENABLED: "0" };
  await execute("nice", ["-n", "19", toolPath("go"), "test", "-c", "-o", join(machine.root, "operator"), ...QUICKLY, "."], {
    cwd: OPERATOR,
    env: go,
  });

  const env = {
    ...go,
    KUBEBUILDER_ASSETS: assets,
    KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: START_LIMIT,
    K8TS_ENVTEST_CONTROLLERS: "namespace-controller",
  };
  const { stdout } = await execute(toolPath("go"), ["test", "-count=1", "-v", ...QUICKLY, "."], { cwd: OPERATOR, env });

  for (const [line] of stdout.matchAll(/environment st\w+ in .*/g)) context.diagnostic(line);
  match(stdout, /--- PASS: TestOperator/);
  match(stdout, /--- PASS: TestUsersAndNamespaces/);
});

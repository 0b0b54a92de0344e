/**
 * Runs a few test files on each supported major of Node.js: starting the program, `k8ts up`, an embedded cluster, the
 * lmdb store, HTTP/1.1, HTTP/2 and TLS on both sides, gRPC, SPDY. The whole suite runs on the Node that `npm test` was started with.
 */
import { deepEqual, equal } from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { needs, toolPath } from "../src/testing/needs.ts";
import { LAUNCHER } from "../src/testing/servers/launcher.ts";

/** Files with a process of their own, so that nested runs share nothing with the run around them. */
const SMOKE_SUITE = [
  "src/main/launcher.own.test",
  "src/embedded/cluster.own.test",
  "src/store/embedded/writer.own.test",
  "src/host/http/node-servers.own.test",
  "src/host/http/client/pool.own.test",
  "src/host/grpc/channel.own.test",
  "src/host/spdy/session.own.test",
  "src/host/processes/read-lines.own.test",
];

/** Under out/, as this file is when it runs. */
const RUNNER = join(import.meta.dirname, "test", "run.js");
/** A failed run prints every failure twice. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

function run(
  node: string,
  args: readonly string[],
): Promise<{ readonly exitCode: number | string; readonly stdout: string; readonly stderr: string }> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return new Promise((resolve) => {
    execFile(node, args, { env, maxBuffer: OUTPUT_BYTES_MAX }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : (error.code ?? "signal"), stdout, stderr }),
    );
  });
}

for (const major of [22, 24, 26] as const) {
  const tool = `node${major}` as const;

  test(`Node ${major} runs the smoke suite: program, cluster, store, HTTP, gRPC and SPDY`, { ...needs(tool) }, async () => {
    const { exitCode, stdout, stderr } = await run(toolPath(tool), [RUNNER, ...SMOKE_SUITE]);
    equal(exitCode, 0, `${stdout}${stderr}`);
    equal(stdout.startsWith(`Node ${major}.`), true, stdout);
  });

  test(`Node ${major} prints no warning for k8ts version`, { ...needs(tool) }, async () => {
    const { exitCode, stderr } = await run(toolPath(tool), [LAUNCHER, "version"]);
    deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" });
  });
}

import { deepEqual, equal } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { needs, toolPath } from "../src/testing/needs.ts";
import { packageDirectory } from "../src/testing/package-directory.ts";

const SCRIPT = join(packageDirectory(import.meta.dirname), "examples/hello/image.sh");
/** A static busybox has 1 to 2 MiB. */
const IMAGE_BYTES_MAX = 32 * 1024 * 1024;

test("the container of examples/hello prints goodbye on SIGTERM and exits with code 0", { ...needs("busybox") }, async (context) => {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-hello-"));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = `${join(toolPath("busybox"), "..")}:${process.env["PATH"] ?? ""}`;
  const image = execFileSync("sh", [SCRIPT, "1"], { env: { ...process.env, PATH: path }, maxBuffer: IMAGE_BYTES_MAX });
  execFileSync("tar", ["-xf", "-", "-C", directory], { input: image });
  const { config } = JSON.parse(readFileSync(join(directory, "config.json"), "utf8")) as { config: { Cmd: [string, string, string] } };
  const [shell, flag, script] = config.Cmd;
  // Without the web server: this test is about termination.
  const ended = script.replace(/httpd [^&]*&/, "{ echo ready; exec sleep 1000; } &");
  deepEqual([shell, flag, ended.includes("sleep")], ["sh", "-c", true]);

  const child = spawn(toolPath("busybox"), [shell, flag, ended], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  // The child that it waits for outlives it.
  context.after(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  const exited = once(child, "exit");
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  await once(child.stdout, "data");
  child.kill("SIGTERM");

  deepEqual(await exited, [0, null]);
  equal(text.startsWith("ready\n"), true);
});

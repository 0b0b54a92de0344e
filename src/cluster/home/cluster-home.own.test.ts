import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ourProcess } from "../../host/processes/process-identity.ts";
import { findHome, openHome } from "./cluster-home.ts";
import { readRecord, runs, writeRecord, type ClusterRecord } from "./cluster-record.ts";
import { checkHomeFormat } from "./home-marker.ts";
import { removeHome } from "./remove-home.ts";
import { findRuntimeDirectory, homesWithRuntime, removeRuntimeDirectory } from "./runtime-directory.ts";

/** A place of its own, also for sockets. */
async function aPlace(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "k8ts-home-"));
  const environment = { XDG_DATA_HOME: join(root, "data"), XDG_RUNTIME_DIR: root };
  const directory = join(root, "data", "k8ts", "default");
  context.after(async () => {
    const runtime = await findRuntimeDirectory(directory, environment);
    if (runtime !== undefined) await removeRuntimeDirectory(runtime);
    await rm(root, { recursive: true });
  });
  return { root, environment, directory };
}

const aRecord = (process: ClusterRecord["process"]): ClusterRecord => ({
  ...{ name: "default", state: "running", process, version: "1", kubernetesVersion: "v1", mode: "one process" },
  ...{ isDetached: false, since: "2026-01-01T00:00:00Z", logFile: "/l", runtimeDirectory: "/r" },
});

test("a home is created with private files, and found again by its name", async (context) => {
  const { environment, directory } = await aPlace(context);
  const held = await openHome({ directory, name: "default" }, environment);

  equal((await stat(directory)).mode & 0o777, 0o700);
  equal((await stat(held.home.runtimeDirectory)).mode & 0o777, 0o700);
  equal((await stat(held.home.marker)).mode & 0o777, 0o600);
  deepEqual(await homesWithRuntime(environment).then((homes) => homes.includes(directory)), true);
  await held[Symbol.asyncDispose]();
  const found = await findHome({ directory }, environment);
  deepEqual(
    [found?.name, found?.context, found?.commandArguments, found?.runtimeDirectory],
    ["default", "k8ts", "", held.home.runtimeDirectory],
  );
});

test("a home keeps its name if it is opened without one", async (context) => {
  const { environment, root } = await aPlace(context);
  const directory = join(root, "elsewhere");
  await (await openHome({ directory, name: "second" }, environment))[Symbol.asyncDispose]();
  const held = await openHome({ directory }, environment);
  context.after(() => removeRuntimeDirectory(held.home.runtimeDirectory));
  deepEqual([held.home.name, held.home.commandArguments], ["second", ` --data-dir ${directory}`]);
  await held[Symbol.asyncDispose]();
});

test("a second start reports the holder of the lock and the remedy, and does not disturb the first", async (context) => {
  const { environment, directory } = await aPlace(context);
  const held = await openHome({ directory }, environment);
  await held.writeRecord(aRecord(ourProcess()));

  await rejects(openHome({ directory }, environment), (error: Error) => {
    match(error.message, new RegExp(`^Cannot start cluster "default": it is already running as process ${process.pid} \\(since 2026`));
    match(error.message, /"k8ts down" stops it/);
    return true;
  });

  equal((await readRecord(held.home.record))?.name, "default");
  await held[Symbol.asyncDispose]();
  equal(await readRecord(held.home.record), undefined);
  await (await openHome({ directory }, environment))[Symbol.asyncDispose]();
});

test("a failed start keeps the record of a killed cluster while that has leftovers", async (context) => {
  const { environment, directory } = await aPlace(context);
  const killed = { ...aRecord({ ...ourProcess(), started: "1" }), node: { name: "n", runtimeEndpoint: "unix:///x" } };
  const path = join(directory, "run", "cluster.json");
  /** What is there after one more start, which wrote a record of this state. */
  const after = async (state: ClusterRecord["state"], { isClean }: { readonly isClean: boolean }) => {
    const held = await openHome({ directory }, environment);
    await held.writeRecord({ ...aRecord(ourProcess()), state });
    if (isClean) await removeRuntimeDirectory(held.home.runtimeDirectory);
    await held[Symbol.asyncDispose]();
    return readRecord(path);
  };
  await (await openHome({ directory }, environment))[Symbol.asyncDispose]();

  await writeRecord(path, killed);
  deepEqual(await after("starting", { isClean: false }), killed);
  deepEqual(await after("stopping", { isClean: false }), killed);
  equal(await after("starting", { isClean: true }), undefined);
  await writeRecord(path, killed);
  equal(await after("running", { isClean: false }), undefined);
});

test("a record of an exited process, or of a reused PID, does not count as running", async (context) => {
  const { root } = await aPlace(context);
  const path = join(root, "cluster.json");
  equal(runs(aRecord(ourProcess())), true);
  equal(runs(aRecord({ ...ourProcess(), started: "1" })), false);
  await writeRecord(path, aRecord(ourProcess()));
  deepEqual(await readRecord(path), aRecord(ourProcess()));
  for (const broken of ["", "{", "[]", '{"name":"a","logFile":"b","process":{"pid":-1,"started":""}}']) {
    await writeFile(path, broken);
    equal(await readRecord(path), undefined);
  }
});

for (const [title, content, sentence] of [
  [
    "of a newer version",
    '{"format":2,"name":"a"}',
    /it was written by a newer version of k8ts \(format 2, this version supports up to 1\); use that version, or another/,
  ],
  ["of a newer version that has no name", '{"format":9}', /it was written by a newer version of k8ts \(format 9, /],
  ["with a damaged marker", "{}", /k8ts\.json is corrupt; use another directory with --data-dir, or remove that file/],
  ["with half a marker", '{"form', /Cannot read .*k8ts\.json: .*--data-dir/],
] as const) {
  test(`a home ${title} is rejected with the remedy by every caller`, async (context) => {
    const { environment, directory } = await aPlace(context);
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "k8ts.json"), content);
    await rejects(openHome({ directory }, environment), sentence);
    await rejects(findHome({ directory }, environment), sentence);
    deepEqual(await readdir(directory), ["k8ts.json"]);
  });
}

test("a marker that is a FIFO or a link is rejected without blocking", async (context) => {
  const { directory } = await aPlace(context);
  await mkdir(directory, { recursive: true });
  const marker = join(directory, "k8ts.json");
  execFileSync("mkfifo", [marker]);
  await rejects(checkHomeFormat(directory), /Cannot use .*: ".*k8ts\.json" is not a regular file; use another directory with --data-dir/);
  await rm(marker);
  await symlink("/etc/passwd", marker);
  await rejects(checkHomeFormat(directory), /is a symbolic link, and links are not followed; use another directory/);
});

test("a directory with other files is rejected and left unchanged", async (context) => {
  const { environment, directory } = await aPlace(context);
  await mkdir(directory, { recursive: true });
  for (const name of ["a", "b", "c", "d"]) await writeFile(join(directory, name), "");
  await rejects(
    openHome({ directory }, environment),
    /contains files that do not belong to a cluster \(a, b, c, …\); set --data-dir to an empty/,
  );
  deepEqual((await readdir(directory)).sort(), ["a", "b", "c", "d"]);
});

test("a data directory without a home marker becomes a home", async (context) => {
  const { environment, directory } = await aPlace(context);
  await mkdir(join(directory, "pki"), { recursive: true });
  for (const name of ["store.mdb", "store.mdb-lock", "kubeconfig"]) await writeFile(join(directory, name), "");
  equal((await findHome({ directory }, environment))?.name, "default");
  const held = await openHome({ directory }, environment);
  deepEqual(JSON.parse(await readFile(held.home.marker, "utf8")), { format: 1, name: "default" });
  await held[Symbol.asyncDispose]();
});

test("a path through a file is reported", async (context) => {
  const { environment, root } = await aPlace(context);
  await writeFile(join(root, "file"), "");
  await rejects(
    openHome({ directory: join(root, "file", "x") }, environment),
    /a component of the path is not a directory; choose another path with --data-dir/,
  );
});

test("a name that is too long is reported by every caller", async (context) => {
  const { environment, root } = await aPlace(context);
  const directory = join(root, "x".repeat(300));
  await rejects(
    openHome({ directory }, environment),
    /^Error: Cannot use .*x: the path, or a name in it, is too long; choose a shorter one/,
  );
  await rejects(findHome({ directory }, environment), /^Error: Cannot access .*x: the path, or a name in it, is too long; /);
});

test("a file in place of the directory is reported", async (context) => {
  const { environment, root } = await aPlace(context);
  await writeFile(join(root, "file"), "");
  await rejects(
    openHome({ directory: join(root, "file") }, environment),
    /it is a file, not a directory; choose another path with --data-dir/,
  );
});

test("a home is deleted, but not files of others in it, nor the targets of its links", async (context) => {
  const { environment, directory, root } = await aPlace(context);
  const held = await openHome({ directory }, environment);
  await held[Symbol.asyncDispose]();
  await writeFile(join(root, "precious"), "x");
  await symlink(root, join(held.home.logDirectory, "link"));
  await writeFile(join(directory, "mine"), "x");

  deepEqual(await removeHome(held.home), ["mine"]);
  deepEqual(await readdir(directory), ["mine"]);
  equal(await readFile(join(root, "precious"), "utf8"), "x");

  await rm(join(directory, "mine"));
  deepEqual(await removeHome(held.home), []);
  await rejects(stat(directory), { code: "ENOENT" });
});

import { deepEqual, equal, rejects } from "node:assert/strict";
import { chmod, chown, lchown, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { YamlDraft } from "../../api/machinery/codec/yaml/edit.ts";
import { realClock } from "../../host/real-clock.ts";
import { changeKubeconfig, fileToWrite, kubectlFiles } from "./user-kubeconfig.ts";

async function aDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-kubeconfig-"));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

const change = (path: string, make: (text: string) => string | undefined) => changeKubeconfig(path, realClock, make);

for (const [environment, expected] of [
  [{ HOME: "/home/a" }, ["/home/a/.kube/config"]],
  [{ HOME: "/home/a", KUBECONFIG: "/x:/y:/x" }, ["/x", "/y"]],
  [{ HOME: "/home/a", KUBECONFIG: ":" }, ["/home/a/.kube/config"]],
  [{}, []],
] as const) {
  test(`with ${JSON.stringify(environment)} kubectl reads ${expected.join(" and ")}`, () => deepEqual(kubectlFiles(environment), expected));
}

test("of several files the first existing one is changed, or the last is created", async (context) => {
  const directory = await aDirectory(context);
  const files = ["a", "b", "c"].map((name) => join(directory, name));
  equal(await fileToWrite(files), join(directory, "c"));
  await writeFile(join(directory, "b"), "");
  equal(await fileToWrite(files), join(directory, "b"));
});

test("a missing file is created with its directory and mode 0600, and no lock remains", async (context) => {
  const path = join(await aDirectory(context), "kube", "config");
  equal(await change(path, (text) => `${text}new`), true);
  equal(await readFile(path, "utf8"), "new");
  equal((await stat(path)).mode & 0o777, 0o600);
  deepEqual(await readdir(join(path, "..")), ["config"]);
});

test("a link is kept, and its target is changed", async (context) => {
  const directory = await aDirectory(context);
  await mkdir(join(directory, "real"));
  await writeFile(join(directory, "real", "file"), "old", { mode: 0o644 });
  await symlink("real/file", join(directory, "config"));

  await change(join(directory, "config"), (text) => `${text}+`);

  equal((await lstat(join(directory, "config"))).isSymbolicLink(), true);
  equal(await readFile(join(directory, "real", "file"), "utf8"), "old+");
});

test("owner and mode of an existing file are kept", async (context) => {
  const path = join(await aDirectory(context), "config");
  await writeFile(path, "old");
  for (const mode of [0o640, 0o600]) {
    await chmod(path, mode);
    await change(path, (text) => `${text}+`);
    equal((await stat(path)).mode & 0o777, mode);
  }
});

test("a read-only file is left unchanged, also by root", async (context) => {
  const path = join(await aDirectory(context), "config");
  await writeFile(path, "old");
  await chmod(path, 0o444);
  await rejects(
    change(path, () => "new"),
    /^Error: Cannot change .*config: it is read-only; make it writable \(chmod u\+w .*config\), or use another file with --kubeconfig$/,
  );
  deepEqual([await readFile(path, "utf8"), (await stat(path)).mode & 0o777], ["old", 0o444]);
  equal(await change(path, (text) => text), false);
});

test("a text that cannot be parsed is reported, and nothing is changed", async (context) => {
  const path = join(await aDirectory(context), "config");
  await writeFile(path, "clusters: [");
  await rejects(
    change(path, (text) => new YamlDraft(text).toString()),
    /^Error: Cannot change .*config: it cannot be parsed: line 1: .*; correct it, or use another file with --kubeconfig$/,
  );
  equal(await readFile(path, "utf8"), "clusters: [");
  deepEqual(await readdir(join(path, "..")), ["config"]);
});

test("concurrent changes are serialized", async (context) => {
  const path = join(await aDirectory(context), "config");
  await Promise.all(Array.from({ length: 5 }, () => change(path, (text) => `${text}x`)));
  equal(await readFile(path, "utf8"), "xxxxx");
});

test("a stale lock is reported with the remedy, and not removed", async (context) => {
  const path = join(await aDirectory(context), "config");
  await writeFile(`${path}.lock`, "");
  await rejects(
    change(path, () => "x"),
    /another program holds its lock .*config\.lock; if no program is changing it, remove the lock file/,
  );
  deepEqual(await readdir(join(path, "..")), ["config.lock"]);
});

test("a directory in place of the file is reported", async (context) => {
  const path = join(await aDirectory(context), "config");
  await mkdir(path);
  await rejects(
    change(path, () => "x"),
    /^Error: Cannot change .*config: it is a directory, not a file; choose another path with --kubeconfig$/,
  );
});

/** An unused uid. */
const MALLORY = 61_234;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can give files to another user" };

test("a file that another user has planted in a shared directory does not get the administrator's key", asRoot, async (context) => {
  const directory = await aDirectory(context);
  await chmod(directory, 0o1777);
  const path = join(directory, "config");
  await writeFile(path, "planted");
  await chown(path, MALLORY, MALLORY);
  await rejects(
    change(path, () => "key"),
    /^Error: Cannot change .*config: it is owned by user 61234, who could read the administrator's key; remove it, or use another file/,
  );
  equal(await readFile(path, "utf8"), "planted");

  const link = join(directory, "link");
  await symlink(join(directory, "elsewhere"), link);
  await lchown(link, MALLORY, MALLORY);
  await rejects(
    change(link, () => "key"),
    /link: it is a symbolic link owned by user 61234/,
  );
  deepEqual((await readdir(directory)).toSorted(), ["config", "link"]);
});

test("root changes the file of a user in that user's directory, and it stays the user's", asRoot, async (context) => {
  const directory = await aDirectory(context);
  const path = join(directory, "config");
  await writeFile(path, "old");
  for (const each of [directory, path]) await chown(each, MALLORY, MALLORY);

  equal(await change(path, (text) => `${text}+`), true);

  deepEqual([await readFile(path, "utf8"), (await stat(path)).uid], ["old+", MALLORY]);
});

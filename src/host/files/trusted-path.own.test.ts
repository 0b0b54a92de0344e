import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, chown, lchown, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  checkTrustedEntries,
  checkTrustedPath,
  distrust,
  readTrustedText,
  UntrustedPathError,
  type PathComponent,
} from "./trusted-path.ts";

/** A user id that no account of this machine has. */
const MALLORY = 61_234;

const isRoot = process.geteuid?.() === 0;
const asRoot = { skip: isRoot ? false : "only root can give files to another user" };

async function workDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-trusted-"));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

for (const { title, component, isTarget, why } of [
  { title: "a private directory of this user", component: { uid: 1000, mode: 0o700 }, isTarget: true, why: undefined },
  { title: "a directory of root", component: { uid: 0, mode: 0o755 }, isTarget: true, why: undefined },
  { title: "a directory of another user", component: { uid: 1001, mode: 0o700 }, isTarget: true, why: "is owned by user 1001" },
  { title: "a directory of another user on the way", component: { uid: 1001, mode: 0o755 }, isTarget: false, why: "is owned by user 1001" },
  {
    title: "a world-writable directory",
    component: { uid: 1000, mode: 0o707 },
    isTarget: false,
    why: "is writable by other users (mode 0707)",
  },
  { title: "a sticky directory on the way", component: { uid: 0, mode: 0o1777 }, isTarget: false, why: undefined },
  {
    title: "a sticky directory as the target",
    component: { uid: 0, mode: 0o1777 },
    isTarget: true,
    why: "is writable by other users (mode 01777)",
  },
  {
    title: "a directory writable by a shared group",
    component: { uid: 1000, gid: 50, mode: 0o770 },
    isTarget: true,
    why: "is writable by other users (mode 0770)",
  },
  {
    title: "a directory writable by the user's private group",
    component: { uid: 1000, gid: 1000, mode: 0o775 },
    isTarget: true,
    why: undefined,
  },
  {
    title: "a directory of root writable by group root",
    component: { uid: 0, gid: 0, mode: 0o775 },
    isTarget: true,
    why: "is writable by other users (mode 0775)",
  },
  {
    title: "a link of another user",
    component: { uid: 1001, mode: 0o777, kind: "link" },
    isTarget: false,
    why: "is a symbolic link owned by user 1001",
  },
  { title: "a link of this user", component: { uid: 1000, mode: 0o777, kind: "link" }, isTarget: false, why: undefined },
  {
    title: "in a user namespace, a directory of the owner of / on the way",
    component: { uid: 65534, mode: 0o755 },
    isTarget: false,
    why: undefined,
  },
  {
    title: "in a user namespace, the owner of / as the target's owner",
    component: { uid: 65534, mode: 0o755 },
    isTarget: true,
    why: "is owned by user 65534",
  },
] as const) {
  test(`trust: ${title} is ${why === undefined ? "trusted" : "not trusted"}`, () => {
    const whole: PathComponent = { gid: 1000, kind: "directory", ...component };
    equal(distrust(whole, { uids: [1000, 0], rootOwner: 65534 }, { isTarget })?.why, why);
  });
}

test("a path is trusted only if every directory, link and file on it is of this user or root", asRoot, async (context) => {
  const base = await workDirectory(context);
  const ours = join(base, "ours");
  await mkdir(join(ours, "deep"), { recursive: true });
  await checkTrustedPath(join(ours, "deep"));

  const foreign = join(base, "foreign");
  await mkdir(join(foreign, "deep"), { recursive: true });
  await chown(foreign, MALLORY, MALLORY);
  await rejects(checkTrustedPath(join(foreign, "deep")), {
    name: "UntrustedPathError",
    message: `Cannot trust ${foreign}/deep: ${foreign} is owned by user ${MALLORY}; run this as that user, or remove it`,
  });
  await rejects(checkTrustedPath(join(ours, "..", "foreign")), UntrustedPathError);

  await symlink(ours, join(base, "own-link"));
  await checkTrustedPath(join(base, "own-link", "deep"));
  await symlink(foreign, join(base, "link-to-foreign"));
  await rejects(checkTrustedPath(join(base, "link-to-foreign", "deep")), /foreign is owned by user/);
  await symlink(ours, join(base, "planted-link"));
  await lchown(join(base, "planted-link"), MALLORY, MALLORY);
  await rejects(checkTrustedPath(join(base, "planted-link", "deep")), /planted-link is a symbolic link owned by user/);
  await symlink(join(base, "loop"), join(base, "loop"));
  await rejects(checkTrustedPath(join(base, "loop", "x")), /too many symbolic links/);

  await chmod(ours, 0o777);
  await rejects(checkTrustedPath(join(ours, "deep")), {
    message: `Cannot trust ${ours}/deep: ${ours} is writable by other users (mode 0777); remove that permission: chmod go-w ${ours}`,
  });
});

test("a trusted text is read from a regular file of this user in a directory that others cannot write", asRoot, async (context) => {
  const base = await workDirectory(context);
  const file = join(base, "file");
  await writeFile(file, "text", { mode: 0o600 });
  equal(await readTrustedText(file), "text");
  await rejects(readTrustedText(join(base, "none")), { code: "ENOENT" });

  await symlink(file, join(base, "link"));
  await rejects(readTrustedText(join(base, "link")), /link: it is a symbolic link; remove it$/);
  execFileSync("mkfifo", [join(base, "fifo")]);
  await rejects(readTrustedText(join(base, "fifo")), /it is not a regular file/);
  await writeFile(join(base, "long"), Buffer.alloc(1024 * 1024 + 1), { mode: 0o600 });
  await rejects(readTrustedText(join(base, "long")), /it has more than 1048576 bytes/);

  await chmod(file, 0o666);
  await rejects(readTrustedText(file), /it is writable by other users \(mode 0666\)/);
  await chmod(file, 0o600);
  await chown(file, MALLORY, MALLORY);
  await rejects(readTrustedText(file), /it is owned by user 61234/);

  const shared = join(base, "shared");
  await mkdir(shared);
  await chmod(shared, 0o1777);
  await writeFile(join(shared, "file"), "", { mode: 0o600 });
  await rejects(readTrustedText(join(shared, "file")), /shared: it is writable by other users \(mode 01777\)/);
});

test("a directory with one entry of another user is refused as a whole", asRoot, async (context) => {
  const base = await workDirectory(context);
  await writeFile(join(base, "a"), "", { mode: 0o600 });
  deepEqual(await checkTrustedEntries(base), ["a"]);

  await writeFile(join(base, "b"), "");
  await chown(join(base, "b"), MALLORY, MALLORY);

  await rejects(checkTrustedEntries(base), /b: it is owned by user 61234/);
});

test("the owner of $HOME is trusted below it, and nowhere else", asRoot, async (context) => {
  const userHome = await workDirectory(context);
  await mkdir(join(userHome, "data"));
  for (const path of [userHome, join(userHome, "data")]) await chown(path, MALLORY, MALLORY);

  await checkTrustedPath(join(userHome, "data"), { userHome });
  await rejects(checkTrustedPath(join(userHome, "data"), { userHome: join(userHome, "other") }), UntrustedPathError);
  await rejects(checkTrustedPath(userHome, { userHome }), UntrustedPathError);
});

test("another user's process does not trust files of a third one", asRoot, async (context) => {
  const base = await workDirectory(context);
  await chmod(base, 0o755);
  await mkdir(join(base, "theirs"));
  await chown(join(base, "theirs"), MALLORY + 1, MALLORY + 1);
  const module = JSON.stringify(new URL("./trusted-path.js", import.meta.url).href);
  const program = `import(${module}).then((m) => m.checkTrustedPath(process.argv[1])).then(() => console.log("trusted"), (e) => console.log(e.message))`;
  const run = (path: string) =>
    spawnSync(process.execPath, ["-e", program, path], { uid: MALLORY, gid: MALLORY, encoding: "utf8", cwd: "/" }).stdout;

  equal(run(base), "trusted\n");
  match(run(join(base, "theirs")), /it is owned by user 61235/);
});

test("control characters in a name chosen by another user do not reach the terminal", asRoot, async (context) => {
  const planted = join(await workDirectory(context), "\u001b[2J");
  await mkdir(planted);
  await chown(planted, MALLORY, MALLORY);
  await rejects(checkTrustedPath(planted), (error: Error) => !error.message.includes("\u001b"));
});

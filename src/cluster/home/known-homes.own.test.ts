import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { findHome, openHome } from "./cluster-home.ts";
import { knownHomes } from "./known-homes.ts";
import { homeId, makeRuntimeDirectory } from "./runtime-directory.ts";

/** An unused uid. */
const MALLORY = 61_234;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can give files to another user" };

async function aPlace(context: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "k8ts-known-"));
  await chmod(root, 0o755);
  context.after(() => rm(root, { recursive: true }));
  const environment = { XDG_DATA_HOME: join(root, "data"), XDG_RUNTIME_DIR: join(root, "runtime") };
  await mkdir(environment.XDG_RUNTIME_DIR);
  return { root, environment };
}

/** A home as k8ts makes it. */
async function writeHome(directory: string): Promise<string> {
  await mkdir(join(directory, "run"), { recursive: true });
  await writeFile(join(directory, "k8ts.json"), '{"format":1,"name":"planted"}');
  return directory;
}

async function writeRuntime(place: string, home: string): Promise<string> {
  const directory = join(place, homeId(home));
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "home"), home);
  return directory;
}

/** Of those in this test's place: the machine may have clusters. */
async function known(root: string, environment: Record<string, string>) {
  const problems: string[] = [];
  const homes = await knownHomes(environment, (problem) => problems.push(problem));
  const here = homes.map(({ directory }) => directory).filter((directory) => directory.startsWith(root));
  return { homes: here.map((directory) => directory.slice(root.length)), problems: problems.filter((problem) => problem.includes(root)) };
}

test("a home that a trusted runtime directory names is known", async (context) => {
  const { root, environment } = await aPlace(context);
  await writeRuntime(join(environment.XDG_RUNTIME_DIR, "k8ts"), await writeHome(join(root, "home")));
  deepEqual(await known(root, environment), { homes: ["/home"], problems: [] });
});

for (const { title, plant, reason } of [
  {
    title: "whose runtime directories are another user's",
    plant: ({ place }) => chown(place, MALLORY, MALLORY),
    reason: /runtime\/k8ts: it is owned by user 61234/,
  },
  {
    title: "whose runtime directory another user could have created",
    plant: ({ place }) => chmod(place, 0o1777),
    reason: /runtime\/k8ts: it is writable by other users \(mode 01777\)/,
  },
  {
    title: "whose runtime directory is another user's",
    plant: ({ runtime }) => chown(runtime, MALLORY, MALLORY),
    reason: /it is owned by user 61234/,
  },
  {
    title: "that a file of another user names",
    plant: ({ runtime }) => chown(join(runtime, "home"), MALLORY, MALLORY),
    reason: /home: it is owned by user 61234/,
  },
  {
    title: "that is another user's",
    plant: ({ home }) => chown(home, MALLORY, MALLORY),
    reason: /\/home is owned by user 61234; run this as that user, or remove it, or choose another directory with --data-dir$/,
  },
  {
    title: "whose record is another user's",
    async plant({ home }) {
      await writeFile(join(home, "run", "cluster.json"), "{}");
      await chown(join(home, "run", "cluster.json"), MALLORY, MALLORY);
    },
    reason: /run\/cluster.json is owned by user 61234/,
  },
  {
    title: "whose kubeconfig is world-writable",
    async plant({ home }) {
      await writeFile(join(home, "kubeconfig"), "{}");
      await chmod(join(home, "kubeconfig"), 0o666);
    },
    reason: /kubeconfig is writable by other users \(mode 0666\); remove that permission: chmod go-w /,
  },
  {
    title: "whose directory of records is a link of another user",
    async plant({ root, home }) {
      await rm(join(home, "run"), { recursive: true });
      await symlink(root, join(home, "run"));
      await lchown(join(home, "run"), MALLORY, MALLORY);
    },
    reason: /run is a symbolic link owned by user 61234/,
  },
] satisfies readonly {
  readonly title: string;
  readonly reason: RegExp;
  plant(planted: Readonly<Record<"root" | "place" | "runtime" | "home", string>>): Promise<void>;
}[]) {
  test(`a home ${title} is ignored, with the reason`, asRoot, async (context) => {
    const { root, environment } = await aPlace(context);
    const place = join(environment.XDG_RUNTIME_DIR, "k8ts");
    const home = await writeHome(join(root, "home"));
    await plant({ root, place, home, runtime: await writeRuntime(place, home) });

    const { homes, problems } = await known(root, environment);

    deepEqual([homes, problems.length], [[], 1]);
    match(problems[0] ?? "", reason);
  });
}

test("a home that another user could have written is neither read nor opened", asRoot, async (context) => {
  const { root, environment } = await aPlace(context);
  const directory = await writeHome(join(root, "home"));
  await chmod(directory, 0o777);
  const sentence = /^UntrustedPathError: Cannot trust .*: .*\/home is writable by other users \(mode 0777\); .*--data-dir$/;
  await rejects(findHome({ directory }, environment), sentence);
  await rejects(openHome({ directory }, environment), sentence);
});

test("nothing is created in a runtime directory of another user", asRoot, async (context) => {
  const { root, environment } = await aPlace(context);
  const place = join(environment.XDG_RUNTIME_DIR, "k8ts");
  await mkdir(place);
  await chown(place, MALLORY, MALLORY);
  const directory = join(root, "home");

  // Elsewhere: below /run as root, otherwise in the temporary directory.
  const made = await makeRuntimeDirectory(directory, environment);
  context.after(() => rm(made, { recursive: true }));

  equal(made.startsWith(root), false);
  deepEqual(await readdir(place), []);
});

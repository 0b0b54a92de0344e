import { deepEqual, doesNotMatch, equal, match, throws } from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packageDirectory } from "../../src/testing/package-directory.ts";

/** The set-up is plain JavaScript, which is not compiled into out/: it is loaded from the sources. */
const folder = join(packageDirectory(import.meta.dirname), "tools/setup");
const urlOf = (name: string) => pathToFileURL(join(folder, name)).href;

interface Modules {
  readonly checkNode: (version: string) => void;
  readonly areInstalled: (locked: unknown, installed: unknown) => boolean;
  readonly unlessFresh: (
    from: { readonly stamp: string; readonly folders: readonly string[]; readonly clone: string },
    make: () => Promise<"whole" | "faulty">,
  ) => Promise<void>;
}

const load = async (name: string) => (await import(urlOf(name))) as Modules;

const directory = mkdtempSync(join(tmpdir(), "k8ts-setup-"));
after(() => rmSync(directory, { recursive: true }));

describe("an outdated Node.js is rejected first, with advice", async () => {
  const { checkNode } = await load("node-version.mjs");
  for (const version of ["20.19.0", "20.20.2", "21.0.0", "24.11.1"]) test(`${version} is supported`, () => checkNode(version));
  for (const version of ["20.18.3", "18.20.8", "4.0.0"]) {
    test(`${version} is too old`, () =>
      throws(() => checkNode(version), {
        message: `k8ts needs Node.js 20.19 or newer, this is ${version}; install a newer one and try again`,
      }));
  }
});

describe("npm packages are installed only if they differ from the lockfile", async () => {
  const { areInstalled } = await load("packages.mjs");
  const locked = {
    packages: {
      "": { version: "1" },
      "node_modules/a": { version: "1", integrity: "x" },
      "node_modules/b": { version: "2", optional: true },
    },
  };
  for (const { it, installed, is } of [
    {
      it: "all installed",
      installed: { "node_modules/a": { version: "1", integrity: "x" }, "node_modules/b": { version: "2" } },
      is: true,
    },
    { it: "an optional one absent", installed: { "node_modules/a": { version: "1", integrity: "x" } }, is: true },
    {
      it: "one more than locked",
      installed: { "node_modules/a": { version: "1", integrity: "x" }, "node_modules/c": { version: "1" } },
      is: true,
    },
    { it: "one absent", installed: { "node_modules/b": { version: "2" } }, is: false },
    { it: "another version", installed: { "node_modules/a": { version: "2", integrity: "x" } }, is: false },
    { it: "another integrity", installed: { "node_modules/a": { version: "1", integrity: "y" } }, is: false },
    {
      it: "another version of an optional one",
      installed: { "node_modules/a": { version: "1", integrity: "x" }, "node_modules/b": { version: "1" } },
      is: false,
    },
  ]) {
    test(it, () => equal(areInstalled(locked, { packages: installed }), is));
  }
});

describe("unlessFresh rebuilds when needed", async () => {
  const { unlessFresh } = await load("sources.mjs");
  const clone = join(directory, "clone");
  const stamp = join(directory, "stamp");
  for (const folder of ["src/generated", "tools"]) mkdirSync(join(clone, folder), { recursive: true });
  for (const file of ["package.json", "package-lock.json", "tsconfig.json", "src/a.ts"]) writeFileSync(join(clone, file), "");

  /** True if it was rebuilt. */
  const makes = async (make: () => "whole" | "faulty" = () => "whole") => {
    let made = false;
    await unlessFresh({ stamp, folders: ["src", "tools"], clone }, async () => {
      made = true;
      return make();
    });
    return made;
  };

  test("it builds once, and then only after a change", async () => deepEqual([await makes(), await makes()], [true, false]));

  for (const { it, change, again } of [
    { it: "a changed file", change: () => writeFileSync(join(clone, "src/a.ts"), "changed"), again: true },
    { it: "a file with another modification time", change: () => utimesSync(join(clone, "package.json"), 1, 1), again: true },
    { it: "a new file", change: () => writeFileSync(join(clone, "tools/b.ts"), ""), again: true },
    { it: "a deleted file", change: () => rmSync(join(clone, "tools/b.ts")), again: true },
    { it: "a generated file", change: () => writeFileSync(join(clone, "src/generated/c.ts"), ""), again: false },
  ]) {
    test(`${again ? "it rebuilds" : "it does not rebuild"} after ${it}`, async () => {
      change();
      deepEqual([await makes(), await makes()], [again, false]);
    });
  }

  test("it rebuilds while the result is faulty", async () => {
    rmSync(stamp);
    deepEqual([await makes(() => "faulty"), await makes(), await makes()], [true, true, false]);
  });

  test("it rebuilds after a failure", async () => {
    rmSync(stamp);
    const failing = makes(() => {
      throw new Error("interrupted");
    });
    await failing.catch(() => {});
    deepEqual([await makes(), await makes()], [true, false]);
  });
});

describe("concurrent set-ups are serialized", () => {
  const lock = join(directory, "setup.lock");
  /** Acquires the lock, reports it, and holds it until its standard input ends. */
  const HOLD = `const { withLock } = await import(${JSON.stringify(urlOf("lock.mjs"))});
    await withLock(${JSON.stringify(lock)}, async () => { console.log("has it"); for await (const _ of process.stdin); });`;

  function startHolder(): { readonly child: ChildProcess; readonly lines: AsyncIterator<string> } {
    const child = spawn(process.execPath, ["--input-type=module", "-e", HOLD], { stdio: ["pipe", "pipe", "inherit"] });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  }

  test("the second logs the process that it waits for, and continues when the first has finished", async () => {
    const first = startHolder();
    equal((await first.lines.next()).value, "has it");
    const second = startHolder();
    equal(
      (await second.lines.next()).value,
      `set-up: waiting for another set-up, process ${first.child.pid} (if it does not exist, delete ${lock})`,
    );

    first.child.stdin?.end();

    equal((await second.lines.next()).value, "has it");
    second.child.stdin?.end();
    await once(second.child, "exit");
    deepEqual(
      readdirSync(directory).filter((name) => name.startsWith("setup.lock")),
      [],
    );
  });

  test("the stale lock of a killed set-up is removed", async () => {
    const killed = startHolder();
    await killed.lines.next();
    killed.child.kill("SIGKILL");
    await once(killed.child, "exit");
    equal(existsSync(lock), true);

    const next = startHolder();
    equal((await next.lines.next()).value, "has it");
    next.child.stdin?.end();
    await once(next.child, "exit");
    equal(existsSync(lock), false);
  });
});

describe("the set-up program", () => {
  const run = (...args: readonly string[]) => spawnSync(process.execPath, [join(folder, "../setup.mjs"), ...args], { encoding: "utf8" });

  test("rejects an unknown purpose", () => {
    const { status, stderr } = run("party");
    deepEqual([status, stderr], [1, 'Cannot set up for "party": it must be one of start, test, build, bench\n']);
  });

  test("prints nothing if nothing is missing", () => {
    // The set-up for this test run has just finished; "build" needs only the packages.
    const { status, stdout, stderr } = run("build");
    deepEqual([status, stdout, stderr], [0, "", ""]);
  });

  test("prints the output of a step only if it failed", async () => {
    const script = `const { run, step, StepFailed } = await import(${JSON.stringify(urlOf("step.mjs"))});
      await step("one", () => run(process.execPath, ["-e", "console.log('noise')"]));
      await step("two", async () => { throw new StepFailed("no"); }).catch(() => {});`;
    writeFileSync(join(directory, "steps.mjs"), script);
    const { stdout } = spawnSync(process.execPath, [join(directory, "steps.mjs")], { encoding: "utf8" });
    match(stdout, /^set-up: one \.\.\. \d+\.\d s\nset-up: two \.\.\. failed\n$/);
    doesNotMatch(stdout, /noise/);
  });
});

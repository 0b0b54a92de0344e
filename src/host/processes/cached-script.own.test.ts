/** Starts processes that run a script from their own folder, since the code of a script stays in the process that has compiled it. */
import { deepEqual, equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

const SCRIPT = `(function (exports, require, module) { module.exports = { answer: () => require("node:path").basename("a/b") + 42 }; })`;

class Machine {
  readonly file: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "k8ts-script-"));

  constructor(context: TestContext) {
    this.file = join(this.#directory, "script.cjs");
    writeFileSync(this.file, SCRIPT);
    context.after(() => rmSync(this.#directory, { recursive: true }));
  }

  get caches(): string[] {
    return readdirSync(this.#directory).filter((name) => name !== "script.cjs");
  }

  get cache(): string {
    return join(this.#directory, this.caches[0] ?? "");
  }

  /** The result of the script, and whether a call of save has replaced the cache. */
  run(parts: readonly string[], beforeSave = ""): { readonly answer: string; readonly saved: boolean } {
    const before = this.caches.length === 0 ? "" : readFileSync(this.cache, "latin1");
    const program = `
      import { runCachedScript } from ${JSON.stringify(new URL("./cached-script.js", import.meta.url).href)};
      const script = runCachedScript(${JSON.stringify(this.file)});
      process.stdout.write(script === undefined ? "none" : script.exports.answer());
      ${beforeSave}
      script?.save(${JSON.stringify(parts)});`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    deepEqual([status, stderr], [0, ""]);
    return { answer: stdout, saved: this.caches.length > 0 && readFileSync(this.cache, "latin1") !== before };
  }
}

test("a script without a cache runs and writes one, with which it runs the next time", (context) => {
  const machine = new Machine(context);
  deepEqual(machine.run(["one"]), { answer: "b42", saved: true });
  equal(machine.caches.length, 1);
  deepEqual(machine.run(["one"]), { answer: "b42", saved: false });
});

test("a process that uses more parts of the program adds to the cache", (context) => {
  const machine = new Machine(context);
  machine.run(["one"]);
  deepEqual(machine.run(["two"]), { answer: "b42", saved: true });
  deepEqual(machine.run(["one", "two"]), { answer: "b42", saved: false });
});

test("a damaged cache is ignored and replaced", (context) => {
  const machine = new Machine(context);
  machine.run(["one"]);
  const whole = readFileSync(machine.cache);
  for (const damaged of [
    whole.subarray(0, 0),
    whole.subarray(0, 40),
    whole.subarray(0, -1),
    whole.map((byte, at) => (at === 200 ? byte ^ 1 : byte)),
  ]) {
    writeFileSync(machine.cache, damaged);
    deepEqual(machine.run(["one"]), { answer: "b42", saved: true });
  }
});

test("the cache of a script that was replaced by one of the same length is ignored", (context) => {
  const machine = new Machine(context);
  machine.run(["one"]);
  rmSync(machine.file);
  writeFileSync(machine.file, SCRIPT.replace("42", "43"));
  deepEqual(machine.run(["one"]), { answer: "b43", saved: true });
});

test("the cache of a script that was overwritten by one of the same length and modification time is ignored", (context) => {
  const machine = new Machine(context);
  utimesSync(machine.file, 1_000, 1_000);
  machine.run(["one"]);
  writeFileSync(machine.file, SCRIPT.replace("42", "43"));
  utimesSync(machine.file, 1_000, 1_000);
  deepEqual(machine.run(["one"]), { answer: "b43", saved: true });
});

test("only its owner can write the cache, whatever the umask", (context) => {
  const machine = new Machine(context);
  machine.run(["one"], "process.umask(0);");
  equal(statSync(machine.cache).mode & 0o777, 0o644);
});

test("a folder that cannot be written gets no cache", (context) => {
  const machine = new Machine(context);
  // Also for root, whom permissions do not stop.
  const unwritable = `(await import("node:fs")).default.openSync = () => { throw new Error("EROFS"); }; (await import("node:module")).syncBuiltinESMExports();`;
  deepEqual(machine.run(["one"], unwritable), { answer: "b42", saved: false });
  deepEqual(machine.caches, []);
});

test("a script that does not exist is no error", (context) => {
  const machine = new Machine(context);
  rmSync(machine.file);
  deepEqual(machine.run(["one"]), { answer: "none", saved: false });
});

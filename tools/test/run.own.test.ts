import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { PLANTED } from "../../src/testing/fixtures/planted-secrets.ts";

const RUNNER = join(import.meta.dirname, "run.js");

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
  readonly lastLine: string | undefined;
}

/** Runs the real runner over files with these texts (names as compiled, ".js"). */
function runOver(files: Readonly<Record<string, string>>, ...args: readonly string[]): Ran {
  return withFiles(files, (directory) => {
    const all = [RUNNER, `--directory=${directory}`, `--timeout-ms=${TIMEOUT_MS}`, "--lanes=1", ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
    return { exitCode: status, output: stdout + stderr, lastLine: stdout.trimEnd().split("\n").at(-1) };
  });
}

/** Long enough for a file with one test on a busy machine, short for one that Node 24 never ends. */
const TIMEOUT_MS = 20_000;

function withFiles<T>(files: Readonly<Record<string, string>>, use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-runner-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    // Without a package.json beside them, Node would load these as CommonJS.
    writeFileSync(join(directory, "package.json"), `{ "type": "module" }`);
    writeFileSync(join(directory, name), text);
  }
  const done = use(directory);
  if (done instanceof Promise) return done.finally(() => rmSync(directory, { recursive: true })) as T;
  rmSync(directory, { recursive: true });
  return done;
}

const PASSES = `import { test } from "node:test"; test("passes", () => {});`;
const FAILS = `import { test } from "node:test"; test("fails", () => { throw new Error("the reason"); });`;

test("passing files yield exit code 0, a line per file, and the totals as the last line", () => {
  const { exitCode, output, lastLine } = runOver({ "src/a.test.js": PASSES, "src/b.test.js": PASSES, "src/c.own.test.js": PASSES });

  equal(lastLine, "3 passed, 0 failed, 0 skipped");
  equal(exitCode, 0);
  for (const file of ["src/a.test.ts", "src/b.test.ts", "src/c.own.test.ts"])
    match(output, new RegExp(`^ok +${file} +1 passed +[\\d.]+ m?s`, "m"));
});

test("pure files share one process, others have their own", () => {
  const printsProcessId = `import { test } from "node:test"; test("x", () => { throw new Error("in process " + process.pid); });`;
  const { output } = runOver({
    "a.test.js": printsProcessId,
    "b.test.js": printsProcessId,
    "c.own.test.js": printsProcessId,
    "d.own.test.js": printsProcessId,
  });
  const [a, b, c, d] = Array.from(output.matchAll(/Error: in process (\d+)/g), ([, pid]) => pid);
  equal(a, b);
  equal(new Set([a, c, d]).size, 3);
});

test("the reason of a failure is printed immediately and again at the end", () => {
  const { output } = runOver({ "a.own.test.js": FAILS, "b.own.test.js": PASSES });
  match(
    output,
    /^FAIL {2}a\.own.*\n +fails\n +Error: the reason[^]*^ok {4}b\.own[^]*^FAIL {2}a\.own\.test\.ts: fails\n +Error: the reason/m,
  );
});

describe("concurrency with two lanes", () => {
  /** Passes if the other file runs at the same time, whose marker file it awaits. */
  const meets = (
    own: string,
    other: string,
    timeoutMs: number,
  ) => `import { test } from "node:test"; import { existsSync, watch, writeFileSync } from "node:fs";
    test("meets", async () => {
      const seen = new Promise((resolve) => {
        const alone = setTimeout(resolve, ${timeoutMs}, "alone");
        const look = () => existsSync(new URL("${other}", import.meta.url)) && (clearTimeout(alone), resolve());
        watch(new URL(".", import.meta.url), look).unref();
        look();
      });
      writeFileSync(new URL("${own}", import.meta.url), "");
      if ((await seen) === "alone") throw new Error("no other file ran");
    });`;

  for (const { it, names, isTogether } of [
    { it: "files with their own process run concurrently", names: ["a.own.test.js", "b.own.test.js"], isTogether: true },
    { it: "the shared process runs beside others", names: ["a.test.js", "b.own.test.js"], isTogether: true },
    { it: "a machine test runs beside other files", names: ["a.machine.own.test.js", "b.own.test.js"], isTogether: true },
    { it: "two machine tests do not run concurrently", names: ["a.machine.own.test.js", "b.machine.own.test.js"], isTogether: false },
  ]) {
    test(it, () => {
      const [a = "", b = ""] = names;
      // Starting the other file may take long on a busy machine; the case without concurrency needs no patience.
      const timeoutMs = isTogether ? 30_000 : 3_000;
      const files = { [a]: meets("mark-a", "mark-b", timeoutMs), [b]: meets("mark-b", "mark-a", timeoutMs) };
      const { lastLine, output } = runOver(files, "--lanes=2", "--timeout-ms=60000");
      equal(lastLine, "2 passed, 0 failed, 0 skipped", output);
      // The first of two sequential files times out, and finds the other's marker on its second run.
      equal(/^flaky: 1 of/m.test(output), !isTogether, output);
    });
  }
});

test("a skipped test is counted and listed with its reason", () => {
  const { exitCode, output, lastLine } = runOver({
    "a.test.js": `${PASSES} test("wants etcd", { skip: "needs etcd: not installed" }, () => {});`,
    "b.own.test.js": `${PASSES} test("decides late", (t) => t.skip("no luck"));`,
  });
  equal(lastLine, "2 passed, 0 failed, 2 skipped");
  equal(exitCode, 0);
  match(output, /Skipped:\n {2}a\.test\.ts: wants etcd \(needs etcd: not installed\)\n {2}b\.own\.test\.ts: decides late \(no luck\)/);
});

describe("every kind of failure of a file is reported and counted, and later files still run", () => {
  const FAILURES = [
    { it: "a failing test", text: FAILS, says: / fails\n +Error: the reason\n +at .*\.test/ },
    {
      it: "a failing test in a suite",
      text: `import { describe, test } from "node:test"; describe("outer", () => { test("fails", () => { throw new Error("in a suite"); }); });`,
      says: / outer > fails\n +Error: in a suite/,
    },
    {
      it: "a failing hook",
      text: `import { before, test } from "node:test"; before(() => { throw new Error("no start"); }); test("x", () => {});`,
      says: /no start/,
    },
    { it: "a crash while loading", text: `${PASSES} throw new Error("crashed");`, says: /Error: crashed/ },
    { it: "a file that cannot be parsed", text: `import { test } from "node:test"; test(`, says: /SyntaxError/ },
    {
      it: "an exit with code 0 in the middle",
      text: `${PASSES} test("leaves", async () => { await new Promise((r) => setTimeout(r, 20)); process.exit(0); }); test("never runs", () => {});`,
      says: /It exited prematurely with code 0 during .*"leaves"/,
    },
    { it: "an immediate exit with code 0", text: `${PASSES} process.exit(0);`, says: /exited (before the first one|prematurely)/ },
    { it: "an error after the last test", text: `${PASSES} setTimeout(() => { throw new Error("too late"); }, 20);`, says: /too late/ },
    {
      it: "a promise that is never settled",
      text: `import { test } from "node:test"; test("waits", () => new Promise(() => {}));`,
      says: / waits\n.*still pending|timeout of 20 s during .*"waits"/,
    },
    { it: "a file without a test", text: `console.log("nothing");`, says: /It contains no test, or exited before the first one/ },
    {
      it: "a file that kills itself",
      text: `${PASSES} test("dies", () => { process.kill(process.pid, "SIGKILL"); });`,
      says: /It was terminated by SIGKILL/,
    },
  ];

  const own = runOver({
    ...Object.fromEntries(FAILURES.map(({ text }, index) => [`t${index}.own.test.js`, text])),
    "z.own.test.js": PASSES,
  });
  for (const [index, { it, says }] of FAILURES.entries()) {
    test(`in its own process: ${it}`, () => {
      const [, about = ""] = own.output.split(`FAIL  t${index}.own.test.ts:`);
      match(about.split(/FAIL {2}t\d/)[0] ?? "", new RegExp(says.source));
      match(own.output, new RegExp(`^FAIL +t${index}\\.own\\.test\\.ts +\\d+ passed, 1 failed `, "m"));
    });
  }
  test("in their own processes: totals, exit code, and the passing file after them", () => {
    match(own.lastLine ?? "", new RegExp(`^\\d+ passed, ${FAILURES.length} failed, 0 skipped$`));
    equal(own.exitCode, 1);
    match(own.output, /^ok +z\.own\.test\.ts/m);
  });

  for (const { it, text, says } of FAILURES) {
    test(`in the shared process: ${it}`, () => {
      const { exitCode, output, lastLine } = runOver({ "x.test.js": text });
      match(output, says);
      match(lastLine ?? "", /^\d passed, [1-9] failed, 0 skipped$/);
      equal(exitCode, 1);
    });
  }
});

describe("a file that hangs is killed with all its descendants", () => {
  /** Enough for a busy machine to start a file and run the next one completely. */
  const HANG_SECONDS = 12;
  /** Starts a process that ignores SIGTERM, and records its id. */
  const STARTS = `
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)"], { stdio: "inherit" });
    writeFileSync(new URL("pid", import.meta.url), String(child.pid));`;
  /** Fails if that process is alive. A killed one whose parent has exited may linger as a zombie. */
  const IS_GONE = `
    import { test } from "node:test"; import { existsSync, readFileSync } from "node:fs";
    test("no process is left", () => {
      const stat = "/proc/" + readFileSync(new URL("pid", import.meta.url), "utf8") + "/stat";
      if (existsSync(stat) && !/\\) [ZX] /.test(readFileSync(stat, "utf8"))) throw new Error("it still runs");
    });`;
  const IMPORTS = `import { test } from "node:test"; import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";`;
  const HANGS = `${IMPORTS} test("hangs", async () => { ${STARTS} await new Promise(() => setInterval(() => {}, 1e6)); });`;

  for (const { it, files, says } of [
    {
      it: "in its own process",
      files: { "a.own.test.js": HANGS, "b.own.test.js": IS_GONE },
      says: `a.own.test.ts: It was killed after a timeout of ${HANG_SECONDS} s during "hangs"`,
    },
    {
      it: "in the shared process",
      files: { "a.test.js": HANGS, "b.own.test.js": IS_GONE },
      says: `process: It was killed after a timeout of ${HANG_SECONDS} s during "a.test.ts" > "hangs"`,
    },
    {
      it: "in an endless loop",
      files: { "a.own.test.js": `${IMPORTS} test("spins", () => { ${STARTS} for (;;); });`, "b.own.test.js": IS_GONE },
      says: `It was killed after a timeout of ${HANG_SECONDS} s`,
    },
  ]) {
    test(it, () => {
      const { exitCode, output } = runOver(files, `--timeout-ms=${HANG_SECONDS * 1000}`);
      equal(output.includes(says), true, output);
      equal(exitCode, 1);
      match(output, /^ok +b\.own\.test\.ts/m);
    });
  }

  test("a process that a passing file leaves running is killed", () => {
    const { output, exitCode } = runOver({
      "a.own.test.js": `${IMPORTS} test("forgets", () => { ${STARTS} child.unref(); });`,
      "b.own.test.js": IS_GONE,
    });
    match(output, /^ok +b\.own\.test\.ts/m);
    equal(exitCode, 0);
  });
});

test("the output of a file is printed only if one of its tests failed", () => {
  const { output } = runOver({
    "a.own.test.js": `console.log("quiet, please"); ${PASSES}`,
    "b.own.test.js": `console.log("see here"); ${FAILS}`,
  });
  match(output, /Output of b\.own\.test\.ts:\n +see here/);
  doesNotMatch(output, /quiet, please/);
});

describe("a planted secret in any output of a file fails the run, which names the place", () => {
  const secret = JSON.stringify(PLANTED.password);
  const ROWS = [
    {
      it: "printed",
      text: `${PASSES} console.log("one"); console.log("two " + ${secret} + " three");`,
      says: /line 2 of its standard output contains the planted password/,
    },
    {
      it: "printed as an error",
      text: `${PASSES} process.stderr.write(${secret});`,
      says: /line 1 of its standard error contains the planted password/,
    },
    {
      it: "printed in two pieces",
      text: `${PASSES} const text = ${secret}; process.stdout.write(text.slice(0, 9)); setTimeout(() => process.stdout.write(text.slice(9)), 20);`,
      says: /line 1 of its standard output contains the planted password/,
    },
    { it: "printed as base64", text: `${PASSES} console.log(btoa("user:" + ${secret} + "@host"));`, says: /contains the planted password/ },
    {
      it: "printed before much else",
      text: `${PASSES} console.log(${secret}); console.log(("x".repeat(99) + "\\n").repeat(5000));`,
      says: /line 1 of its standard output contains the planted password/,
    },
    {
      it: "thrown",
      text: `import { test } from "node:test"; test("throws", () => { throw new Error("it is " + ${secret}); });`,
      says: /the report on "throws" contains the planted password/,
    },
    {
      it: "remarked",
      text: `import { test } from "node:test"; test("logs", (t) => { t.diagnostic(${secret}); });`,
      says: /the report on the run contains the planted password/,
    },
  ];
  for (const { it, text, says } of ROWS) {
    test(it, () => {
      for (const name of ["a.own.test.js", "a.test.js"]) {
        const { exitCode, output, lastLine } = runOver({ [name]: text, "b.own.test.js": PASSES });
        match(output, says);
        match(lastLine ?? "", /^\d passed, [12] failed, 0 skipped$/);
        equal(exitCode, 1);
      }
    });
  }
  test("a similar text is not taken for the secret", () => {
    const text = `${PASSES} console.log(${JSON.stringify(PLANTED.password.slice(0, -1))});`;
    equal(runOver({ "a.own.test.js": text }).exitCode, 0);
  });
});

test("a run without any executed test fails", () => {
  for (const files of [{}, { "a.test.js": `import { test } from "node:test"; test("x", { skip: "never" }, () => {});` }]) {
    const { exitCode, output, lastLine } = runOver(files);
    match(output, /No test was executed/);
    match(lastLine ?? "", /^0 passed, 0 failed, \d skipped$/);
    equal(exitCode, 1);
  }
});

test("patterns select files by substrings of their names", () => {
  const files = { "src/base/a.test.js": PASSES, "src/store/b.test.js": FAILS, "src/store/c.own.test.js": FAILS };
  equal(runOver(files, "base/").lastLine, "1 passed, 0 failed, 0 skipped");
  equal(runOver(files, "./src/store/c.own.test.ts").lastLine, "0 passed, 1 failed, 0 skipped");
  equal(runOver(files, "nothing-like-it").exitCode, 1);
});

describe("a file that failed is rerun alone after all others", () => {
  /** Fails in its first run and passes in the second: each run leaves a marker file. */
  const failsOnce = (name: string) => `import { test } from "node:test"; import { existsSync, writeFileSync } from "node:fs";
    test("settles", () => {
      const mark = new URL("${name}.mark", import.meta.url);
      if (existsSync(mark)) return;
      writeFileSync(mark, "");
      console.log("output of the first run");
      throw new Error("first run");
    });`;

  for (const kind of ["own.test", "machine.own.test", "test"]) {
    test(`*.${kind}.ts: if it then passes, the run passes and lists it as flaky with the output of its first run`, () => {
      const { exitCode, output, lastLine } = runOver({ [`a.${kind}.js`]: failsOnce("a"), "b.own.test.js": PASSES, "c.test.js": PASSES });
      equal(lastLine, "3 passed, 0 failed, 0 skipped", output);
      equal(exitCode, 0);
      match(output, new RegExp(`^flaky: 1 of the files .*\n +a\\.${kind}\\.ts\n`, "m"));
      match(output, new RegExp(`^flaky a\\.${kind}\\.ts: settles\n +Error: first run[^]*output of the first run`, "m"));
    });
  }

  test("if it fails again, the run fails, and the failure counts once", () => {
    const { exitCode, output, lastLine } = runOver({ "a.own.test.js": FAILS, "b.test.js": FAILS, "c.test.js": PASSES });
    equal(lastLine, "1 passed, 2 failed, 0 skipped");
    equal(exitCode, 1);
    doesNotMatch(output, /^flaky/m);
  });

  test("more than five flaky files fail the run", () => {
    const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}.own.test.js`, failsOnce(`f${i}`)]));
    deepEqual([runOver(files(5)).exitCode, runOver(files(6)).exitCode], [0, 1]);
  });

  test("a shared process that crashed once is rerun as a whole, and is one flaky entry", () => {
    const crashesOnce = `import { test } from "node:test"; import { existsSync, writeFileSync } from "node:fs";
      test("crashes", () => {
        const mark = new URL("crash.mark", import.meta.url);
        if (existsSync(mark)) return;
        writeFileSync(mark, "");
        process.kill(process.pid, "SIGKILL");
      });`;
    const { exitCode, output, lastLine } = runOver({ "a.test.js": crashesOnce, "b.test.js": PASSES, "c.test.js": PASSES });
    equal(lastLine, "3 passed, 0 failed, 0 skipped", output);
    equal(exitCode, 0);
    match(output, /^flaky: 1 of the files .*\n +the shared process\n/m);
  });

  test("--repeat runs each file that many times, and every failure counts", () => {
    const { exitCode, output, lastLine } = runOver({ "a.own.test.js": failsOnce("a"), "b.test.js": PASSES }, "--repeat", "3");
    equal(lastLine, "5 passed, 1 failed, 0 skipped", output);
    equal(exitCode, 1);
    match(output, /^a\.own\.test\.ts failed in 1 of 3 runs$/m);
  });
});

test("--disturb stops processes of the run, detached ones included, and resumes them", { skip: process.platform !== "linux" }, () => {
  // The child exits after it has noticed a pause, so the file passes only if a stop reached it.
  const notices = `let last = performance.now(); setInterval(() => {
    const now = performance.now();
    if (now - last > 150) process.exit(0);
    last = now;
  }, 5);`;
  const text = `import { test } from "node:test"; import { spawn } from "node:child_process"; import { once } from "node:events";
    test("is stopped", async () => { await once(spawn(process.execPath, ["-e", ${JSON.stringify(notices)}], { detached: true }), "exit"); });`;
  const { lastLine, output } = runOver({ "a.own.test.js": text }, "--disturb", "--timeout-ms=120000");
  equal(lastLine, "1 passed, 0 failed, 0 skipped", output);
  match(output, /^Processes were stopped [1-9]\d* times$/m);
});

test("the 20 slowest files are listed, slowest first", () => {
  const takes = (ms: number) =>
    `import { test } from "node:test"; test("x", async () => { await new Promise((r) => setTimeout(r, ${ms})); });`;
  const files = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`f${i}.test.js`, takes(i === 7 ? 500 : 0)]));
  match(runOver(files).output, /The 20 slowest files, with their processor time:\n +[\d.]+ m?s {8}- {2}f7\.test\.ts\n/);
});

test(
  "the processor time of a file with its own process includes that of its child processes",
  { skip: process.platform !== "linux" },
  () => {
    const uses = (ms: number) => `const end = process.cpuUsage().user + ${ms} * 1000; while (process.cpuUsage().user < end);`;
    const text = `import { test } from "node:test"; import { spawnSync } from "node:child_process";
    test("x", () => { spawnSync(process.execPath, ["-e", ${JSON.stringify(uses(CHILD_MS))}]); });`;
    const { output } = runOver({ "a.own.test.js": text }, "--timeout-ms=120000");
    const [, number = "", unit] = /^ok +a\.own\.test\.ts +1 passed .*, processor ([\d.]+) (ms|s)$/m.exec(output) ?? [];
    ok(Number(number) * (unit === "s" ? 1_000 : 1) >= CHILD_MS, output);
  },
);

/** More than the test process itself uses. */
const CHILD_MS = 400;

test("--since with an unknown revision: exit code 2 and git's reason", () => {
  const { exitCode, output } = runOver({ "a.test.js": PASSES }, "--since", "no-such-revision");
  equal(exitCode, 2);
  match(output, /Cannot list what changed since "no-such-revision": /);
});

test("--torture and --seed are passed to the tests, and the seed is printed", () => {
  const text = `import { test } from "node:test"; import { deepEqual } from "node:assert/strict";
    test("x", () => deepEqual([process.env.K8TS_TORTURE, process.env.K8TS_SEED], ["1", "42"]));`;
  const { output, lastLine } = runOver({ "a.test.js": text, "b.own.test.js": text }, "--torture", "--seed=42");
  equal(lastLine, "2 passed, 0 failed, 0 skipped");
  match(output, /seed 42/);
});

test("invalid flags are all reported, with exit code 2", () => {
  const { exitCode, output } = runOver({}, "--seed=x", "--frob");
  deepEqual([exitCode, output.split("\n").slice(0, 2)], [2, ['--seed must be a whole number, is "x"', 'Unknown flag "--frob"']]);
});

test("a signal ends the run and the running file, with exit code 130", async () => {
  const text = `import { test } from "node:test"; test("waits", async () => { await new Promise((r) => setTimeout(r, 1e8)); });`;
  await withFiles({ "a.own.test.js": PASSES, "b.own.test.js": text, "c.own.test.js": PASSES }, async (directory) => {
    const runner = spawn(process.execPath, [RUNNER, `--directory=${directory}`, "--lanes=1"], { stdio: ["ignore", "pipe", "inherit"] });
    const lines: string[] = [];
    for await (const line of createInterface({ input: runner.stdout })) {
      lines.push(line);
      if (line.startsWith("ok")) runner.kill("SIGINT");
    }
    if (runner.exitCode === null) await once(runner, "exit");
    deepEqual([runner.exitCode, lines.includes("Interrupted by a signal")], [130, true]);
    equal(
      lines.some((line) => line.includes("c.own.test.ts")),
      false,
    );
  });
});

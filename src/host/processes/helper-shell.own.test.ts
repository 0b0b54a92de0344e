import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { runInHelperShell } from "./helper-shell.ts";

const HARD_WORDS = ["", " two  blanks ", "$HOME `id` \"quoted\" 'single' \\n", "-n", "ünïcödé", "*", "\u0001", "a\ttab"];

test("arguments are passed unchanged, also with line breaks", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-shell-"));
  context.after(() => rm(directory, { recursive: true }));
  for (const [index, words] of [HARD_WORDS, [...HARD_WORDS, "line\nbreak\n"]].entries()) {
    const file = join(directory, String(index));
    await runInHelperShell(
      process.execPath,
      "-e",
      "fs.writeFileSync(process.argv[1], JSON.stringify(process.argv.slice(2)))",
      "--",
      file,
      ...words,
    );
    deepEqual(JSON.parse(await readFile(file, "utf8")), words);
  }
});

test("a program that fails is reported with its exit code and output", async () => {
  await rejects(runInHelperShell("sh", "-c", "echo one; echo two >&2; exit 3"), {
    message: /^Cannot run sh -c .*: it exited with code 3: one\ntwo$/,
  });
  await rejects(runInHelperShell("k8ts-there-is-no-such-program"), /exited with code 127/);
});

test("concurrent programs get their own results", async () => {
  const codes = Array.from({ length: 50 }, (_, index) => index % 5);
  const ends = await Promise.allSettled(codes.map((code, index) => runInHelperShell("sh", "-c", `cat; echo ${index}; exit ${code}`)));
  for (const [index, end] of ends.entries()) {
    equal(end.status, codes[index] === 0 ? "fulfilled" : "rejected");
    if (end.status === "rejected") match((end.reason as Error).message, new RegExp(`: ${index}$`));
  }
});

test("when the shell dies the pending program is rejected, and the next one runs", async () => {
  await rejects(runInHelperShell("sh", "-c", 'kill -KILL "$PPID"'), /the helper shell has exited/);
  await runInHelperShell("true");
});

test(
  "a process that has used the helper shell exits by itself, and the shell with it, also after SIGKILL",
  { timeout: 60_000 },
  async () => {
    const module = new URL("./helper-shell.js", import.meta.url).href;
    const use = `import { runInHelperShell } from ${JSON.stringify(module)}; import { readFileSync } from "node:fs";
    await runInHelperShell("true");
    console.log(readFileSync("/proc/self/task/" + process.pid + "/children", "utf8").trim());`;
    for (const end of ["", "process.kill(process.pid, 'SIGKILL');"]) {
      const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", `${use} ${end}`]);
      const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
      const pid = stdout.trim();
      match(pid, /^\d+$/);
      // It reads the end of its input; there is no event for its exit.
      while ((await readdir("/proc")).includes(pid) && !(await isZombie(pid))) await new Promise(setImmediate);
    }
  },
);

async function isZombie(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "0 (gone) X ");
  return /\) [ZX] /.test(stat);
}

import { deepEqual, equal } from "node:assert/strict";
import { appendFileSync, mkdtempSync, openSync, closeSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { formatHuman } from "../../base/logger.ts";
import { openLogFile, rotateLogs } from "./rotating-log.ts";

function aDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-log-"));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

const contents = (directory: string) =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]));

test("each start has its own log file, and three are kept", (context) => {
  const directory = aDirectory(context);
  const path = join(directory, "k8ts.log");
  for (const start of [1, 2, 3, 4]) {
    rotateLogs(path);
    using log = openLogFile(path, formatHuman);
    log.write(`start ${start}`);
  }
  deepEqual(contents(directory), { "k8ts.log": "start 4\n", "k8ts.1.log": "start 3\n", "k8ts.2.log": "start 2\n" });
  equal(statSync(path).mode & 0o777, 0o600);
});

test("a log file that grows too large is truncated in place, so that other writers continue", (context) => {
  const directory = aDirectory(context);
  const path = join(directory, "k8ts.log");
  using log = openLogFile(path, formatHuman, { sizeBytesMax: 10 });
  const other = openSync(path, "a");
  context.after(() => closeSync(other));

  log.write("0123456789");
  appendFileSync(other, "other\n");
  log.sink({ timeMs: 0, level: "info", sentence: "x", fields: {} });
  appendFileSync(other, "last\n");

  deepEqual(contents(directory), {
    "k8ts.log": "last\n",
    "k8ts.1.log": "other\n1970-01-01T00:00:00.000Z INFO  x\n",
    "k8ts.2.log": "0123456789\n",
  });
});

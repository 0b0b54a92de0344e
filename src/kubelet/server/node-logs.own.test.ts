/** Node logs over the kubelet's server, from a directory with untrusted contents. */
import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileTree } from "../../host/files/file-tree.ts";
import { aKubelet, serve, type Served } from "./testing/served.ts";

const MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT";

describe("/logs/ of a kubelet", () => {
  let root = "";
  let served: Served;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "k8ts-node-logs-"));
    const logs = join(root, "log");
    await mkdir(join(logs, "pods"), { recursive: true });
    await writeFile(join(root, "secret"), "the secret");
    await writeFile(join(logs, "syslog"), "0123456789\n");
    await writeFile(join(logs, "page.html"), "<script>alert(1)</script>");
    await writeFile(join(logs, "a&b<c>.log"), "x");
    await writeFile(join(logs, "pods", "inner.log"), "inner\n");
    await symlink(join(root, "secret"), join(logs, "outside"));
    await symlink("syslog", join(logs, "inside"));
    await symlink(root, join(logs, "up"));
    execFileSync("mkfifo", [join(logs, "fifo")]);
    for (const name of ["syslog", ""]) await utimes(join(logs, name), new Date(MODIFIED), new Date(MODIFIED));
    served = await serve(aKubelet(), { nodeLogs: fileTree(logs) });
  });
  after(async () => {
    await served[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });

  async function get(path: string, headers: Readonly<Record<string, string>> = {}) {
    const answer = await served.open(path, { headers });
    return { code: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
  }

  test("lists a directory as links, as Go's file server does", async () => {
    const { code, headers, body } = await get("/logs/");
    equal(code, 200);
    deepEqual([headers["content-type"], headers["last-modified"]], ["text/html; charset=utf-8", MODIFIED]);
    equal(
      body,
      '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n' +
        '<a href="a&amp;b%3Cc%3E.log">a&amp;b&lt;c&gt;.log</a>\n<a href="fifo">fifo</a>\n<a href="inside">inside</a>\n' +
        '<a href="outside">outside</a>\n<a href="page.html">page.html</a>\n<a href="pods/">pods/</a>\n<a href="syslog">syslog</a>\n' +
        '<a href="up">up</a>\n</pre>\n',
    );
  });

  test("sends a file whole or by range, and 304 if it is unchanged", async () => {
    const whole = await get("/logs/syslog");
    deepEqual([whole.code, whole.headers["content-type"], whole.body], [200, "text/plain; charset=utf-8", "0123456789\n"]);
    const part = await get("/logs/syslog", { range: "bytes=2-4" });
    deepEqual([part.code, part.headers["content-range"], part.body], [206, "bytes 2-4/11", "234"]);
    equal((await get("/logs/syslog", { range: "bytes=99-" })).code, 416);
    equal((await get("/logs/syslog", { "if-modified-since": MODIFIED })).code, 304);
    equal((await get("/logs/pods/inner.log")).body, "inner\n");
    equal((await get("/logs/inside")).body, "0123456789\n");
  });

  test("never serves a file as HTML", async () => {
    const { headers } = await get("/logs/page.html");
    deepEqual([headers["content-type"], headers["x-content-type-options"]], ["text/plain; charset=utf-8", "nosniff"]);
  });

  for (const path of ["outside", "up/secret", "../secret", "%2e%2e/secret", "..%2fsecret", "fifo", "none", "syslog%00"])
    test(`/logs/${path} returns 404`, async () => {
      const { code, body } = await get(`/logs/${path}`);
      equal(code === 404 || code === 400, true, `${code}`);
      equal(body.includes("secret"), false);
    });

  test("redirects a directory without a trailing slash and a file with one", async () => {
    const [directory, file] = [await get("/logs/pods"), await get("/logs/syslog/")];
    deepEqual([directory.code, directory.headers["location"]], [301, "pods/"]);
    deepEqual([file.code, file.headers["location"]], [301, "../syslog"]);
  });

  test("returns 404 on a node without logs", async () => {
    await using bare = await serve(aKubelet());
    match((await bare.ask("/logs/")).body, /^404 page not found/);
  });
});

/** The examples of examples/test-control, each in its language, with one `k8ts up --test-control` as a user starts it. */
import { deepEqual, equal, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";

/** Much more than they need; a compiler without a cache is slow on a loaded machine. */
const TIMEOUT_MS = 180_000;

describe("test control of k8ts up", () => {
  const ends: (() => Promise<void>)[] = [];
  let machine: K8tsMachine;
  let directory: string;
  let environment: Record<string, string | undefined>;

  before(async () => {
    machine = await K8tsMachine.make({ after: (end) => void ends.push(end) });
    directory = await mkdtemp(join(tmpdir(), "k8ts-examples-"));
    await cp(join(packageDirectory(import.meta.dirname), "examples/test-control"), directory, { recursive: true });
    await machine.start(["up", "--test-control", "--virtual-time", "--simulated-nodes", "2", "--listen", "127.0.0.1:0"]);
    environment = { ...process.env, K8TS_TEST_CONTROL: join(machine.home(), "run/test-control.json") };
  });
  after(async () => {
    for (const end of ends) await end();
    await rm(directory, { recursive: true, force: true });
  });

  async function run(language: string, command: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> {
    const options = { cwd: join(directory, language), env: { ...environment, ...more }, timeout: TIMEOUT_MS };
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return `${stdout}${stderr}`;
  }

  test("`k8ts status` shows the URL, and only the owner can read the token", async () => {
    const file = environment["K8TS_TEST_CONTROL"] ?? "";
    const { url, token } = JSON.parse(await readFile(file, "utf8")) as { readonly url: string; readonly token: string };
    const { stdout } = await machine.k8ts("status");

    match(stdout, new RegExp(`test control: ${url}, virtual time, token in ${file}`));
    equal((await stat(file)).mode & 0o777, 0o600);
    equal(stdout.includes(token), false);
    const answers = await Promise.all(
      ["", token].map((given) => fetch(`${url}/v1/clusters`, { headers: { authorization: `Bearer ${given}` } })),
    );
    deepEqual(
      answers.map(({ status }) => status),
      [401, 200],
    );
  });

  test("the suite in Python passes", { ...needs("python3") }, async () => {
    const output = await run("python", toolPath("python3"), ["-m", "unittest", "-v"], { PYTHONDONTWRITEBYTECODE: "1" });
    match(output, /Ran 5 tests[^]*\nOK/);
  });

  test("the suite in Go passes", { ...needs("go") }, async () => {
    // Without dependencies and another toolchain nothing is downloaded; a cache of its own needs no home directory.
    const offline = { GOPROXY: "off", GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" };
    const cache = process.env["HOME"] === undefined ? { GOCACHE: join(directory, "cache") } : {};
    match(await run("go", toolPath("go"), ["test", "-vet=off", "-count=1", "./..."], { ...offline, ...cache }), /^ok\s/m);
  });

  test("the suite in Java passes", { ...needs("java") }, async () => {
    const javac = toolPath("java");
    await run("java", javac, ["-d", "out", "TestControl.java", "WebTest.java"]);
    const output = await run("java", join(dirname(javac), "java"), ["-cp", "out", "WebTest"]);
    equal(output.match(/^ok /gm)?.length, 4);
  });
});

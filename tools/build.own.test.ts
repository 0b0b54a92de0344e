import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import type { KubeObject } from "../src/api/machinery/object.ts";
import { silentLogger } from "../src/base/logger.ts";
import type { Client, ResourceKind } from "../src/client/client.ts";
import { httpsTransport } from "../src/client/https/https-transport.ts";
import { loadKubeconfig } from "../src/client/kubeconfig/load-kubeconfig.ts";
import { createClient } from "../src/client/rest-client.ts";
import { readWhole } from "../src/host/files/files.ts";
import { realClock } from "../src/host/real-clock.ts";
import { becomes } from "../src/testing/becomes.ts";
import { K8tsMachine } from "../src/testing/servers/k8ts-program.ts";
import type { StoreConfig } from "../src/config/store-config.ts";
import { startEtcd } from "../src/testing/servers/etcd-server.ts";
import { needs, toolPath } from "../src/testing/needs.ts";
import { packageDirectory } from "../src/testing/package-directory.ts";

const root = packageDirectory(import.meta.dirname);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };

function run(command: string, args: readonly string[], cwd: string): string {
  // The program may be a test, which must not attach to this test run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", env });
  equal(status, 0, `${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

/** The kind of examples/database-operator. */
const DATABASES: ResourceKind = {
  ...{ kind: "Database", plural: "databases", scope: "Namespaced" },
  storage: { group: "example.k8ts.dev", version: "v1" },
};

/** A client with the kubeconfig of a running cluster. Closed with the test. */
async function outsideClient(path: string, context: { after(end: () => Promise<void>): void }): Promise<Client> {
  const config = await loadKubeconfig({ environment: {}, readFile: readWhole, homeDirectory: "/", path });
  const transport = httpsTransport(config, { clock: realClock, log: silentLogger, userAgent: "a-test" });
  context.after(async () => transport[Symbol.asyncDispose]());
  return createClient(transport);
}

/** Documents whose TypeScript is type-checked, and run if it is a test. */
const DOCUMENTS = ["README", "docs/writing-controllers", "docs/client", "docs/testing", "docs/scheduler", "docs/nodes"];

/** The TypeScript blocks of a document by file name: given by the first line if that is a comment with a name. */
function codeOf(document: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(root, `${document}.md`), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  return new Map(blocks.map((code, index) => [/^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? `block-${index + 1}.ts`, code]));
}

/** A program of a user who installed the package; its argument is the store to use. */
const CONSUMER = `
import { startCluster, version, type Cluster, type ClusterOptions, type StoreConfig } from "k8ts";
import { createClient, isReason } from "k8ts/client";
import { defineController, itself, onChange, startOperator, watch } from "k8ts/controllers";
import { configMaps, namespaces as namespaceKind, type coreV1 } from "k8ts/kinds";
import { seededRandom, startCluster as startTestCluster, virtualClock, type VirtualClock } from "k8ts/testing";

let operator: ReturnType<typeof startOperator> | undefined;
const store: StoreConfig = JSON.parse(process.argv[2] ?? "");
const options: ClusterOptions = { store };
const cluster: Cluster = await startCluster(options);
// @ts-expect-error: the declarations are read, and not taken for any.
const wrong: ClusterOptions = { store: { driver: "paper" } };
const clock: VirtualClock = virtualClock();
const other = await startTestCluster({ clock });
await clock.advance(60_000);
await other.close();
const namespaces = await cluster.transport({ userAgent: "stranger" }).request({ verb: "list", group: "", version: "v1", plural: "namespaces" });
if (namespaces.is !== "list") throw new Error("a list is answered with a list");
console.log(namespaces.items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith("shop-")).join());
const transport = cluster.transport({ userAgent: "stranger" });
const client = createClient(transport);
const missing = await client.get(configMaps, { namespace: "default", name: "none" }).catch((error) => isReason(error, "NotFound"));
const seen = new Promise<coreV1.Namespace>((resolve) => {
  const controller = defineController({
    name: "stranger", account: "stranger", rules: [], watches: [watch(namespaceKind, itself)],
    async reconcile({ name }, { read }) {
      const found = read.get(namespaceKind, { name });
      if (found !== undefined && name.startsWith("shop-")) resolve(found);
      return onChange;
    },
  });
  operator = startOperator({ controllers: [controller], transport });
});
await operator?.started;
await client.create(namespaceKind, { apiVersion: "v1", kind: "Namespace", metadata: { generateName: "shop-" } });
console.log(missing, (await seen).metadata.generateName);
await operator?.stop();
console.log(version, cluster.parts.map(({ name }) => name).join(), typeof client, seededRandom(1).below(1), typeof wrong);
await cluster[Symbol.asyncDispose]();
`;

describe("the packed package, used by a consumer", () => {
  const directory = mkdtempSync(join(root, ".cache/package-"));
  const consumer = join(directory, "consumer");
  const installed = join(consumer, "node_modules/k8ts");
  after(() => rmSync(directory, { recursive: true }));

  before(() => {
    run(process.execPath, ["tools/build.mjs", join(directory, "dist")], root);
    copyFileSync(join(root, "package.json"), join(directory, "package.json"));
    const tarball = run("npm", ["pack", "--ignore-scripts", "--loglevel=error"], directory).trim();
    mkdirSync(installed, { recursive: true });
    run("tar", ["-xzf", join(directory, tarball), "--strip-components=1", "-C", installed], consumer);
    // The only package that is not bundled.
    symlinkSync(join(root, "node_modules/lmdb"), join(consumer, "node_modules/lmdb"));
    writeFileSync(join(consumer, "package.json"), `{ "type": "module" }`);
    writeFileSync(join(consumer, "program.ts"), CONSUMER);
  });

  const k8ts = (...args: readonly string[]) => run(process.execPath, [join(installed, "dist/k8ts.js"), ...args], consumer);

  test("contains the command, its entry points, their declarations, and no test", () => {
    for (const file of [
      "k8ts.js",
      "index.js",
      "client.js",
      "testing.js",
      "types/main/index.d.ts",
      "types/client/https/index.d.ts",
      "types/main/controllers-entry.d.ts",
      "types/main/generated/kinds-entry.d.ts",
      "types/testing/index.d.ts",
      "browser/index.html",
      "browser/k8ts.js",
      "types/browser/index.d.ts",
    ]) {
      equal(existsSync(join(installed, "dist", file)), true, file);
    }
    equal(existsSync(join(installed, "dist/types/main/cluster.test.d.ts")), false);
  });

  test("contains an executable command that prints its version", () => {
    const launcher = join(installed, "dist/k8ts.js");
    equal(statSync(launcher).mode & 0o111, 0o111);
    equal(k8ts("--version"), `k8ts ${manifest.version}\n`);
    match(k8ts("--help"), /^ {2}up /m);
    match(k8ts("up", "--help"), /--data-dir DIRECTORY/);
  });

  test("contains a command that starts Node with a larger young generation, also through a link, in folders with spaces", () => {
    const folder = join(directory, "a folder's bin");
    mkdirSync(folder);
    symlinkSync(join(installed, "dist/k8ts.js"), join(folder, "k8ts"));
    const print = "data:text/javascript,console.log(process.execArgv.join())";
    for (const { more, shown } of [
      { more: "", shown: "--max-semi-space-size=64" },
      { more: " --max-semi-space-size=16", shown: "" },
    ]) {
      const environment = { ...process.env, NODE_OPTIONS: `--import=${print}${more}` };
      const { stdout, stderr, status } = spawnSync(join(folder, "k8ts"), ["--version"], { encoding: "utf8", env: environment });
      deepEqual([stdout, stderr, status], [`${shown}\nk8ts ${manifest.version}\n`, "", 0]);
    }
  });

  test("contains `up` as a script: it starts, keeps its compiled code beside the script, and starts with that again", async (context) => {
    const dist = join(installed, "dist");
    const caches = () => readdirSync(dist).filter((file) => file.endsWith(".cache"));
    for (const kept of [0, 1]) {
      equal(caches().length, kept);
      const home = join(directory, `home-${kept}`);
      const environment = { ...process.env, HOME: home, XDG_DATA_HOME: home, KUBECONFIG: join(home, "kubeconfig") };
      const words = ["up", "--in-memory", "--simulated-nodes", "1", "--listen", "127.0.0.1:0"];
      const child = spawn(process.execPath, [join(dist, "k8ts.js"), ...words], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
      context.after(() => child.kill());
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (line === "Ctrl-C stops it") child.kill("SIGTERM");
      }
      match(lines.at(-1) ?? "", /stopped cluster/);
    }
    equal(caches().length, 1);
    match(k8ts("up", "--help"), /--data-dir DIRECTORY/);
  });

  test("contains the licences of bundled packages", () => {
    const licences = readFileSync(join(installed, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    match(licences, /^sorted-btree \d/m);
    // Of the page of the dashboard.
    match(licences, /^preact \d/m);
  });

  for (const moduleResolution of ["nodenext", "bundler"]) {
    test(`matches the types of a consumer (moduleResolution ${moduleResolution})`, () => {
      const compilerOptions = {
        target: "es2022",
        module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
        moduleResolution,
        strict: true,
        skipLibCheck: false,
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")],
        outDir: "out",
      };
      writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }));
      equal(run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", consumer], consumer), "");
    });
  }

  const runProgram = (store: StoreConfig) => run(process.execPath, [join(consumer, "out/program.js"), JSON.stringify(store)], consumer);
  const WORKS = [
    "default,kube-node-lease,kube-public,kube-system",
    "true shop-",
    `${manifest.version} store,API server,controllers,scheduler,nodes object 0 object`,
    "",
  ].join("\n");

  test("runs a consumer's program with a memory store", () => equal(runProgram({ driver: "memory" }), WORKS));

  test("runs a consumer's program with an embedded store, repeatedly", () => {
    for (let time = 0; time < 2; time++) equal(runProgram({ driver: "embedded", dataDirectory: join(directory, "data") }), WORKS);
  });

  test("runs a consumer's program with an etcd store", { ...needs("etcd") }, async () => {
    await using etcd = await startEtcd();
    equal(runProgram({ driver: "etcd", servers: etcd.endpoints }), WORKS);
  });

  const typescript = join(root, "node_modules/typescript/bin/tsc");
  const typeRoots = join(root, "node_modules/@types");

  /** Compiles the project in a folder of the consumer with its own tsconfig.json. */
  function compileProject(folder: string): string {
    const project = join(consumer, folder);
    equal(run(process.execPath, [typescript, "-p", project, "--typeRoots", typeRoots], project), "");
    return project;
  }

  /** Compiles the project and runs its tests. */
  function checkProject(folder: string): void {
    const project = compileProject(folder);
    const files = readdirSync(join(project, "out"), { recursive: true, encoding: "utf8" });
    const tests = files.filter((file) => file.endsWith(".test.js"));
    equal(tests.length > 0, true, "there is a test");
    // In one process: starting one takes longer than most tests.
    const imports = tests.map((file) => `await import(${JSON.stringify(`./out/${file}`)});`);
    run(process.execPath, ["--input-type=module", "--eval", imports.join("\n")], project);
  }

  function copyExample(name: string, folder: string): void {
    const isSource = (path: string) => !/[/\\](node_modules|out)$/.test(path);
    cpSync(join(root, "examples", name), join(consumer, folder), { recursive: true, filter: isSource });
  }

  test("suffices for the example operator: it compiles, and its tests pass", () => {
    copyExample("operator", "operator");
    checkProject("operator");
    match(run(process.execPath, ["out/operator.js", "rbac"], join(consumer, "operator")), /"kind": "ClusterRole"/);
  });

  test("suffices for the example with custom resources and webhooks: its tests pass in one process with the cluster", () => {
    copyExample("database-operator", "database-operator");
    checkProject("database-operator");
  });

  test("the example with custom resources and webhooks runs as a program beside `k8ts up`", async (context) => {
    const machine = await K8tsMachine.make(context);
    await machine.start(["up", "--in-memory", "--simulated-nodes", "1", "--listen", "127.0.0.1:0"]);
    const client = await outsideClient(machine.kubeconfig, context);
    const environment = { ...process.env, KUBECONFIG: machine.kubeconfig };
    const operator = spawn(process.execPath, ["out/operator.js"], { cwd: join(consumer, "database-operator"), env: environment });
    context.after(() => operator.kill());
    const acting = createInterface({ input: operator.stderr });
    for await (const line of acting) if (line.includes("Acting")) break;
    const old: ResourceKind = { ...DATABASES, storage: { group: "example.k8ts.dev", version: "v1alpha1" } };

    const metadata = { namespace: "default", name: "orders" };
    await client.create(old, {
      apiVersion: "example.k8ts.dev/v1alpha1",
      kind: "Database",
      metadata,
      spec: { engine: "postgres:18", size: "1Gi" },
    } as KubeObject);

    const isReady = async () => /"type":"Ready","status":"True"/.test(JSON.stringify(await client.get(DATABASES, metadata)));
    await becomes(isReady, true);
    await client.delete(old, metadata);
    const isDeleted = async () => (await client.list(DATABASES)).items.length === 0;
    await becomes(isDeleted, true);
    operator.kill("SIGTERM");
    const [code] = (await once(operator, "exit")) as [number];
    equal(code, 0);
  });

  test("suffices for the code in the documents: it compiles, and its tests pass", () => {
    const project = join(consumer, "documents");
    const { compilerOptions } = JSON.parse(readFileSync(join(root, "examples/operator/tsconfig.json"), "utf8")) as Record<string, unknown>;
    for (const document of DOCUMENTS) {
      mkdirSync(join(project, document), { recursive: true });
      const code = codeOf(document);
      equal(code.size > 0, true, `${document} has code`);
      for (const [file, text] of code) writeFileSync(join(project, document, file), text);
    }
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    checkProject("documents");
  });

  test("has helpers for node:test: the example compiles, and its tests pass", () => {
    copyExample("testing/node-test", "node-test");
    checkProject("node-test");
  });

  /** A busy machine may exceed the 5 s timeout of both frameworks. */
  const RUNNER_TIMEOUT_MS = 60_000;

  /** Links a framework and its dependencies into the consumer, as if they were installed. */
  function installRunner(tool: "vitest" | "jest", ...packages: readonly string[]): string {
    const program = toolPath(tool);
    const modules = program.slice(0, program.lastIndexOf("node_modules") + "node_modules".length);
    for (const name of packages) symlinkSync(join(modules, name), join(consumer, "node_modules", name));
    return program;
  }

  test("has helpers for vitest: the example compiles, and its tests pass", { ...needs("vitest") }, () => {
    copyExample("testing/vitest", "vitest");
    const vitest = installRunner("vitest", "vitest");
    const project = compileProject("vitest");
    const timeouts = [`--testTimeout=${RUNNER_TIMEOUT_MS}`, `--hookTimeout=${RUNNER_TIMEOUT_MS}`];
    match(run(process.execPath, [vitest, "run", "web.test.ts", "--no-color", ...timeouts], project), /Tests {2}3 passed \(3\)/);
  });

  test("has helpers for jest: the example compiles, and its tests pass", { ...needs("jest") }, () => {
    copyExample("testing/jest", "jest");
    const jest = installRunner("jest", "jest", "@jest");
    const project = compileProject("jest");
    const outcome = run(
      process.execPath,
      ["--experimental-vm-modules", jest, "out", "--json", `--testTimeout=${RUNNER_TIMEOUT_MS}`],
      project,
    );
    equal((JSON.parse(outcome) as { readonly numPassedTests: number }).numPassedTests, 3);
  });
});

import { deepEqual, doesNotMatch, equal, match, rejects } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { apiServer as command } from "./apiserver.ts";
import { LAUNCHER } from "../../testing/servers/launcher.ts";

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "k8ts-apiserver-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Runs the command until `whileUp` has seen it listening. */
async function run(
  words: readonly string[],
  whileUp: (server: { readonly url: string; readonly kubeconfig: string }) => Promise<void>,
): Promise<string[]> {
  const parsed = command.parse(words, { HOME: "/nonexistent" });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const stop = new AbortController();
  const lines: string[] = [];
  let seen: Promise<void> | undefined;
  const out = (line: string) => {
    lines.push(line);
    const [, url] = /^listening on (.*)$/.exec(line) ?? [];
    if (url !== undefined)
      seen = whileUp({ url, kubeconfig: (lines[0] ?? "").replace("export KUBECONFIG=", "") }).finally(() => stop.abort());
  };
  await command.run(parsed.options, { out, note: out, environment: {}, clock: realClock, log: silentLogger, signal: stop.signal });
  await seen;
  return lines;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }];
  readonly "current-context": string;
}

async function readKubeconfig(path: string): Promise<Kubeconfig> {
  return JSON.parse(await readFile(path, "utf8")) as Kubeconfig;
}

/** As kubectl would ask, with what the kubeconfig says. */
async function ask(
  { clusters: [{ cluster }], users: [{ user }] }: Kubeconfig,
  path: string,
): Promise<{ readonly code: number | undefined; readonly body: string }> {
  const [ca, cert, key] = [cluster["certificate-authority-data"], user["client-certificate-data"], user["client-key-data"]].map((data) =>
    Buffer.from(data, "base64"),
  );
  const request = get(`${cluster.server}${path}`, { ca, cert, key, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of response) body += String(piece);
  return { code: response.statusCode, body };
}

test("`k8ts apiserver` writes a private kubeconfig, prints how to use it, listens, and stops when cancelled", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "kubeconfig");
  const lines = await run(["--secure-port", "0", "--data-dir", directory.path], async ({ url, kubeconfig }) => {
    equal(kubeconfig, file);
    equal((await stat(file)).mode & 0o777, 0o600);
    const config = await readKubeconfig(file);
    deepEqual([config.clusters[0].cluster.server, config["current-context"]], [url, "k8ts"]);
    const { subject } = new X509Certificate(Buffer.from(config.users[0].user["client-certificate-data"], "base64"));
    equal(subject, "O=system:masters\nCN=kubernetes-admin");
    const { code, body } = await ask(config, "/api/v1/namespaces/default");
    deepEqual([code, (JSON.parse(body) as { metadata: { name: string } }).metadata.name], [200, "default"]);
  });
  deepEqual(lines.length, 3);
  match(lines[1] ?? "", /^listening on https:\/\/127\.0\.0\.1:\d+$/);
  equal(lines[2], "Stopping");
});

test("the next start keeps CA and administrator, so that clients stay authenticated", async () => {
  await using directory = await temporaryDirectory();
  const seen: Kubeconfig[] = [];
  for (let start = 0; start < 2; start++) {
    await run(
      ["--secure-port", "0", "--data-dir", directory.path],
      async ({ kubeconfig }) => void seen.push(await readKubeconfig(kubeconfig)),
    );
  }
  const [first, second] = seen;
  equal(first?.clusters[0].cluster["certificate-authority-data"], second?.clusters[0].cluster["certificate-authority-data"]);
  deepEqual(first?.users, second?.users);
});

test("with a store in memory the kubeconfig is in a temporary directory, which is removed at exit", async () => {
  let file = "";
  await run(["--store", "memory", "--secure-port", "0"], async ({ kubeconfig }) => {
    file = kubeconfig;
    equal((await ask(await readKubeconfig(kubeconfig), "/api")).code, 200);
  });
  await rejects(stat(file), { code: "ENOENT" });
});

test("a port in use is reported with the port and the remedy", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  after(() => void other.close());
  await rejects(
    run(["--store", "memory", "--secure-port", String(port)], async () => {}),
    {
      name: "Error",
      message: new RegExp(
        `^Cannot listen on 127\\.0\\.0\\.1:${port}: process ${process.pid} \\(.*\\) already listens there; stop it, or choose another port with --secure-port \\(0 picks a free port\\)$`,
      ),
    },
  );
});

test("an address that this machine does not have is reported with the flag that sets it", () =>
  rejects(
    run(["--store", "memory", "--secure-port", "0", "--bind-address", "203.0.113.9"], async () => {}),
    { message: "Cannot listen on 203.0.113.9:0: this machine does not have that address; choose another with --bind-address" },
  ));

test("a data directory of a newer version is rejected and left unchanged", async () => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "k8ts.json"), '{"format":9,"name":"default"}');
  await rejects(
    run(["--secure-port", "0", "--data-dir", directory.path], async () => {}),
    /^Error: Cannot use .*: it was written by a newer version of k8ts \(format 9, /,
  );
  deepEqual(await readdir(directory.path), ["k8ts.json"]);
});

test("all problems of the flags are reported at once", () => {
  const parsed = command.parse(
    ["--secure-port", "x", "--bind-address", "10.0.0.1", "--tls-cert-file", "c", "--store", "memory", "--data-dir", "d"],
    {},
  );
  deepEqual(parsed.ok || parsed.problems, [
    '--secure-port must be an integer from 0 to 65535, is "x"',
    "--data-dir requires --store embedded, the store is memory",
    "--tls-cert-file and --tls-private-key-file must be set together",
  ]);
});

test("a data directory that cannot be created is reported with its path", async () => {
  await rejects(
    run(["--secure-port", "0", "--data-dir", "/proc/k8ts-none"], async () => {}),
    /^StoreError: .*\/proc\/k8ts-none/,
  );
});

test("all unusable files are reported at once, with exit code 2 and before anything is created", async () => {
  await using directory = await temporaryDirectory();
  const data = join(directory.path, "data");
  const tokens = join(directory.path, "tokens");
  await writeFile(tokens, "planted-elsewhere");
  const flags = [
    `--data-dir=${data}`,
    "--client-ca-file=/nope",
    `--token-auth-file=${tokens}`,
    "--oidc-issuer-url=https://issuer.example.com",
    "--oidc-client-id=me",
    "--oidc-ca-file=/nope3",
    // Both of a pair, and what is wrong with the flags themselves.
    "--tls-cert-file=/nope4",
    "--tls-private-key-file=/nope5",
    "--kubelet-client-key=/nope6",
    "--secure-port=x",
  ];

  const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, "apiserver", ...flags], { encoding: "utf8" });

  equal(status, 2);
  match(stderr, /Cannot read \/nope: the file does not exist; .*--client-ca-file/);
  match(stderr, /Cannot use .*tokens: .*at least 3 columns.*--token-auth-file/);
  match(stderr, /Cannot read \/nope3: .*--oidc-ca-file/);
  match(stderr, /^--secure-port must be an integer from 0 to 65535, is "x"\n--kubelet-client-certificate and --kubelet-client-key must be/);
  for (const file of ["/nope4", "/nope5", "/nope6"])
    equal(stderr.split(`Cannot read ${file}: the file does not exist; `).length, 2, stderr);
  doesNotMatch(stderr, /planted-elsewhere/);
  equal(existsSync(data), false);
});

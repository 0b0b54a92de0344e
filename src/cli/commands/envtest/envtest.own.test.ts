/** The executables of `k8ts envtest` are started as controller-runtime's envtest does it: same arguments, files, health checks and signals. */
import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { PURPOSE } from "../../../api/machinery/x509/extensions.ts";
import { freePort } from "../../../testing/servers/free-ports.ts";
import { becomes } from "../../../testing/becomes.ts";
import { testAuthority } from "../../../testing/fixtures/certificates.ts";
import { K8tsMachine } from "../../../testing/servers/k8ts-program.ts";

interface Started {
  readonly child: ChildProcess;
  readonly exit: Promise<readonly [code: number | null, stderr: string]>;
}

/** Ends with the test, whatever happens. */
function start(context: TestContext, file: string, args: readonly string[], environment: Record<string, string> = {}): Started {
  const child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env["PATH"] ?? "", ...environment } });
  const closed = once(child, "close") as Promise<[number | null]>;
  const stderr = text(child.stderr);
  context.after(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  return { child, exit: closed.then(async ([code]) => [code, await stderr] as const) };
}

interface Asked {
  readonly code: number;
  readonly body: string;
}

interface Credentials {
  readonly cert?: string;
  readonly key?: string;
}

/** Rejects if there is no response. */
async function ask(url: string, { method = "GET", body, ...tls }: Credentials & { method?: string; body?: object } = {}): Promise<Asked> {
  const make = url.startsWith("https") ? httpsRequest : httpRequest;
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const sent = make(url, { method, headers, agent: false, rejectUnauthorized: false, ...tls });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { code: answer.statusCode ?? 0, body: await text(answer) };
}

async function healthy(url: string): Promise<void> {
  await becomes<number | string>(() => ask(url).then(({ code }) => code, String), 200);
}

/** What envtest puts in --cert-dir: the serving certificate, the CA of its users and the key of service accounts. */
async function certificates(directory: string) {
  const [serving, users] = [testAuthority("envtest"), testAuthority("envtest-environment")];
  const pair = serving.sign("localhost", {
    alternativeNames: { dnsNames: ["localhost"], ipAddresses: [Uint8Array.of(127, 0, 0, 1)] },
    extendedKeyUsages: [PURPOSE.server],
  });
  const accounts = serving.sign("service-accounts");
  const files = {
    "apiserver.crt": pair.certificate,
    "apiserver.key": pair.key,
    "sa-signer.crt": accounts.certificate,
    "sa-signer.key": accounts.key,
    "client-cert-auth-ca.crt": users.certificate,
  };
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  const subject = { commonName: "admin", organizations: ["system:masters"] };
  const { certificate: cert, key } = users.sign("admin", { subject });
  const { certificate: janes, key: janesKey } = users.sign("jane");
  return { admin: { cert, key }, jane: { cert: janes, key: janesKey } };
}

function serverArguments(directory: string, port: number, etcdPort: number): readonly string[] {
  return [
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    `--cert-dir=${directory}`,
    `--client-ca-file=${join(directory, "client-cert-auth-ca.crt")}`,
    "--disable-admission-plugins=ServiceAccount",
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(directory, "sa-signer.crt")}`,
    `--service-account-signing-key-file=${join(directory, "sa-signer.key")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--feature-gates=Nothing=true",
  ];
}

const LIMIT = { timeout: 300_000 };

test("envtest's control plane starts, authenticates its users, and stops by SIGTERM", LIMIT, async (context) => {
  const machine = await K8tsMachine.make(context);
  const assets = join(machine.root, "assets");
  const written = await machine.k8ts("envtest", assets);
  equal(written.stdout, `export KUBEBUILDER_ASSETS=${assets}\n`);
  const [etcdPort, port] = [await freePort(), await freePort()];
  const directory = join(machine.root, "certificates");
  const { admin, jane } = await certificates(directory);

  const etcd = start(context, join(assets, "etcd"), [
    `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    `--data-dir=${machine.root}`,
    `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
    "--listen-peer-urls=http://127.0.0.1:0",
  ]);
  await healthy(`http://127.0.0.1:${etcdPort}/health`);
  const environment = { K8TS_ENVTEST_CONTROLLERS: "namespace-controller" };
  const server = start(context, join(assets, "kube-apiserver"), serverArguments(directory, port, etcdPort), environment);
  const url = `https://127.0.0.1:${port}`;
  await healthy(`${url}/healthz`);

  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "leaving" } };
  equal((await ask(`${url}/api/v1/namespaces`, { ...admin, method: "POST", body: namespace })).code, 201);
  equal((await ask(`${url}/api/v1/secrets`, jane)).code, 403);
  match((await ask(`${url}/api/v1/secrets`, jane)).body, /User \\"jane\\" cannot list resource/);
  await ask(`${url}/api/v1/namespaces/leaving`, { ...admin, method: "DELETE" });
  await becomes(async () => (await ask(`${url}/api/v1/namespaces/leaving`, admin)).code, 404);

  const second = start(context, join(assets, "kube-apiserver"), serverArguments(directory, port, etcdPort));
  const [code, stderr] = await second.exit;
  equal(code, 1);
  match(stderr, /Ignored flags of kube-apiserver: --feature-gates\n[^]*Cannot listen on 127\.0\.0\.1:/);
  server.child.kill("SIGTERM");
  etcd.child.kill("SIGTERM");
  const stopped = await Promise.all([server.exit, etcd.exit]);
  deepEqual(
    stopped.map(([exitCode]) => exitCode),
    [0, 0],
  );
});

test("envtest's etcd reports a port that is in use", LIMIT, async (context) => {
  const machine = await K8tsMachine.make(context);
  const assets = join(machine.root, "assets");
  await machine.k8ts("envtest", assets);
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  context.after(() => void holder.close());
  const { port } = holder.address() as AddressInfo;

  const [code, stderr] = await start(context, join(assets, "etcd"), ["--listen-client-urls", `http://127.0.0.1:${port}`]).exit;

  equal(code, 1);
  match(stderr, new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port}: .* already listens there`));
});

test("`k8ts envtest` replaces its own executables, links kubectl, and keeps those of others", LIMIT, async (context) => {
  const machine = await K8tsMachine.make(context);
  const [assets, programs] = [join(machine.root, "assets"), join(machine.root, "programs")];
  await mkdir(programs);
  await writeFile(join(programs, "kubectl"), "#!/bin/sh\n", { mode: 0o755 });
  machine.environment["PATH"] = `${programs}:${process.env["PATH"]}`;

  await machine.k8ts("envtest", assets);
  const again = await machine.k8ts("envtest", assets);
  await writeFile(join(assets, "etcd"), "a real one");
  const refused = await machine.k8ts("envtest", assets);

  equal(again.exitCode, 0);
  equal(await readlink(join(assets, "kubectl")), join(programs, "kubectl"));
  deepEqual([refused.exitCode, await readFile(join(assets, "etcd"), "utf8")], [1, "a real one"]);
  match(refused.stderr, /Cannot write .*etcd: another program is there; choose another directory, or remove the file/);
});

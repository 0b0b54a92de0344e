import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import { startProgram, type Program } from "../../host/processes/child-process.ts";
import { bridgeName, removeNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { startTestApiServer, type TestApiServer } from "../../testing/servers/api-server.ts";
import { sharedPki } from "../../testing/fixtures/certificates.ts";
import { startTestContainerd, type TestContainerd } from "../../testing/servers/containerd-server.ts";
import { needs } from "../../testing/needs.ts";
import { aRealPod, lineOf, SLEEP } from "../../testing/servers/real-cluster.ts";
import { kubeconfigText } from "../../components/api-server/kubeconfig.ts";
import { LAUNCHER } from "../../testing/servers/launcher.ts";

/** Starts it, and resolves with the first line that fits. Rejects if it ends before. */
async function startKubelet(words: readonly string[], says: RegExp): Promise<{ readonly program: Program; readonly line: string }> {
  let found: (line: string) => void = () => undefined;
  const said = new Promise<string>((resolve) => (found = resolve));
  const program = await startProgram({
    command: process.execPath,
    arguments: [LAUNCHER, "kubelet", ...words],
    onLine: (line) => void (says.test(line) && found(line)),
  });
  const ended = program.exited.then(({ code }): never => {
    throw new Error(`Expected k8ts kubelet to say ${says}, it ended with ${code}: ${program.output.join("\n")}`);
  });
  ended.catch(() => undefined);
  return { program, line: await Promise.race([said, ended]) };
}

async function fails(...words: readonly string[]): Promise<string> {
  const program = await startProgram({ command: process.execPath, arguments: [LAUNCHER, "kubelet", ...words] });
  const { code } = await program.exited;
  equal(code === 0, false);
  return program.output.join("\n");
}

describe("without a cluster", () => {
  let directory: string;
  before(async () => void (directory = await mkdtemp(join(tmpdir(), "k8ts-kubelet-"))));
  after(() => rm(directory, { recursive: true }));

  test("all problems of flags and file are reported at once", async () => {
    const file = join(directory, "kubelet.yaml");
    await writeFile(file, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPod: 3\nport: many\n");

    match(
      await fails("--prot=1", "--max-pods=0"),
      /Unknown flag "--prot"; did you mean --port\?\n--max-pods must be an integer of 1 or more/,
    );
    match(
      await fails(`--config=${file}`, "--tls-cert-file=a"),
      /kubelet\.yaml: Unknown or unsupported field "maxPod".*did you mean maxPods\?\n.*port must be a number, is "many"\n--tls-cert-file and/,
    );
    match(
      await fails(`--config=${file}`, "--max-pods=x", "--client-ca-file=/none/ca", "--kubeconfig=/none/kubeconfig"),
      /^--max-pods must be .*\n.*kubelet\.yaml: Unknown or unsupported field "maxPod".*\n.*port must be a number, is "many"\nCannot read \/none\/kubeconfig: the file does not exist; set --kubeconfig to a readable file\nCannot read \/none\/ca: the file does not exist; set --client-ca-file to a readable file\n/,
    );
    match(await fails("--config=/none/config"), /^Cannot read \/none\/config: the file does not exist; set --config to a readable file\n/);
  });

  test("a missing kubeconfig and an unresponsive container runtime are reported with the remedy", async () => {
    match(await fails(`--kubeconfig=${directory}/none`), /none/);
    const kubeconfig = join(directory, "kubeconfig");
    await writeFile(kubeconfig, await configFor("https://127.0.0.1:1"));

    match(
      await fails(`--kubeconfig=${kubeconfig}`, `--container-runtime-endpoint=unix://${directory}/none.sock`),
      /Cannot use the container runtime at unix:.*none\.sock: there is no such socket; start it, or choose another with --container-runtime-endpoint/,
    );
  });
});

async function configFor(server: string): Promise<string> {
  const pki = await sharedPki();
  return kubeconfigText({ server, user: "node", authority: pki.authority, ...pki.makeNodeCertificate("node-1", Date.now()) });
}

describe("on containerd", { ...needs("containerd", "cni", "busybox", "iptables", "kubectl") }, () => {
  let server: TestApiServer;
  let containerd: TestContainerd;
  let words: readonly string[];
  let kubelet: Awaited<ReturnType<typeof startKubelet>>;
  const ends = new Disposables();

  before(async () => {
    server = ends.use(await startTestApiServer({ api: { kubeletPreferredAddressTypes: ["InternalIP"] } }));
    containerd = ends.use(await startTestContainerd());
    const { directory } = containerd;
    // It has no network: the kubelet is to make one.
    for (const name of await readdir(containerd.cniConfigDirectory)) await rm(join(containerd.cniConfigDirectory, name));
    const network = {
      bridge: bridgeName({ name: "node-1", directory: join(directory, "kubelet") }),
      configDirectory: containerd.cniConfigDirectory,
    };
    ends.defer(() => removeNetwork({ ...network, addressDirectory: join(directory, "kubelet", "addresses") }));
    const [kubeconfig, authority, config] = ["kubelet.conf", "ca.crt", "kubelet.yaml"].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(kubeconfig, await configFor(server.url));
    await writeFile(authority, (await sharedPki()).authority);
    const configuration = {
      ...{ podLogsDir: join(directory, "logs"), cgroupRoot: containerd.cgroupParent, maxPods: 7, healthzPort: 0 },
      // The test does not depend on the free space of the machine.
      ...{ evictionHard: { "nodefs.available": "0%" }, imageGCHighThresholdPercent: 100 },
    };
    await writeFile(
      config,
      JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", ...configuration }),
    );
    words = [
      ...[`--kubeconfig=${kubeconfig}`, `--config=${config}`, `--client-ca-file=${authority}`, `--root-dir=${join(directory, "kubelet")}`],
      ...[`--container-runtime-endpoint=${containerd.endpoint}`, "--hostname-override=node-1", "--node-ip=127.0.0.1", "--port=0"],
      ...[`--pod-cidr=${containerd.podCidr}`, "--node-labels=disk=ssd", "--max-pods=9", "--register-with-taints=dedicated=db:NoSchedule"],
    ];
  });

  after(() => ends[Symbol.asyncDispose]());

  test("the kubelet waits for an unreachable API server, reports it, and can be stopped", async () => {
    const kubeconfig = join(containerd.directory, "nowhere.conf");
    await writeFile(kubeconfig, await configFor("https://127.0.0.1:1"));
    const waiting = [`--kubeconfig=${kubeconfig}`, ...words.slice(1)];

    const { program, line } = await startKubelet(waiting, /^waiting for /);
    program.signal("SIGTERM");

    match(line, /^waiting for the API server at https:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
    deepEqual(await program.exited, { code: 0, signal: null });
  });

  test("a port in use is reported with its process and the flag that sets it", async () => {
    const taken = createServer().listen(0, "0.0.0.0");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    try {
      match(
        await fails(...words.filter((word) => word !== "--port=0"), `--port=${port}`),
        new RegExp(
          `Cannot listen on 0\\.0\\.0\\.0:${port}: process ${process.pid} \\(.*\\) already listens there; stop it, or choose another port with --port`,
        ),
      );
    } finally {
      taken.close();
    }
  });

  test("the machine is registered as a node according to the flags, which override the file", async () => {
    kubelet = await startKubelet(words, /^registered node /);
    ends.use(kubelet.program);

    match(kubelet.line, /^registered node node-1 with https:.*, container runtime containerd \d\S* at unix:.*, listening on port \d+$/);
    const shown = "{.metadata.labels.disk} {.spec.taints[0].key} {.status.capacity.pods}";
    equal(await server.kubectl(`get node node-1 -o jsonpath='${shown}'`), "ssd dedicated 9");
  });

  test("requests without credentials are rejected, and authorized ones are served", async () => {
    const { "client-certificate-data": certificate = "", "client-key-data": key = "" } = await adminOf(server.kubeconfig);

    deepEqual(await ask(kubelet.line, {}), { code: 401, body: "Unauthorized" });
    deepEqual(await ask(kubelet.line, { cert: Buffer.from(certificate, "base64"), key: Buffer.from(key, "base64") }), {
      code: 200,
      body: "ok",
    });
    match(await readFile(join(containerd.directory, "kubelet", "pki", "kubelet.crt"), "utf8"), /BEGIN CERTIFICATE/);
  });

  test("/configz shows the effective configuration, with defaults", async () => {
    const { "client-certificate-data": certificate = "", "client-key-data": key = "" } = await adminOf(server.kubeconfig);
    const { body } = await ask(kubelet.line, { cert: Buffer.from(certificate, "base64"), key: Buffer.from(key, "base64") }, "/configz");
    const { kubeletconfig } = JSON.parse(body) as { readonly kubeletconfig: Readonly<Record<string, unknown>> };
    const {
      kind,
      port,
      maxPods,
      healthzPort,
      podLogsDir,
      containerLogMaxSize,
      registerWithTaints,
      containerRuntimeEndpoint,
      evictionHard,
    } = kubeletconfig;

    deepEqual(
      { kind, port, maxPods, healthzPort, podLogsDir, containerLogMaxSize, registerWithTaints, containerRuntimeEndpoint, evictionHard },
      {
        kind: "KubeletConfiguration",
        port: Number(/port (\d+)$/.exec(kubelet.line)?.[1]),
        maxPods: 9,
        healthzPort: 0,
        podLogsDir: join(containerd.directory, "logs"),
        containerLogMaxSize: "10Mi",
        registerWithTaints: [{ key: "dedicated", effect: "NoSchedule", value: "db" }],
        containerRuntimeEndpoint: containerd.endpoint,
        evictionHard: { "nodefs.available": "0%" },
      },
    );
  });

  test("a Pod keeps running when the kubelet is killed, and the next kubelet adopts it", async () => {
    const kubectl = await server.inNamespace("pods");
    await kubectl("wait --for=create serviceaccount/default --timeout=60s");
    await kubectl("apply -f -", {
      input: aRealPod("web", `echo hello; ${SLEEP}`, { nodeName: "node-1", automountServiceAccountToken: false }),
    });
    await kubectl("wait --for=condition=Ready pod/web --timeout=60s");
    // It is ready as soon as it runs, which is before it speaks.
    await lineOf(kubectl, "logs --follow web", /^hello$/);
    const first = JSON.parse(await kubectl("get pod web -o json")) as Pod;

    await kubelet.program[Symbol.asyncDispose]();
    kubelet = await startKubelet(words, /^registered node /);
    ends.use(kubelet.program);

    equal(await kubectl("logs web"), "hello\n");
    const second = JSON.parse(await kubectl("get pod web -o json")) as Pod;
    deepEqual(runOf(second), runOf(first));
    equal(runOf(second).restartCount, 0);
    equal(second.status?.podIP?.startsWith(containerd.podCidr.replace(/\d+\/24$/, "")), true);
    await kubectl("delete pod web");
  });

  test("the kubelet exits when it is cancelled", async () => {
    kubelet.program.signal("SIGTERM");

    deepEqual(await kubelet.program.exited, { code: 0, signal: null });
  });
});

function runOf({ status }: Pod) {
  const [main] = status?.containerStatuses ?? [];
  return { containerId: main?.containerID, restartCount: main?.restartCount, podIp: status?.podIP };
}

async function adminOf(kubeconfig: string): Promise<Readonly<Record<string, string>>> {
  const { users } = JSON.parse(await readFile(kubeconfig, "utf8")) as {
    readonly users: readonly [{ readonly user: Record<string, string> }];
  };
  return users[0].user;
}

async function ask(
  line: string,
  tls: { readonly cert?: Buffer; readonly key?: Buffer },
  path = "/healthz",
): Promise<{ readonly code: number; readonly body: string }> {
  const port = /port (\d+)$/.exec(line)?.[1];
  return new Promise((resolve, reject) => {
    const asked = request(`https://127.0.0.1:${port}${path}`, { ...tls, rejectUnauthorized: false, agent: false }, (answer) => {
      text(answer).then((body) => resolve({ code: answer.statusCode ?? 0, body: body.trim() }), reject);
    });
    asked.on("error", reject).end();
  });
}

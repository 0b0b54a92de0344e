/**
 * First light: `k8ts up`, and what a user does next with the real kubectl and real containers, in the order of a first hour. It ends with
 * Ctrl-C, after which nothing is left on the machine but files, and the next start continues with them. Not here: single fields of a Pod
 * (real-pods.machine.own.test.ts).
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { Pod, PodList } from "../../src/api/generated/core/v1.ts";
import { signalProcess } from "../../src/host/processes/detached-program.ts";
import { BUSYBOX_2 } from "../../src/testing/fixtures/busybox-image.ts";
import { calledProcess } from "../../src/testing/servers/called-process.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aConfigMap, aDeployment, aService } from "../../src/testing/clients/manifests.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  lineOf,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";

/** Serves /www and its own version. */
const SERVE = "mkdir -p /www && cp /version /www/ && httpd -f -p 8080 -h /www & wait $!";
const ROLLED_OUT = 'deployment "web" successfully rolled out\n';
/** Status of a Deployment: observed generation, replicas, updated replicas, available replicas. */
const COUNTS = '{.status.observedGeneration} {.status.replicas} {.status.updatedReplicas} {.status.availableReplicas}{"\\n"}';
/** Probes take long on a busy machine, and a ready Pod must stay ready. */
const PATIENT = { periodSeconds: 1, timeoutSeconds: 20 };
/** For Pods that survived a restart: conditions from before it do not count. */
const STARTED_AGAIN = "--for=jsonpath={.status.containerStatuses[0].restartCount}=1";
/** Default grace period of a Pod. */
const WHOLE_GRACE_MS = 30_000;
const MEGABYTES_5 = 5 * 1_024 * 1_024;

async function podsOf(kubectl: ClientProgram, selector: string): Promise<readonly Pod[]> {
  return (JSON.parse(await kubectl(`get pods -l ${selector} -o json`)) as PodList).items;
}

async function podOf(kubectl: ClientProgram, name: string): Promise<Pod> {
  return JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
}

/** Applies an object and waits until it is ready. */
async function runPod(kubectl: ClientProgram, pod: object): Promise<void> {
  await kubectl("apply -f -", { input: pod });
  await kubectl("wait --for=condition=Ready -f - --timeout=60s", { input: pod });
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("first light", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let nothing: readonly string[] = [];
  before(async () => {
    cluster = await startRealCluster();
    nothing = (await cluster.onMachine()).filter((one) => one.startsWith("link veth"));
  });

  after(() => cluster[Symbol.asyncDispose]());

  /** Leftovers of others may be removed at any time. */
  const left = async () => (await cluster.onMachine()).filter((one) => !nothing.includes(one));

  test("the machine is a node of the cluster, with its runtime", async () => {
    match(await cluster.kubectl("get nodes -o wide --no-headers"), /^\S+ +Ready .* containerd:\/\/\d+\.\d+\.\d+/);
  });

  describe("a Deployment", () => {
    let kubectl: ClientProgram;
    before(async () => {
      kubectl = await cluster.inNamespace("workloads");
    });

    test("a Deployment of three runs three containers", async () => {
      const containers = [aRealContainer("web", SERVE, { readinessProbe: { httpGet: { port: 8080, path: "/version" }, ...PATIENT } })];
      await kubectl("apply -f -", { input: aDeployment("web", { replicas: 3, containers }) });
      ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));

      const pods = await podsOf(kubectl, "app=web");
      equal(pods.length, 3);
      for (const { metadata } of pods)
        match(await kubectl(`exec ${metadata.name} -- ps`), /^PID .*\n +1 root +\{?sh\}? .*\n[^]* httpd -f -p 8080 -h \/www\n/);
    });

    test("a Deployment is scaled to ten and to zero", async () => {
      await kubectl("scale deployment/web --replicas=10");
      ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));
      const addresses = (await podsOf(kubectl, "app=web")).map(({ status }) => status?.podIP);
      equal(new Set(addresses).size, 10);

      await kubectl("scale deployment/web --replicas=0");
      await kubectl("wait --for=delete pods -l app=web --timeout=60s");
      deepEqual(await podsOf(kubectl, "app=web"), []);
      await kubectl("scale deployment/web --replicas=3");
      ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));
    });

    const versions = async (): Promise<readonly string[]> => {
      const staying = (await podsOf(kubectl, "app=web")).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return Promise.all(staying.map(({ metadata }) => kubectl(`exec ${metadata.name} -- wget -q -O - http://localhost:8080/version`)));
    };

    test("a Deployment rolls to another image without falling below its replicas, and back", async () => {
      await using watched = kubectl.start(`get deployment web --watch -o jsonpath='${COUNTS}'`);
      const before = await watched.line();
      await kubectl(`set image deployment/web web=${BUSYBOX_2}`);
      await kubectl("annotate deployment/web kubernetes.io/change-cause=second");
      const output = await kubectl("rollout status deployment/web --timeout=90s");
      ok(output.endsWith(ROLLED_OUT), output);
      const seen = [before];
      while (seen.at(-1) === before || !seen.at(-1)?.endsWith(" 3 3 3")) seen.push(await watched.line());
      deepEqual(
        seen.filter((line) => Number(line.split(" ")[3]) < 3),
        [],
      );
      deepEqual(await versions(), ["2\n", "2\n", "2\n"]);
      match(await kubectl("rollout history deployment/web"), /\n1 +<none>\n2 +second\n/);

      equal(await kubectl("rollout undo deployment/web"), "deployment.apps/web rolled back\n");
      ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));
      deepEqual(await versions(), ["1\n", "1\n", "1\n"]);
      match(await kubectl("rollout history deployment/web"), /\n2 +second\n3 +<none>\n/);
    });

    test("a Deployment whose new image cannot be pulled keeps its old Pods", async () => {
      await kubectl("set image deployment/web web=registry.invalid/none:1");
      await lineOf(kubectl, "get pods --watch --no-headers", / (ErrImagePull|ImagePullBackOff) /);
      await lineOf(kubectl, "get deployment web --watch --no-headers", /^web +3\/3 +1 +3 /);
      await kubectl("rollout undo deployment/web");
      ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));
    });
  });

  describe("a container", () => {
    let kubectl: ClientProgram;
    before(async () => {
      kubectl = await cluster.inNamespace("containers");
      // Logs every line that is written to its FIFO.
      const container = { readinessProbe: { exec: { command: ["test", "-p", "/tmp/mouth"] }, ...PATIENT } };
      await runPod(kubectl, aRealPod("talking", "mkfifo /tmp/mouth; while :; do cat /tmp/mouth & wait $!; done", { container }));
    });

    test("kubectl logs --follow streams a container's output line by line", async () => {
      await using following = kubectl.start("logs --follow talking");
      for (const word of ["one", "two", "three"]) {
        await kubectl(`exec talking -- sh -c 'echo ${word} > /tmp/mouth'`);
        equal(await following.line(), word);
      }
      equal(await kubectl("logs talking --tail=2"), "two\nthree\n");
      match(await kubectl("logs talking --timestamps --tail=1"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three\n$/);
      equal(await kubectl("logs talking --limit-bytes=5"), "one\nt");
    });

    test("a killed container is restarted and counted, and kubectl logs --previous shows its last output", async () => {
      const seconds = 80_000 + (process.pid % 5_000);
      await runPod(kubectl, aRealPod("mortal", `echo life; exec sleep ${seconds}`, { terminationGracePeriodSeconds: 0 }));
      const victim = await calledProcess(`sleep ${seconds}`);

      signalProcess(victim, "SIGKILL");
      await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/mortal --timeout=60s");
      await kubectl("wait --for=condition=Ready pod/mortal --timeout=60s");
      await lineOf(kubectl, "logs --follow mortal", /^life$/);

      const [status] = (await podOf(kubectl, "mortal")).status?.containerStatuses ?? [];
      const { exitCode, reason, containerID } = status?.lastState?.terminated ?? {};
      deepEqual([exitCode, reason], [137, "Error"]);
      ok(containerID !== undefined && containerID !== status?.containerID);
      match(await kubectl("get pod mortal --no-headers"), /^mortal +1\/1 +Running +1 \(\w+ ago\) /);
      deepEqual([await kubectl("logs mortal --previous"), await kubectl("logs mortal")], ["life\n", "life\n"]);
      await kubectl("delete pod mortal");
    });

    test("kubectl exec runs commands with stdin and returns their exit code", async () => {
      equal(await kubectl("exec -i talking -- sh -c 'wc -c'", { input: "x".repeat(300_000) }), "300000\n");
      const { code, stdout, stderr } = await kubectl.run("exec talking -- sh -c 'echo out; echo err >&2; exit 3'");
      deepEqual([code, stdout], [3, "out\n"]);
      equal(stderr, "err\ncommand terminated with exit code 3\n");
      match(await kubectl.fails("exec talking -- nonsense"), /exec: "nonsense": executable file not found in \$PATH/);
    });

    test("kubectl exec -t allocates a terminal of the client's size", async () => {
      const inTerminal = cluster.program("/usr/bin/script");
      const command = `stty rows 33 cols 99; ${toolPath("kubectl")} --namespace=containers exec -it talking -- sh`;
      // Input and resize messages travel on different channels.
      const input = 'tty; until [ "$(stty size)" = "33 99" ]; do usleep 20000; done; stty size; exit 4\n';
      const { code, stdout } = await inTerminal.run(`-qec '${command}' /dev/null`, { input });
      match(stdout, /\/dev\/pts\/0\r\n33 99\r\n/);
      equal(code, 4);
    });

    test("kubectl attach connects to a running container", async () => {
      await runPod(
        kubectl,
        aRealPod("echo", "while read -r line; do echo you said $line; done; sleep 1d & wait $!", {
          container: { stdin: true, stdinOnce: true },
        }),
      );
      await using following = kubectl.start("logs --follow echo");
      const attached = kubectl.run("attach -i echo", { input: "hello\n" });
      equal(await following.line(), "you said hello");
      await kubectl("delete pod echo");
      match((await attached).stdout, /you said hello\n/);
    });

    test("kubectl cp copies files and directories into a container and back", async () => {
      const bytes = randomBytes(MEGABYTES_5);
      const [source, back] = [`${cluster.directory}/source`, `${cluster.directory}/back`];
      await mkdir(`${source}/deep`, { recursive: true });
      await writeFile(`${source}/deep/large`, bytes);
      await writeFile(`${source}/small`, "small\n");

      await kubectl(`cp ${source}/deep/large talking:/tmp/large`);
      equal(await kubectl("exec talking -- sha256sum /tmp/large"), `${digestOf(bytes)}  /tmp/large\n`);
      await kubectl(`cp talking:/tmp/large ${cluster.directory}/large`);
      equal(digestOf(await readFile(`${cluster.directory}/large`)), digestOf(bytes));

      await kubectl(`cp ${source} talking:/tmp/tree`);
      await kubectl(`cp talking:/tmp/tree ${back}`);
      equal(digestOf(await readFile(`${back}/deep/large`)), digestOf(bytes));
      equal(await readFile(`${back}/small`, "utf8"), "small\n");
    });
  });

  describe("the network", () => {
    let kubectl: ClientProgram;
    let digest = "";
    before(async () => {
      kubectl = await cluster.inNamespace("network");
      const large = "mkdir /www; dd if=/dev/urandom of=/www/large bs=1M count=5 2>/dev/null; echo inside > /www/page; cp /version /www/;";
      const pods = [
        // Reachable only from inside of the Pod.
        aRealPod("shy", `${large} httpd -f -p 127.0.0.1:8080 -h /www & wait $!`, {
          container: {
            readinessProbe: { exec: { command: ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/page"] }, ...PATIENT },
          },
        }),
        aRealPod("open", `${large} httpd -f -p 8080 -h /www & wait $!`, {
          container: { ports: [{ name: "http", containerPort: 8080 }], readinessProbe: { tcpSocket: { port: "http" }, ...PATIENT } },
        }),
      ];
      for (const pod of pods) await runPod(kubectl, pod);
      digest = (await kubectl("exec shy -- sha256sum /www/large")).split(" ")[0] ?? "";
    });

    test("Pods reach each other, and the node reaches them", async () => {
      const address = (await podOf(kubectl, "open")).status?.podIP;
      equal(await kubectl(`exec shy -- wget -q -O - http://${address}:8080/page`), "inside\n");
      equal(await (await fetch(`http://${address}:8080/page`)).text(), "inside\n");
    });

    test("a Pod reaches the node", async () => {
      const address = (await podOf(kubectl, "open")).status?.hostIP;
      match(await kubectl(`exec open -- ping -c 1 ${address}`), / 0% packet loss/);
    });

    for (const { what, target } of [
      { what: "a Pod that listens on loopback only", target: "pod/shy :8080" },
      { what: "a named port", target: "pod/open :http" },
    ]) {
      test(`kubectl port-forward forwards a local port to ${what}, for many connections at once`, async () => {
        await using forwarding = kubectl.start(`port-forward ${target}`);
        const [, port] = /^Forwarding from 127\.0\.0\.1:(\d+) -> 8080$/.exec(await forwarding.line()) ?? [];
        const get = async (path: string) => new Uint8Array(await (await fetch(`http://127.0.0.1:${port}${path}`)).arrayBuffer());
        const all = await Promise.all([...Array<string>(8).fill("/page"), "/large", "/large"].map(get));
        for (const page of all.slice(0, 8)) equal(new TextDecoder().decode(page), "inside\n");
        if (target.includes("shy")) for (const large of all.slice(8)) equal(digestOf(large), digest);
        equal(all[9]?.length, MEGABYTES_5);
      });
    }

    test("the API server proxies to Pods, Services and the node", async () => {
      await kubectl("apply -f -", { input: aService("open", { ports: [{ name: "web", port: 80, targetPort: "http" }] }) });
      await lineOf(kubectl, "get endpointslices --watch --no-headers", /^open-\S+ +IPv4 +8080 +10\./);
      const raw = (path: string) => kubectl(`get --raw /api/v1/${path}`);
      equal(await raw("namespaces/network/pods/open:8080/proxy/page"), "inside\n");
      equal(await raw("namespaces/network/services/open:web/proxy/page"), "inside\n");
      equal(await raw("namespaces/network/services/http:open:80/proxy/page"), "inside\n");
      const node = (await podOf(kubectl, "open")).spec?.nodeName;
      const { items } = JSON.parse(await raw(`nodes/${node}/proxy/pods`)) as PodList;
      ok(items.some(({ metadata }) => metadata.name === "open"));
      match(
        await kubectl.fails("get --raw /api/v1/namespaces/network/pods/open:1/proxy/"),
        /error trying to reach service: dial tcp [\d.]+:1: connect: connection refused/,
      );
    });
  });

  test("a change of a ConfigMap appears atomically in the container", async () => {
    const kubectl = await cluster.inNamespace("settings");
    await kubectl("apply -f -", { input: aConfigMap("settings", { colour: "red", size: "1" }) });
    const volumes = [{ name: "settings", configMap: { name: "settings" } }];
    // Prints when the symlink that all files go through changes; it resolves the link once for both files, since the old target may be
    // removed meanwhile.
    const read = "now=$(cd -P /settings/..data && cat colour size)";
    const script = `while :; do if ${read} && [ "$now" != "$last" ]; then echo $now; last=$now; fi 2>/dev/null; usleep 50000; done`;
    await runPod(
      kubectl,
      aRealPod("reader", script, { container: { volumeMounts: [{ name: "settings", mountPath: "/settings" }] }, volumes }),
    );
    await using following = kubectl.start("logs --follow reader");
    equal(await following.line(), "red1");

    await kubectl("apply -f -", { input: aConfigMap("settings", { colour: "blue", size: "2" }) });
    equal(await following.line(), "blue2");
  });

  test("a deleted Pod receives SIGTERM, has its grace period, and can log its last lines", async () => {
    const kubectl = await cluster.inNamespace("goodbye");
    const script = "trap 'echo asked; sleep 1; echo goodbye; exit 0' TERM; echo hello; sleep 1d & wait $!";
    const lifecycle = { preStop: { exec: { command: ["sh", "-c", "echo before > /proc/1/fd/1"] } } };
    await runPod(kubectl, aRealPod("polite", script, { container: { lifecycle } }));
    await using following = kubectl.start("logs --follow polite");
    equal(await following.line(), "hello");

    const began = performance.now();
    await kubectl("delete pod polite");
    const tookMs = performance.now() - began;
    ok(tookMs > 1_000 && tookMs < WHOLE_GRACE_MS, `${tookMs}`);
    deepEqual(await following.rest(), ["before", "asked", "goodbye"]);
  });

  test("a Pod that ignores SIGTERM is killed after its grace period", async () => {
    const kubectl = await cluster.inNamespace("stubborn");
    await runPod(kubectl, aRealPod("deaf", "trap '' TERM; echo deaf; sleep 1d & wait $!", { terminationGracePeriodSeconds: 1 }));
    await lineOf(kubectl, "logs --follow deaf", /^deaf$/);
    const began = performance.now();
    await kubectl("delete pod deaf");
    const tookMs = performance.now() - began;
    ok(tookMs > 900 && tookMs < WHOLE_GRACE_MS, `${tookMs}`);
  });

  test("Ctrl-C leaves nothing on the machine but files, and the next start continues with them", async () => {
    const kubectl = cluster.kubectl.with("--namespace=workloads");
    const containers = cluster.kubectl.with("--namespace=containers");
    await containers(`debug talking --image=${BUSYBOX_2} --container=looking -- true`);
    await containers("wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=0 pod/talking --timeout=60s");
    const volumes = [{ name: "notes", emptyDir: {} }];
    const container = { volumeMounts: [{ name: "notes", mountPath: "/notes" }] };
    await runPod(containers, aRealPod("noting", SLEEP, { container, volumes }));
    await containers("exec noting -- sh -c 'echo kept > /notes/one'");
    const lives = "trap 'echo asked; exit 7' TERM; echo one life; sleep 1d & wait $!";
    await runPod(containers, aRealPod("once", lives, { restartPolicy: "Never" }));
    await lineOf(containers, "logs --follow once", /^one life$/);
    await containers("apply -f -", { input: aRealPod("finished", "echo last words; exit 3", { restartPolicy: "Never" }) });
    await containers("wait --for=jsonpath={.status.phase}=Failed pod/finished --timeout=60s");
    await runPod(containers, aRealPod("reborn", "trap 'echo asked; exit 5' TERM; echo life; sleep 1d & wait $!"));
    await lineOf(containers, "logs --follow reborn", /^life$/);
    ok(
      (await cluster.onMachine()).some((one) => one.includes("shim of")),
      "it detects what exists",
    );

    equal(await cluster.interrupt(), 0);
    deepEqual(await left(), []);

    await cluster.up();
    await kubectl(`wait ${STARTED_AGAIN} pods -l app=web --timeout=60s`);
    ok((await kubectl("rollout status deployment/web --timeout=90s")).endsWith(ROLLED_OUT));
    await kubectl("wait --for=condition=Ready pods -l app=web --timeout=60s");
    const pods = await podsOf(kubectl, "app=web");
    deepEqual(
      pods.map(({ status }) => status?.phase),
      ["Running", "Running", "Running"],
    );
    for (const { metadata } of pods) match(await kubectl(`exec ${metadata.name} -- ps`), /httpd/);
    await containers(`wait ${STARTED_AGAIN} pod/talking pod/noting --timeout=60s`);
    await containers("wait --for=condition=Ready pod/talking --timeout=60s");
    const { containerStatuses, ephemeralContainerStatuses } = (await podOf(containers, "talking")).status ?? {};
    equal(containerStatuses?.[0]?.restartCount, 1);
    equal(ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, 0, "a completed Pod is not run again");
    await containers("wait --for=condition=Ready pod/noting --timeout=60s");
    equal(await containers("exec noting -- cat /notes/one"), "kept\n");
  });

  test("after Ctrl-C, finished and stopped containers are reported with their exit code and log", async () => {
    const containers = cluster.kubectl.with("--namespace=containers");
    await containers("wait --for=jsonpath={.status.phase}=Failed pod/once --timeout=60s");
    const ends = ["once", "finished"].map(async (name) => {
      const [{ restartCount, state } = {}] = (await podOf(containers, name)).status?.containerStatuses ?? [];
      return [restartCount, state?.terminated?.exitCode, state?.terminated?.reason, await containers(`logs ${name}`)];
    });
    deepEqual(await Promise.all(ends), [
      [0, 7, "Error", "one life\nasked\n"],
      [0, 3, "Error", "last words\n"],
    ]);

    await containers(`wait ${STARTED_AGAIN} pod/reborn --timeout=60s`);
    await containers("wait --for=condition=Ready pod/reborn --timeout=60s");
    await lineOf(containers, "logs --follow reborn", /^life$/);
    const [{ restartCount, lastState } = {}] = (await podOf(containers, "reborn")).status?.containerStatuses ?? [];
    deepEqual([restartCount, lastState?.terminated?.exitCode, lastState?.terminated?.reason], [1, 5, "Error"]);
    deepEqual([await containers("logs reborn --previous"), await containers("logs reborn")], ["life\nasked\n", "life\n"]);
  });

  test("the first crash after a restart and a kill is counted and not delayed by back-off", async () => {
    const containers = cluster.kubectl.with("--namespace=containers");
    await cluster.kill();
    await cluster.up();
    // The shell may be gone with the container before its exit is reported.
    await containers.run("exec reborn -- sh -c 'kill -TERM 1'");
    await containers("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=2 pod/reborn --timeout=60s");
    await containers("wait --for=condition=Ready pod/reborn --timeout=60s");
    equal((await containers("events --for=pod/reborn")).includes("BackOff"), false);
  });

  test("k8ts down leaves nothing and is idempotent", async () => {
    const { exitCode, stderr } = await cluster.k8ts("down");
    deepEqual([exitCode, stderr], [0, ""]);
    deepEqual(await left(), []);
    equal((await cluster.k8ts("down")).exitCode, 0);
  });
});

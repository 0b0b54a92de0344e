/**
 * The restart matrix under load: whichever process of a cluster is killed with SIGKILL while all are busy, no acknowledged write is lost,
 * containers keep running, nothing runs twice, and everything converges. The instants are random, from the seed. Not here: single
 * components that are killed while idle (processes/…).
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { configMaps } from "../../src/api/core/v1/config-map.ts";
import { nodes } from "../../src/api/core/v1/node.ts";
import { readyCondition } from "../../src/api/core/v1/node/health.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import type { ContainerStatus, Pod } from "../../src/api/generated/core/v1.ts";
import type { Json, JsonObject } from "../../src/api/machinery/object.ts";
import { seededRandom } from "../../src/base/random.ts";
import { isReason } from "../../src/api/machinery/status-error.ts";
import type { ResourceKind } from "../../src/client/client.ts";
import { waitForProcessExit, signalProcess } from "../../src/host/processes/detached-program.ts";
import { processMark, type ProcessMark } from "../../src/host/processes/process-identity.ts";
import { findProcesses } from "../../src/host/processes/process-table.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { containerdFiles, findOwnContainerd } from "../../src/kubelet/machine/containerd/own-containerd.ts";
import { BUSYBOX_1, BUSYBOX_2 } from "../../src/testing/fixtures/busybox-image.ts";
import { calledProcess } from "../../src/testing/servers/called-process.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  lineOf,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";
import { rounds, testSeed } from "../../src/testing/rounds.ts";
import { observeCluster, until, type ObservedCluster } from "../../src/testing/servers/observed-cluster.ts";
import { WriteLoad } from "../../src/testing/fixtures/write-load.ts";

const namespace = "matrix";
const ROUNDS = rounds({ quick: 1, full: 10 });
/** Maximum delay between the last request of a round and the kill, so that some requests are still in progress. */
const KILL_WITHIN_MS = 1_500;
/** Time for everything to converge, on a busy machine, too. */
const CONVERGED_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 50;
/** The first back-off before a crashing container is restarted. The first restart has none. */
const BACK_OFF_SECONDS = 10;
/** Timestamps in a status have whole seconds. */
const BACK_OFF_INEXACT_SECONDS = 2;

/** Pods that stay unchanged. */
const STANDING = ["steady", "reader", "probed"];

/** Each start of a container appends a line to /starts/<pod>, with the machine's uptime; so every start is counted. */
const NOTE_START = 'echo "start $(cat /proc/uptime)" >> /starts/$HOSTNAME\n';

function aNotedPod(name: string, script: string, { container = {}, volumes = [], directory, ...spec }: NotedPod): JsonObject {
  const { volumeMounts = [], ...more } = container;
  return aRealPod(name, `${NOTE_START}${script}`, {
    container: { ...more, volumeMounts: [{ name: "starts", mountPath: "/starts" }, ...(volumeMounts as Json[])] },
    volumes: [{ name: "starts", hostPath: { path: directory } }, ...volumes],
    ...spec,
  });
}

interface NotedPod {
  readonly directory: string;
  readonly container?: JsonObject;
  readonly volumes?: readonly Json[];
  readonly [field: string]: Json | undefined;
}

/** What must stay as it is while others are killed: running containers, their start times, and their restart counts. */
function identityOf({ metadata, status }: Pod): readonly unknown[] {
  const own = ({ name, containerID, restartCount, state }: ContainerStatus) => [name, containerID, restartCount, state?.running?.startedAt];
  return [metadata.name, status?.podIP, ...(status?.containerStatuses ?? []).map(own)];
}

/** NaN if the process exited meanwhile: others start and exit all the time. */
async function parentOf(pid: number): Promise<number> {
  return Number(/^PPid:\t(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""))?.[1]);
}

function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

interface Round {
  readonly name: string;
  /** The Pods that stay unchanged. */
  readonly before: readonly unknown[];
  /** Grace period of a Pod that ignores SIGTERM. */
  readonly orphan: ProcessMark;
  /** Deletes that Pod right before the kill: the killed process may miss the deletion, and the Pod must terminate all the same. */
  forget(): Promise<void>;
}

describe("restarts under load", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  const random = seededRandom(testSeed()).derive("restart matrix");
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  let seen: ObservedCluster;
  let load: WriteLoad;
  let churn: Promise<void>;
  let nothing: readonly string[] = [];
  let starts = "";
  let isOver = false;
  /** While the server is known to be down, requests may fail. */
  let isAway = false;

  const podOf = (name: string): Pod | undefined => seen.informers.of(pods, { namespace }).get({ namespace, name });
  const isRunning = (name: string) => podOf(name)?.status?.phase === "Running";

  /** Waits until the listed objects of this kind satisfy the condition. */
  async function eventually(what: string, holds: () => boolean, kind: ResourceKind = pods): Promise<void> {
    const over = new AbortController();
    const informer = seen.informers.of(kind, kind.scope === "Namespaced" ? { namespace } : {});
    const late = realClock.sleep(CONVERGED_WITHIN_MS, over.signal).then(() => {
      const shown = informer.list().map(({ metadata, ...object }) => `${metadata.name}: ${JSON.stringify({ ...object, spec: undefined })}`);
      throw new Error(`Expected that ${what}; there was:\n${shown.join("\n")}`);
    });
    late.catch(() => undefined);
    await Promise.race([until(informer, holds), late]).finally(() => over.abort());
  }

  const create = (pod: JsonObject) =>
    seen.client.create(pods, { ...(pod as Pod), metadata: { ...(pod["metadata"] as object), namespace } });
  const startsOf = async (name: string) =>
    (await readFile(join(starts, name), "utf8").catch(() => ""))
      .trim()
      .split("\n")
      .filter((line) => line !== "");
  const standing = () => STANDING.map((name) => identityOf(podOf(name) as Pod));

  /** Pods that are created and deleted all the time. */
  async function comeAndGo(): Promise<void> {
    for (let number = 0; !isOver; number++) {
      const name = `churn-${number}`;
      try {
        await create(aRealPod(name, SLEEP));
        await eventually(`${name} runs`, () => isRunning(name));
        await seen.client.delete(pods, { namespace, name });
        await eventually(`${name} goes`, () => podOf(name) === undefined);
      } catch (error) {
        if (isAway || isReason(error, "NotFound")) await eventually("the server is up again", () => !isAway);
        else throw error;
      }
    }
  }

  const goAway = (): void => {
    isAway = true;
    load.serverGoes();
  };
  const comeBack = (): void => {
    isAway = false;
    load.serverIsBack();
  };

  before(async () => {
    cluster = await startRealCluster();
    nothing = (await cluster.onMachine()).filter((one) => one.startsWith("link veth"));
    starts = join(cluster.directory, "starts");
    await mkdir(starts);
    kubectl = await cluster.inNamespace(namespace);
    seen = await observeCluster(cluster.kubeconfig);
    await seen.informers.of(pods, { namespace }).synced();
    await seen.informers.of(nodes).synced();
    await seen.client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name: "settings" },
      data: { round: "0" },
    });
    const directory = starts;
    const say = 'while :; do now=$(cat /settings/round); [ "$now" = "$last" ] || echo "round $now"; last=$now; usleep 100000; done';
    const settings = {
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
      container: { volumeMounts: [{ name: "settings", mountPath: "/settings" }] },
    };
    const probes = {
      readinessProbe: { httpGet: { port: 8080, path: "/version" }, periodSeconds: 1 },
      // On a busy machine a command takes longer than its default timeout of a second.
      livenessProbe: { exec: { command: ["true"] }, periodSeconds: 1, timeoutSeconds: 20 },
    };
    await Promise.all(
      [
        aNotedPod("steady", SLEEP, { directory }),
        aNotedPod("reader", say, { directory, ...settings }),
        aNotedPod("probed", "httpd -f -p 8080 -h / & wait $!", { directory, container: probes }),
        aNotedPod("crashing", "exit 1", { directory }),
        aNotedPod("unpullable", SLEEP, { directory, container: { image: "registry.invalid/none:1" } }),
      ].map(create),
    );
    await kubectl("apply -f -", { input: aDeployment("web", { replicas: 2, containers: [aRealContainer("web", SLEEP)] }) });
    await eventually("all Pods are ready that can be", () => STANDING.every((name) => isReady(podOf(name))));
    load = new WriteLoad({ client: seen.client, namespace });
    churn = comeAndGo();
    churn.catch(() => undefined);
  });

  after(async () => {
    isOver = true;
    await load?.end();
    await seen?.[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  /** Or not at all, as upstream: a kill in the middle of a start loses that start, and this Pod has only one. */
  const hasRunOnce = async (name: string): Promise<void> => {
    const lines = (await startsOf(name)).map((line) => line.split(" ")[0]);
    const { phase, containerStatuses } = podOf(name)?.status ?? {};
    if (phase === "Succeeded") return deepEqual(lines, ["start", "done"]);
    match(containerStatuses?.[0]?.state?.terminated?.reason ?? "", /^(StartError|Unknown)$/);
    ok(lines.length <= 1, `it was started ${lines.length} times`);
  };

  /** Expectations on everything that was begun before the kill and must complete after it. */
  const hasConverged = async ({ name: round, before, orphan }: Round): Promise<void> => {
    await load.advances(20);
    await eventually("the one-shot Pod has succeeded", () => /^(Succeeded|Failed)$/.test(podOf(`once-${round}`)?.status?.phase ?? ""));
    await hasRunOnce(`once-${round}`);
    await eventually("the terminating Pod is deleted", () => podOf(`leaving-${round}`) === undefined);
    const goodbyes = new Set((await startsOf(`leaving-${round}`)).slice(1));
    deepEqual([...goodbyes], ["before stop", "asked"]);
    const rollout = await kubectl("rollout status deployment/web --timeout=90s", { timeoutMs: CONVERGED_WITHIN_MS });
    match(rollout, /successfully rolled out\n$/);

    await seen.client.patch(configMaps, { namespace, name: "settings" }, { type: "merge", value: { data: { round } } });
    await using following = kubectl.start("logs --follow --tail=1 reader");
    while ((await following.line()) !== `round ${round}`);
    equal(await kubectl("exec steady -- cat /version"), "1\n");

    await eventually("the unchanged Pods are ready", () => STANDING.every((name) => isReady(podOf(name))));
    deepEqual(standing(), before);
    for (const name of STANDING) equal((await startsOf(name)).length, 1, `${name} was started once`);
    const waitsFor = () => podOf("unpullable")?.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? "";
    await eventually("the Pod whose image cannot be pulled is waiting", () => /^(ErrImagePull|ImagePullBackOff)$/.test(waitsFor()));
    ok(await waitForProcessExit(orphan, { timeoutMs: CONVERGED_WITHIN_MS, clock: realClock }), "the deleted Pod has stopped");
  };

  /** Starts all work, and resolves at a random instant. */
  const beginRound = async (round: string): Promise<Round> => {
    const before = standing();
    const directory = starts;
    const [seconds, leavingSeconds] = [100_000 + random.below(900_000), 1_000_000 + random.below(900_000)];
    const preStop = { exec: { command: ["sh", "-c", "echo before stop >> /starts/$HOSTNAME; sleep 1"] } };
    const leaving = "trap 'echo asked >> /starts/$HOSTNAME; sleep 1; exit 0' TERM;";
    await create(
      aNotedPod(`leaving-${round}`, `${leaving} sleep ${leavingSeconds} & wait $!`, {
        directory,
        container: { lifecycle: { preStop } },
        // Longer than the restart of the killed process takes, on a busy machine, too.
        terminationGracePeriodSeconds: 120,
      }),
    );
    await create(
      aNotedPod(`orphan-${round}`, `trap '' TERM; while :; do sleep ${seconds}; done`, { directory, terminationGracePeriodSeconds: 300 }),
    );
    await eventually("the Pods of the round run", () => isRunning(`leaving-${round}`) && isRunning(`orphan-${round}`));
    const orphan = await calledProcess(`sleep ${seconds}`);
    // From then on it handles SIGTERM.
    await calledProcess(`sleep ${leavingSeconds}`);

    await seen.client.delete(pods, { namespace, name: `leaving-${round}` });
    const image = random.below(2) === 0 ? BUSYBOX_1 : BUSYBOX_2;
    const template = { metadata: { annotations: { round } }, spec: { containers: [{ name: "web", image }] } };
    await seen.client.patch(
      deployments,
      { namespace, name: "web" },
      { type: "strategic", value: { spec: { replicas: 1 + random.below(4), template } } },
    );
    await create(aNotedPod(`once-${round}`, "sleep 2; echo done >> /starts/$HOSTNAME", { directory, restartPolicy: "Never" }));
    await realClock.sleep(random.below(KILL_WITHIN_MS));
    const forget = async () => void (await seen.client.delete(pods, { namespace, name: `orphan-${round}` }, { gracePeriodSeconds: 0 }));
    return { name: round, before, orphan, forget };
  };

  const killContainerd = async (): Promise<void> => {
    const containerd = await findOwnContainerd(cluster.places);
    ok(containerd !== undefined);
    signalProcess(containerd, "SIGKILL");
  };

  for (let number = 1; number <= ROUNDS; number++) {
    test(`k8ts is killed and restarted (${number})`, async () => {
      const round = await beginRound(`k8ts-${number}`);
      await round.forget();
      goAway();
      await cluster.kill();
      await cluster.up();
      comeBack();
      await hasConverged(round);
    });

    test(`containerd is killed, and k8ts restarts it (${number})`, async () => {
      const round = await beginRound(`containerd-${number}`);
      await round.forget();
      await killContainerd();
      await cluster.says(/^containerd exited and was restarted \(process \d+\); its containers kept running$/);
      await hasConverged(round);
    });
  }

  test("k8ts and containerd are both killed", async () => {
    const round = await beginRound("both");
    await round.forget();
    goAway();
    await killContainerd();
    await cluster.kill();
    await cluster.up();
    comeBack();
    await hasConverged(round);
  });

  test("the node is not ready while containerd cannot be started, and ready again afterwards", async () => {
    const before = standing();
    const ready = () => {
      const [node] = seen.informers.of(nodes).list();
      return node === undefined ? undefined : readyCondition(node);
    };
    const { socket } = containerdFiles(cluster.places);
    // A directory now takes the place of its socket.
    await rm(socket);
    await mkdir(socket);
    await killContainerd();
    await cluster.says(/^containerd exited and cannot be restarted: .*; retrying$/);
    await eventually("the node is not ready", () => ready()?.status === "False", nodes);
    deepEqual([ready()?.reason, ready()?.message], ["KubeletNotReady", "container runtime is down"]);

    await rmdir(socket);
    await eventually("the node is ready", () => ready()?.status === "True", nodes);
    equal(ready()?.message, "kubelet is posting ready status");
    equal(await kubectl("exec steady -- cat /version"), "1\n");
    await eventually("the unchanged Pods are ready", () => STANDING.every((name) => isReady(podOf(name))));
    deepEqual(standing(), before);
  });

  test("after a container process, shim or pause process is killed, the Pod's containers are restarted and counted", async () => {
    const victims = await Promise.all(["process", "shim", "pause"].map((part) => runVictim(`killed-${part}`)));
    const [process, shim, pause] = victims.map(({ processes }) => processes);
    ok(process !== undefined && shim !== undefined && pause !== undefined);
    for (const mark of [process.main, shim.shim, pause.pause]) signalProcess(mark, "SIGKILL");

    const isAgain = (name: string) => podOf(name)?.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(podOf(name));
    await eventually("all containers run again", () => victims.every(({ name }) => isAgain(name)));
    for (const { name, address, processes } of victims) {
      await wasStarted(name, 2);
      const isMoved = name !== "killed-process";
      equal(podOf(name)?.status?.podIP !== address, isMoved, `${name} has another address`);
      for (const mark of isMoved ? Object.values(processes) : [processes.main])
        ok(await waitForProcessExit(mark, { timeoutMs: CONVERGED_WITHIN_MS, clock: realClock }));
      const changes = `--field-selector=involvedObject.name=${name},reason=SandboxChanged --no-headers`;
      if (isMoved) await lineOf(kubectl, `get events --watch ${changes}`, /Pod sandbox changed, it will be killed and re-created\./);
      else equal(await kubectl(`get events ${changes}`), "");
      equal(await kubectl(`exec ${name} -- cat /version`), "1\n");
    }
  });

  /** The container writes this file shortly after it is reported as running, without an event. */
  async function wasStarted(name: string, times: number): Promise<void> {
    const untilMs = realClock.monotonic() + CONVERGED_WITHIN_MS;
    while ((await startsOf(name)).length < times && realClock.monotonic() < untilMs) await realClock.sleep(LOOK_EVERY_MS);
    equal((await startsOf(name)).length, times, `${name} was started ${times} times`);
  }

  async function runVictim(name: string) {
    const seconds = 100_000 + random.below(900_000);
    await create(aNotedPod(name, `sleep ${seconds} & wait $!`, { directory: starts }));
    await eventually(`${name} is ready`, () => isReady(podOf(name)));
    const sleeper = await calledProcess(`sleep ${seconds}`);
    const main = processMark(await parentOf(sleeper.pid));
    const shim = processMark(await parentOf(main.pid));
    const pauses = await findProcesses((words) => words[0] === "/pause");
    const parents = await Promise.all(pauses.map(({ pid }) => parentOf(pid)));
    const pause = pauses[parents.indexOf(shim.pid)];
    ok(pause !== undefined);
    return { name, address: podOf(name)?.status?.podIP, processes: { main, shim, pause } };
  }

  describe("one process per component", () => {
    before(async () => {
      goAway();
      await cluster.kill();
      await cluster.up("--processes");
      comeBack();
    });

    for (const command of ["apiserver", "controller-manager", "scheduler", "kubelet"]) {
      test(`the ${command} is killed, and k8ts restarts it`, async () => {
        const round = await beginRound(command);
        const isPart = (words: readonly string[]) => words.includes(command) && words.some((word) => word.includes(cluster.directory));
        const [part] = await findProcesses(isPart);
        ok(part !== undefined);
        if (command === "apiserver") {
          await round.forget();
          goAway();
        }
        signalProcess(part, "SIGKILL");
        if (command === "apiserver") {
          await answers();
          comeBack();
        } else await round.forget();
        await hasConverged(round);
      });
    }

    /** A refused connection can only be retried. */
    async function answers(): Promise<void> {
      const untilMs = realClock.monotonic() + CONVERGED_WITHIN_MS;
      for (;;) {
        try {
          return void (await seen.client.document("/version"));
        } catch (error) {
          if (realClock.monotonic() > untilMs) throw error;
          await realClock.sleep(LOOK_EVERY_MS);
        }
      }
    }
  });

  test("a crashing container was never restarted before its back-off elapsed", async () => {
    const times = (await startsOf("crashing")).map((line) => Number(line.split(" ")[1]));
    ok(times.length >= 3, `it was started ${times.length} times`);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, seconds] of waits.entries()) {
      const expected = index === 0 ? 0 : BACK_OFF_SECONDS * 2 ** (index - 1) - BACK_OFF_INEXACT_SECONDS;
      ok(seconds >= expected, `start ${index + 1} came after ${seconds} s, expected at least ${expected}; all: ${waits.join(", ")}`);
    }
    const restarts = () => podOf("crashing")?.status?.containerStatuses?.[0]?.restartCount ?? 0;
    await eventually(`${times.length} starts are counted`, () => restarts() + 1 >= times.length);
  });

  test("no acknowledged write was lost, no write failed while the server was up, and nothing is left on the machine", async () => {
    isOver = true;
    await churn;
    deepEqual(await load.failings(), []);
    await seen[Symbol.asyncDispose]();
    equal((await cluster.k8ts("down")).exitCode, 0);
    // Leftovers of others may be removed at any time.
    deepEqual(
      (await cluster.onMachine()).filter((one) => !nothing.includes(one)),
      [],
    );
  });
});

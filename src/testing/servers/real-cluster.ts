/**
 * A cluster with real containers, as a user has it: `k8ts up` in a process of its own, with a containerd that it starts itself, the images
 * of busybox-image.ts loaded by `k8ts image load`, and the real kubectl. Everything it leaves on the machine can be listed. Not here: a
 * containerd without a cluster (containerd-server.ts).
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Json, JsonObject } from "../../api/machinery/object.ts";
import { Disposables } from "../../base/disposables.ts";
import { loopDevicesUnder } from "../../host/kernel/loop-devices.ts";
import { mountsUnder } from "../../host/kernel/mount-table.ts";
import { findProcesses } from "../../host/processes/process-table.ts";
import { realClock } from "../../host/real-clock.ts";
import { leftovers, type ClusterPlaces } from "../../kubelet/machine/containerd/leftovers.ts";
import { findHome } from "../../cluster/home/cluster-home.ts";
import { machinePaths } from "../../cluster/machine/container-paths.ts";
import { BUSYBOX_1, BUSYBOX_2, busyboxImage } from "../fixtures/busybox-image.ts";
import { clientProgram, type ClientProgram } from "../clients/client-program.ts";
import { aPod } from "../clients/manifests.ts";
import { freePort } from "./free-ports.ts";
import { K8tsMachine, type FinishedProgram } from "./k8ts-program.ts";
import { toolPath, type ToolName } from "../needs.ts";

/** Requirements of the tests that start one. */
export const REAL_CLUSTER_NEEDS = ["kubectl", "containerd", "cni", "busybox", "iptables"] as const satisfies readonly ToolName[];

/** Disposing of it terminates it, in whatever state it is. */
export interface RealCluster extends AsyncDisposable {
  /** A directory of the test's own, which also identifies the cluster's processes and files. */
  readonly directory: string;
  readonly kubectl: ClientProgram;
  readonly kubeconfig: string;
  /** Its paths on the machine. */
  readonly places: ClusterPlaces;
  /** A program with the same environment: one that starts kubectl itself. */
  program(path: string): ClientProgram;
  /** Creates a namespace in which pods can be created, and returns a kubectl that works in it. */
  inNamespace(name: string): Promise<ClientProgram>;
  /** A tar archive, as from busyboxImage. */
  loadImage(tar: Uint8Array): Promise<void>;
  /** Runs a `k8ts` command for this cluster. */
  k8ts(...words: readonly string[]): Promise<FinishedProgram>;
  /** Starts `k8ts up` with these additional flags, each time on the same port. */
  up(...words: readonly string[]): Promise<void>;
  /** SIGKILL of `k8ts up` alone; resolves when it has exited. Its child processes stay. */
  kill(): Promise<void>;
  /** Resolves when `k8ts up` has printed such a line since its last start. */
  says(line: RegExp): Promise<void>;
  /** Ctrl-C; resolves with the exit code. */
  interrupt(): Promise<number | null>;
  /** Lists what it has on the machine, apart from plain files: "link k8ts-1a2b", … */
  onMachine(): Promise<readonly string[]>;
}

/** Maximum wait for a line of output. */
const SAYS_WITHIN_MS = 60_000;

/** Starts it with both images loaded. `flags`: of its first start. */
export async function startRealCluster({ flags = [] }: { readonly flags?: readonly string[] } = {}): Promise<RealCluster> {
  await using ends = new Disposables();
  const machine = await K8tsMachine.make({ after: (end) => ends.defer(end) });
  let running: Awaited<ReturnType<K8tsMachine["start"]>> | undefined;
  const port = await freePort();
  let places: ClusterPlaces | undefined;
  const program = (path: string): ClientProgram => clientProgram({ path, environment: environmentOf(machine) });
  const kubectl = program(toolPath("kubectl"));
  const cluster: RealCluster = {
    directory: machine.root,
    kubectl,
    kubeconfig: machine.kubeconfig,
    get places() {
      if (places === undefined) throw new Error("The cluster has not started");
      return places;
    },
    program,
    async inNamespace(name) {
      await kubectl(`create namespace ${name}`);
      // One by one: kubectl waits for one missing object, and gives up at two.
      for (const made of ["serviceaccount/default", "configmap/kube-root-ca.crt"])
        await kubectl(`wait --for=create ${made} --namespace=${name} --timeout=90s`);
      return kubectl.with(`--namespace=${name}`);
    },
    loadImage: (tar) => loadImage(machine, tar),
    k8ts: (...words) => machine.k8ts(...words),
    async up(...words) {
      running = await machine.start(["up", "--listen", `127.0.0.1:${port}`, ...words], /^Ctrl-C stops it$/);
      places ??= await placesOf(machine);
    },
    interrupt: () => ended(running?.child, "SIGINT"),
    async kill() {
      await ended(running?.child, "SIGKILL");
    },
    async says(line) {
      const signal = AbortSignal.timeout(SAYS_WITHIN_MS);
      while (running?.lines.some((said) => line.test(said)) === false)
        await once(running.child.stdout ?? running.child, "data", { signal });
    },
    onMachine: () => onMachine(machine.root, places),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
  await cluster.up(...flags);
  for (const name of [BUSYBOX_1, BUSYBOX_2]) await cluster.loadImage(busyboxImage(name));
  const owned = ends.move();
  return cluster;
}

/** Sends the signal, and resolves with the exit code. */
async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  child?.kill(signal);
  const [exitCode] = child === undefined ? [null] : ((await once(child, "close")) as [number | null]);
  return exitCode;
}

async function loadImage(machine: K8tsMachine, tar: Uint8Array): Promise<void> {
  const file = join(machine.root, "image.tar");
  await writeFile(file, tar);
  const { exitCode, stderr } = await machine.k8ts("image", "load", file);
  if (exitCode !== 0) throw new Error(`Cannot load an image: ${stderr}`);
}

function environmentOf({ root, kubeconfig }: K8tsMachine): Readonly<Record<string, string>> {
  // kubectl runs for a tenth of a second; garbage collection would take a third of that.
  return { PATH: process.env["PATH"] ?? "", HOME: root, TMPDIR: root, KUBECONFIG: kubeconfig, TZ: "UTC", GOGC: "off" };
}

async function placesOf(machine: K8tsMachine): Promise<ClusterPlaces> {
  const home = await findHome({ directory: machine.home() }, {});
  if (home?.runtimeDirectory === undefined) throw new Error(`Cannot list the resources of the cluster in ${machine.home()} on the machine`);
  return machinePaths({ ...home, runtimeDirectory: home.runtimeDirectory }, realClock);
}

/** What k8ts itself would find, and everything else that names the directory or its network. */
async function onMachine(directory: string, places: ClusterPlaces | undefined): Promise<readonly string[]> {
  if (places === undefined) return [];
  const known = await leftovers(places);
  const mounts = (await Promise.all([directory, places.runDirectory].map(mountsUnder))).flat();
  const processes = await findProcesses((words) => words.some((word) => word.includes(directory) || word.includes(places.runDirectory)));
  const all = [
    ...known.map(({ is, name }) => `${is} ${name}`),
    ...mounts.map(({ path }) => `mount ${path}`),
    ...(await loopDevicesUnder(directory)).map(({ device }) => `loop device ${device}`),
    ...processes.map(({ pid, arguments: words }) => `process ${pid} ${words.join(" ")}`),
    ...(await linksWithoutBridge()).map((name) => `link ${name}`),
  ];
  return [...new Set(all)].toSorted();
}

/** The host end of a veth pair is attached to a bridge, unless something went wrong. */
async function linksWithoutBridge(): Promise<readonly string[]> {
  const links = (await readdir("/sys/class/net")).filter((name) => name.startsWith("veth"));
  const bridges = await Promise.all(links.map((name) => readlink(`/sys/class/net/${name}/master`).catch(() => undefined)));
  return links.filter((_, index) => bridges[index] === undefined);
}

/** A Pod of one container "main" with the first image. It exits at once on SIGTERM, unless `script` does otherwise. */
export function aRealPod(name: string, script: string, { container = {}, ...spec }: RealPodOptions = {}): JsonObject {
  return aPod(name, { containers: [aRealContainer("main", script, container)], ...spec });
}

export interface RealPodOptions {
  readonly container?: JsonObject;
  readonly [field: string]: Json | undefined;
}

/** The first process of a container receives no signal that it does not handle. */
export function aRealContainer(name: string, script: string, more: JsonObject = {}): JsonObject {
  return { name, image: BUSYBOX_1, command: ["sh", "-c", `trap 'exit 0' TERM\n${script}`], ...more };
}

/** For scripts: sleeps until killed. */
export const SLEEP = "sleep 1d & wait $!";

/** Resolves with the first matching line of a streaming command: "get events --watch", "logs --follow". */
export async function lineOf(kubectl: ClientProgram, line: string, fits: RegExp): Promise<string> {
  await using running = kubectl.start(line);
  const seen: string[] = [];
  try {
    for (;;) {
      const next = await running.line();
      if (fits.test(next)) return next;
      seen.push(next);
    }
  } catch (error) {
    throw new Error(`Expected a line of "${line}" that matches ${fits}, got:\n${seen.join("\n")}`, { cause: error });
  }
}

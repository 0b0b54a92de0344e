/**
 * A real containerd for tests, with a directory, a bridge and a subnet of its own, so that several test files run concurrently, with the
 * images of busybox-image.ts and the pause image. It can be stopped (SIGSTOP), killed and restarted. Disposing of it terminates everything
 * that ran in it, removes everything it had on the machine, and throws if something is left; leftovers of a killed test are removed by the
 * next one.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "../../base/logger.ts";
import { waitForProcessExit, signalProcess } from "../../host/processes/detached-program.ts";
import { machineFacts } from "../../host/kernel/machine-facts.ts";
import { isOwnDirectory } from "../../host/files/private-files.ts";
import { isAlive, ourProcess } from "../../host/processes/process-identity.ts";
import { realClock } from "../../host/real-clock.ts";
import { leftovers, removeLeftovers, type ClusterPlaces, type Leftover } from "../../kubelet/machine/containerd/leftovers.ts";
import { startOwnContainerd, type OwnContainerd } from "../../kubelet/machine/containerd/own-containerd.ts";
import { importImage } from "../../kubelet/machine/images/import-image.ts";
import { PAUSE_IMAGE } from "../../kubelet/machine/images/pause-image-name.ts";
import { pauseImage } from "../../kubelet/machine/images/pause-image.ts";
import { prepareNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { BUSYBOX_1, BUSYBOX_2, busyboxImage } from "../fixtures/busybox-image.ts";

export interface TestContainerd extends AsyncDisposable {
  /** "unix:///…/containerd.sock" */
  readonly endpoint: string;
  /** Directory for files of the test: volumes, logs. Removed at the end, with everything mounted in it. */
  readonly directory: string;
  readonly cniConfigDirectory: string;
  readonly bridge: string;
  /** The Pod subnet; the node has its first address. */
  readonly podCidr: string;
  readonly nodeAddress: string;
  /** Parent cgroup for its Pods. */
  readonly cgroupParent: string;
  /** Paths of its files. */
  readonly places: ClusterPlaces;
  /** Process ID of containerd; changes with `restart`. */
  readonly pid: number;
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  /** SIGKILL; resolves when it has exited. Containers keep running. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it has exited. Containers keep running. */
  stop(): Promise<void>;
  /** Restarts it on its data; resolves when it answers. */
  restart(): Promise<void>;
  /** A tar archive, as from busyboxImage and `docker save`. */
  loadImage(tar: Uint8Array): Promise<void>;
  /** Lists what it has on the machine, including everything that runs in it. */
  leftovers(): Promise<readonly Leftover[]>;
}

/** With `images: false` it has only the pause image; with `hasNetwork: false` it has no CNI network. */
export async function startTestContainerd({ images = true, hasNetwork = true } = {}): Promise<TestContainerd> {
  await sweep();
  const fixture = nextFixture();
  const { places, podCidr } = fixture;
  mkdirSync(places.directory, { recursive: true });
  let containerd: OwnContainerd | undefined;
  const running = () => {
    if (containerd === undefined) throw new Error("The test's containerd has not started");
    return containerd;
  };
  const start = async () => {
    containerd = await startOwnContainerd({ ...places, sandboxImage: PAUSE_IMAGE, environment: process.env, log: silentLogger });
  };
  const killAtExit = () => void (containerd !== undefined && signalProcess(containerd.process, "SIGKILL"));
  process.once("exit", killAtExit);
  exitOnSigterm();
  const remove = async () => {
    await removeLeftovers(places);
    const left = await leftovers(places);
    process.removeListener("exit", killAtExit);
    await rm(fixture.base, { recursive: true, force: true });
    if (left.length > 0)
      throw new Error(`A test's containerd left resources behind: ${left.map(({ is, name }) => `${is} ${name}`).join("; ")}`);
  };
  const load = async (tar: Uint8Array) => void (await importImage({ endpoint: running().endpoint, tar: [tar], clock: realClock }));
  try {
    if (hasNetwork) await prepareNetwork({ ...places, configDirectory: places.cniConfigDirectory, podCidr });
    await start();
    await load(pauseImage({ architecture: machineFacts().architecture }));
    for (const name of images ? [BUSYBOX_1, BUSYBOX_2] : []) await load(busyboxImage(name));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    endpoint: running().endpoint,
    directory: fixture.base,
    cniConfigDirectory: places.cniConfigDirectory,
    bridge: places.bridge,
    podCidr,
    nodeAddress: fixture.nodeAddress,
    cgroupParent: places.cgroups[0],
    places,
    get pid() {
      return running().process.pid;
    },
    pause: () => signalProcess(running().process, "SIGSTOP"),
    resume: () => signalProcess(running().process, "SIGCONT"),
    async kill() {
      signalProcess(running().process, "SIGKILL");
      await waitForProcessExit(running().process, { timeoutMs: KILLED_WITHIN_MS, clock: realClock });
    },
    stop: () => running().stop(),
    restart: start,
    loadImage: load,
    leftovers: () => leftovers(places),
    [Symbol.asyncDispose]: remove,
  };
}

const KILLED_WITHIN_MS = 20_000;

let started = 0;

interface Fixture {
  readonly base: string;
  readonly places: ReturnType<typeof placesIn>;
  readonly podCidr: string;
  readonly nodeAddress: string;
}

/**
 * Derived from the process ID and the number of servers started: subnets of 10.200.0.0/16 to 10.231.0.0/16, which few machines use. The
 * directory's name identifies the owner. Not in os.tmpdir(), which may be too long for a socket's path.
 */
function nextFixture(): Fixture {
  started += 1;
  const { pid, started: since } = ourProcess();
  const base = mkdtempSync(`/tmp/${PREFIX}${pid}-${started}-${since}-`);
  const number = pid * 4 + (started % 4);
  const subnet = `10.${200 + (Math.floor(number / 256) % 32)}.${number % 256}`;
  return { base, places: placesIn(base, `${pid}-${started}`), podCidr: `${subnet}.0/24`, nodeAddress: `${subnet}.1` };
}

const PREFIX = "k8ts-ctd-";
const OWNER = /^k8ts-ctd-(\d+)-(\d+)-(\d+)-/;

/** Removes leftovers of tests that were killed before they could dispose of their servers. */
async function sweep(): Promise<void> {
  for (const name of await readdir("/tmp")) {
    const [, pid = "", count = "", since = ""] = OWNER.exec(name) ?? [];
    if (pid === "" || isAlive({ pid: Number(pid), started: since }) || !(await isOwnDirectory(join("/tmp", name)))) continue;
    try {
      await removeLeftovers(placesIn(join("/tmp", name), `${pid}-${count}`));
      await rm(join("/tmp", name), { recursive: true, force: true });
    } catch {
      // Another test may be removing it concurrently; the next one removes what is left.
    }
  }
}

function placesIn(base: string, name: string) {
  return {
    directory: join(base, "containerd"),
    runDirectory: join(base, "run"),
    cniConfigDirectory: join(base, "cni"),
    addressDirectory: join(base, "addresses"),
    volumesDirectory: base,
    bridge: `k8t${name}`,
    cgroups: [`/k8ts-test-${name}`],
    clock: realClock,
  } as const satisfies ClusterPlaces;
}

/** A test that times out receives SIGTERM, on which Node would exit without cleanup. */
function exitOnSigterm(): void {
  if (process.listenerCount("SIGTERM") === 0) process.once("SIGTERM", () => process.exit(143));
}

/**
 * A real containerd for tests, with a directory, a bridge and a subnet of its own, so that several test files run side by side, with the
 * images of busybox-image.ts and the pause image in it. It can be stopped in its tracks, killed and started again. Disposing of it ends
 * all that ran in it, removes all that it had on the machine, and throws if something is left; what a killed test leaves, the next removes.
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
  /** For what a test keeps: volumes, logs. Removed at the end, with all that is mounted in it. */
  readonly directory: string;
  readonly cniConfigDirectory: string;
  readonly bridge: string;
  /** The Pods' addresses; the node has the first. */
  readonly podCidr: string;
  readonly nodeAddress: string;
  /** A control group of its own, for Pods to be below. */
  readonly cgroupParent: string;
  /** Where all of it is. */
  readonly places: ClusterPlaces;
  /** Of containerd; another one after `restart`. */
  readonly pid: number;
  /** SIGSTOP: connections stay, nothing is answered. */
  pause(): void;
  resume(): void;
  /** SIGKILL; resolves when it is gone. Containers run on. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it is gone. Containers run on. */
  stop(): Promise<void>;
  /** Starts it again on its data; resolves when it answers. */
  restart(): Promise<void>;
  /** A tar, as busyboxImage and `docker save` make them. */
  loadImage(tar: Uint8Array): Promise<void>;
  /** What it has on the machine now, with all that runs in it. */
  leftovers(): Promise<readonly Leftover[]>;
}

/** With `images: false` there is only the pause image; with `hasNetwork: false` it is as a machine's without one. */
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
  exitWhenTold();
  const remove = async () => {
    await removeLeftovers(places);
    const left = await leftovers(places);
    process.removeListener("exit", killAtExit);
    await rm(fixture.base, { recursive: true, force: true });
    if (left.length > 0)
      throw new Error(`Something of a test's containerd is left: ${left.map(({ is, name }) => `${is} ${name}`).join("; ")}`);
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
 * By the process and how many it has started: subnets of 10.200.0.0/16 to 10.231.0.0/16, which few machines use. The directory's name says
 * whose it is. Not in os.tmpdir(), which may be too long for a socket's path.
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

/** What tests left that were killed before they could dispose of theirs. */
async function sweep(): Promise<void> {
  for (const name of await readdir("/tmp")) {
    const [, pid = "", count = "", since = ""] = OWNER.exec(name) ?? [];
    if (pid === "" || isAlive({ pid: Number(pid), started: since }) || !(await isOwnDirectory(join("/tmp", name)))) continue;
    try {
      await removeLeftovers(placesIn(join("/tmp", name), `${pid}-${count}`));
      await rm(join("/tmp", name), { recursive: true, force: true });
    } catch {
      // Another test may be at it at the same time; what it leaves, the next finds.
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

/** A test that takes too long is ended with SIGTERM, at which Node would go without letting go of anything. */
function exitWhenTold(): void {
  if (process.listenerCount("SIGTERM") === 0) process.once("SIGTERM", () => process.exit(143));
}

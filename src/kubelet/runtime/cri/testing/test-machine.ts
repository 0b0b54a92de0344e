/** A containerd and a registry with one image for the tests of a file: each test opens a runtime of an owner of its own on it. */
import { randomUUID } from "node:crypto";
import { after } from "node:test";
import type { Pod } from "../../../../api/generated/core/v1.ts";
import { createLogger } from "../../../../base/logger.ts";
import { realClock } from "../../../../host/real-clock.ts";
import { busyboxImage } from "../../../../testing/fixtures/busybox-image.ts";
import { startTestContainerd, type TestContainerd } from "../../../../testing/servers/containerd-server.ts";
import type { RuntimeContainer } from "../../../contracts/runtime.ts";
import { openCriRuntime, type CriRuntime, type CriRuntimeOptions } from "../cri-runtime.ts";
import { withPlainRuns } from "./test-pods.ts";
import { startTestRegistry, type TestRegistry } from "./test-registry.ts";

export interface TestMachine {
  readonly containerd: TestContainerd;
  readonly registry: TestRegistry;
  /** In the registry. */
  readonly image: string;
  /** As `owner`, or as a new one. */
  open(options?: Partial<CriRuntimeOptions>): Promise<CriRuntime>;
}

/** Started by the first test that uses it, and stopped after the last. */
export function sharedMachine(): () => Promise<TestMachine> {
  let machine: Promise<TestMachine> | undefined;
  after(async () => {
    if (machine === undefined) return;
    const { containerd, registry } = await machine;
    await containerd[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });
  return () => (machine ??= startMachine());
}

async function startMachine(): Promise<TestMachine> {
  const registry = await startTestRegistry(busyboxImage("busybox:1"));
  const containerd = await startTestContainerd({ images: false });
  const log = createLogger({ sink: () => undefined, clock: realClock, level: "error" });
  const open = async (options: Partial<CriRuntimeOptions> = {}): Promise<CriRuntime> => {
    const { endpoint } = containerd;
    return withPlainRuns(await openCriRuntime({ endpoint, owner: randomUUID(), clock: realClock, log, ...options }), containerd);
  };
  return { registry, containerd, image: `${registry.host}/busybox:1`, open };
}

/** Pulls, creates and starts it; resolves with the container's id. */
export async function started(runtime: CriRuntime, pod: Pod, attempt = 0): Promise<string> {
  const id = await created(runtime, pod, attempt);
  await runtime.startContainer(id);
  return id;
}

export async function created(runtime: CriRuntime, pod: Pod, attempt = 0): Promise<string> {
  const container = pod.spec!.containers[0]!;
  const { id } = await runtime.runSandbox(pod);
  const imageId = await runtime.pullImage(container.image!, pod);
  return runtime.createContainer(id, { pod, container, attempt, imageId });
}

export async function containerOf(runtime: CriRuntime, pod: Pod, id: string): Promise<RuntimeContainer> {
  return (await runtime.status(pod.metadata.uid!))!.containers.find((container) => container.id === id)!;
}

/** Longer than any operation here takes. */
const PATIENCE_MS = 60_000;

/** Checks the container at first and after each reported change of the Pod, until it is in the expected state. */
export async function until(
  runtime: CriRuntime,
  pod: Pod,
  id: string,
  isSo: (container: RuntimeContainer) => boolean,
): Promise<RuntimeContainer> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const look = async (): Promise<void> => {
      const container = await containerOf(runtime, pod, id);
      if (!isSo(container)) return;
      end();
      resolve(container);
    };
    const end = (): void => {
      over.abort();
      watching[Symbol.dispose]();
    };
    const watching = runtime.watch((podUid) => void (podUid === pod.metadata.uid && look().catch(reject)));
    realClock.sleep(PATIENCE_MS, over.signal).then(
      () => (end(), reject(new Error(`Container ${id} did not reach the expected state within ${PATIENCE_MS} ms`))),
      () => undefined,
    );
    look().catch(reject);
  });
}

export function ended(runtime: CriRuntime, pod: Pod, id: string): Promise<RuntimeContainer> {
  return until(runtime, pod, id, ({ state }) => state.is === "exited");
}

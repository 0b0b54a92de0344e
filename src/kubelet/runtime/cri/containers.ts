/** Containers: made, started, stopped and removed, each as often as it is asked for and once in effect. */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import type { Clock } from "../../../base/clock.ts";
import { directoryOf, filesLike, makeLogDirectory } from "../../../host/files/log-files.ts";
import { joinPath, removeFile } from "../../../host/files/files.ts";
import type { LinuxResources } from "../../contracts/container-run.ts";
import { RuntimeError, type ContainerConfig } from "../../contracts/runtime.ts";
import {
  CONTAINER_RUNNING,
  createContainer,
  removeContainer,
  startContainer,
  stopContainer,
  updateContainerResources,
} from "./messages/container.ts";
import { inItsWords, isNotFound, type CriClient } from "./cri-client.ts";
import type { PodViews } from "./pod-views.ts";
import { containerMessage, resourcesMessage, sandboxMessage } from "./messages/run.ts";

export interface ContainersOptions {
  readonly client: CriClient;
  readonly views: PodViews;
  readonly owner: string;
  readonly clock: Clock;
}

/**
 * containerd looks after a shim that is gone every second, and gives each try 5 s: on a busy machine that fails a few times. Who stops waits
 * no longer than it must, since a container that has ended is seen at once.
 */
const ENDED_WITHIN_MS = 30_000;
/** Nobody tells that it is done. */
const LOOK_AGAIN = { minMs: 10, maxMs: 320 };

export class Containers {
  readonly #options: ContainersOptions;

  constructor(options: ContainersOptions) {
    this.#options = options;
  }

  async create(sandboxId: string, config: ContainerConfig): Promise<string> {
    const { client, owner } = this.#options;
    const there = await this.#made(config);
    if (there !== undefined) return there;
    const { pod, container, run, sandboxRun } = config;
    if (run === undefined || sandboxRun === undefined) {
      throw new RuntimeError("CannotRun", `Cannot make container ${container.name}: it is not said how it is run on this machine`);
    }
    try {
      await makeLogDirectory(directoryOf(joinPath(sandboxRun.logDirectory, run.logPath)));
      const { id } = await client.call(createContainer, {
        sandboxId,
        config: containerMessage(config, run, owner),
        sandboxConfig: sandboxMessage(pod, sandboxRun, { attempt: 0, owner }),
      });
      return id;
    } catch (error) {
      // A call of before a crash may have come to its end meanwhile.
      const since = isNotFound(error) ? undefined : await this.#made(config).catch(() => undefined);
      if (since !== undefined) return since;
      throw withMountRemedy(inItsWords(error));
    }
  }

  async #made({ pod, container, attempt }: ContainerConfig): Promise<string | undefined> {
    const containers = await this.#options.views.containers(pod.metadata.uid ?? "");
    return containers.find(({ metadata }) => metadata?.name === container.name && metadata.attempt === attempt)?.id;
  }

  async start(id: string): Promise<void> {
    try {
      await this.#options.client.call(startContainer, { id });
    } catch (error) {
      const status = isNotFound(error) ? undefined : await this.#options.views.containerStatus(id).catch(() => undefined);
      if (status?.state !== CONTAINER_RUNNING) throw inItsWords(error);
    }
  }

  async stop(id: string, graceMs: number): Promise<void> {
    try {
      // The CRI counts in seconds; who has a part of one gets all of it.
      await this.#options.client.call(stopContainer, { id, timeoutSeconds: Math.ceil(graceMs / 1000) }, { extraMs: graceMs });
      await this.#untilEnded(id);
    } catch (error) {
      if (!isNotFound(error)) throw inItsWords(error);
    }
  }

  /**
   * Of a container whose shim was killed, containerd from 2.0 on says that it is stopped while by its own lists it still runs, for a second
   * or two. Whoever lists it then would take it for one that goes on.
   */
  async #untilEnded(id: string): Promise<void> {
    const { clock, views } = this.#options;
    const untilMs = clock.monotonic() + ENDED_WITHIN_MS;
    for (let looks = 0; (await views.containerStatus(id))?.state === CONTAINER_RUNNING; looks++) {
      if (clock.monotonic() >= untilMs) {
        throw new RuntimeError(
          "CannotRun",
          `Cannot stop container ${id}: it still runs ${ENDED_WITHIN_MS} ms after the runtime stopped it`,
        );
      }
      await clock.sleep(exponentialDelayMs(LOOK_AGAIN, looks));
    }
  }

  async remove(id: string): Promise<void> {
    const { client, views } = this.#options;
    const status = await views.containerStatus(id);
    if (status === undefined) return;
    try {
      await client.call(removeContainer, { id });
    } catch (error) {
      if (!isNotFound(error)) throw inItsWords(error);
    }
    if (status.logPath !== "") for (const path of await filesLike(status.logPath)) await removeFile(path);
  }

  async update(id: string, resources: LinuxResources): Promise<void> {
    try {
      await this.#options.client.call(updateContainerResources, { id, linux: resourcesMessage(resources) });
    } catch (error) {
      throw inItsWords(error);
    }
  }
}

/** What containerd and CRI-O say of a path whose mount does not propagate. */
const NOT_PROPAGATED = /path "(.*)" is mounted on "(.*)" but it is not a shared (?:or slave )?mount/;

/** Bidirectional and HostToContainer need a shared mount. systemd makes them shared; on a machine without it, the message says how. */
export function withMountRemedy(error: unknown): unknown {
  const [, , mountPoint] = (error instanceof RuntimeError && NOT_PROPAGATED.exec(error.message)) || [];
  if (!(error instanceof RuntimeError) || mountPoint === undefined) return error;
  const remedy = `mountPropagation needs it to be one; "mount --make-rshared ${mountPoint}" on the node makes it one until the next boot`;
  return new RuntimeError(error.reason, `${error.message}; ${remedy}`, { cause: error });
}

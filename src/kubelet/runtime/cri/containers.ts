/** Creates, starts, stops and removes containers; every operation is idempotent. */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import type { Clock } from "../../../base/clock.ts";
import { directoryOf, filesLike, makeLogDirectory } from "../../../host/files/log-files.ts";
import { joinPath, removeFile } from "../../../host/files/files.ts";
import type { LinuxResources } from "../../contracts/container-run.ts";
import { RuntimeError, type ContainerConfig } from "../../contracts/runtime.ts";
import {
  CONTAINER_RUNNING,
  createContainer,
  listContainers,
  removeContainer,
  startContainer,
  stopContainer,
  updateContainerResources,
} from "./messages/container.ts";
import { withRuntimeMessage, isNotFound, type CriClient } from "./cri-client.ts";
import type { PodViews } from "./pod-views.ts";
import { containerMessage, resourcesMessage, sandboxMessage } from "./messages/run.ts";

export interface ContainersOptions {
  readonly client: CriClient;
  readonly views: PodViews;
  readonly owner: string;
  readonly clock: Clock;
}

/**
 * containerd retries a dead shim every second, with a timeout of 5 s per attempt: on a busy machine several fail. A stop does not wait
 * longer than necessary, since an exited container is seen at once.
 */
const EXIT_TIMEOUT_MS = 30_000;
/** Polling: the runtime emits no event for it. */
const POLL_BACKOFF = { minMs: 10, maxMs: 320 };

export class Containers {
  readonly #options: ContainersOptions;

  constructor(options: ContainersOptions) {
    this.#options = options;
  }

  /** Of all containers, those of other owners included. */
  async usedImages(): Promise<readonly string[]> {
    const { containers } = await this.#options.client.call(listContainers, {});
    return containers
      .flatMap(({ image, imageRef }) => [imageRef, image?.image ?? "", image?.userSpecifiedImage ?? ""])
      .filter((name) => name !== "");
  }

  async create(sandboxId: string, config: ContainerConfig): Promise<string> {
    const { client, owner } = this.#options;
    const there = await this.#existing(config);
    if (there !== undefined) return there;
    const { pod, container, run, sandboxRun } = config;
    if (run === undefined || sandboxRun === undefined) {
      throw new RuntimeError("CannotRun", `Cannot create container ${container.name}: its configuration on this machine is missing`);
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
      // A call from before a crash may have completed in the meantime.
      const since = isNotFound(error) ? undefined : await this.#existing(config).catch(() => undefined);
      if (since !== undefined) return since;
      throw withMountRemedy(withRuntimeMessage(error));
    }
  }

  async #existing({ pod, container, attempt }: ContainerConfig): Promise<string | undefined> {
    const containers = await this.#options.views.containers(pod.metadata.uid ?? "");
    return containers.find(({ metadata }) => metadata?.name === container.name && metadata.attempt === attempt)?.id;
  }

  async start(id: string): Promise<void> {
    try {
      await this.#options.client.call(startContainer, { id });
    } catch (error) {
      const status = isNotFound(error) ? undefined : await this.#options.views.containerStatus(id).catch(() => undefined);
      if (status?.state !== CONTAINER_RUNNING) throw withRuntimeMessage(error);
    }
  }

  async stop(id: string, graceMs: number): Promise<void> {
    try {
      // The CRI counts in whole seconds: fractions are rounded up.
      await this.#options.client.call(stopContainer, { id, timeoutSeconds: Math.ceil(graceMs / 1000) }, { extraMs: graceMs });
      await this.#untilExited(id);
    } catch (error) {
      if (!isNotFound(error)) throw withRuntimeMessage(error);
    }
  }

  /**
   * For a container whose shim was killed, containerd from 2.0 on reports a successful stop while its own lists show the container as
   * running for a second or two. A relist in between would take it for a running one.
   */
  async #untilExited(id: string): Promise<void> {
    const { clock, views } = this.#options;
    const untilMs = clock.monotonic() + EXIT_TIMEOUT_MS;
    for (let attempt = 0; (await views.containerStatus(id))?.state === CONTAINER_RUNNING; attempt++) {
      if (clock.monotonic() >= untilMs) {
        throw new RuntimeError(
          "CannotRun",
          `Cannot stop container ${id}: it is still running ${EXIT_TIMEOUT_MS} ms after the runtime stopped it`,
        );
      }
      await clock.sleep(exponentialDelayMs(POLL_BACKOFF, attempt));
    }
  }

  async remove(id: string): Promise<void> {
    const { client, views } = this.#options;
    const status = await views.containerStatus(id);
    if (status === undefined) return;
    try {
      await client.call(removeContainer, { id });
    } catch (error) {
      if (!isNotFound(error)) throw withRuntimeMessage(error);
    }
    if (status.logPath !== "") for (const path of await filesLike(status.logPath)) await removeFile(path);
  }

  async update(id: string, resources: LinuxResources): Promise<void> {
    try {
      await this.#options.client.call(updateContainerResources, { id, linux: resourcesMessage(resources) });
    } catch (error) {
      throw withRuntimeMessage(error);
    }
  }
}

/** Error text of containerd and CRI-O for a path whose mount does not propagate. */
const NOT_PROPAGATED = /path "(.*)" is mounted on "(.*)" but it is not a shared (?:or slave )?mount/;

/**
 * Bidirectional and HostToContainer need a shared mount. systemd makes mounts shared; on a machine without it, the message has the command.
 */
export function withMountRemedy(error: unknown): unknown {
  const [, , mountPoint] = (error instanceof RuntimeError && NOT_PROPAGATED.exec(error.message)) || [];
  if (!(error instanceof RuntimeError) || mountPoint === undefined) return error;
  const remedy = `mountPropagation needs it to be one; "mount --make-rshared ${mountPoint}" on the node makes it one until the next boot`;
  return new RuntimeError(error.reason, `${error.message}; ${remedy}`, { cause: error });
}

/**
 * Prepares this machine for the Pods of one node: their references, volumes, generated files, control groups and container configuration.
 * Each is implemented in its own folder; here is the order, and the cleanup.
 */
import type { Container, EphemeralContainer, Pod, ResourceStatus, Secret } from "../../api/generated/core/v1.ts";
import { runtimeClasses } from "../../api/node.k8s.io/v1/runtime-class.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { killCgroup, removeCgroup } from "../../host/kernel/cgroup-tree.ts";
import { makeCgroup } from "../../host/kernel/cgroups.ts";
import { readWhole } from "../../host/files/files.ts";
import { emptyLogDirectories, removeEmptyLogDirectory } from "../../host/files/log-files.ts";
import { openWithin } from "../../host/files/open-within.ts";
import { openHeldFile } from "../../host/files/regular-file.ts";
import { placeFile } from "../../host/files/in-place-file.ts";
import type { ContainerRun, SandboxRun } from "../contracts/container-run.ts";
import type { ContainerContext, PodMachine } from "../contracts/pod-machine.ts";
import { MountError, PodNetworkError } from "../contracts/pod-machine.ts";
import type { PodDevices } from "../contracts/pod-devices.ts";
import type { MountedVolume, PodVolumes } from "../contracts/pod-volumes.ts";
import type { ProbeActions } from "../contracts/probe-actions.ts";
import type { References } from "../references/references.ts";
import { handlerSupportsRecursiveReadOnly } from "../shared/recursive-read-only.ts";
import { containerRun } from "../container-config/container.ts";
import { credentialsFor } from "../container-config/image-credentials.ts";
import type { NodeView } from "../container-config/node-view.ts";
import { podCgroup, possiblePodCgroups } from "../container-config/pod-cgroup.ts";
import { sandboxRun, uidOfLogs } from "../container-config/sandbox.ts";
import type { KubeletMetrics } from "../kubelet-metrics.ts";
import type { ImageCredentials, Runtime } from "../contracts/runtime.ts";
import { createProbeActions } from "./probe-actions.ts";

export interface MachinePodsOptions {
  /** The current Node. */
  node(): NodeView;
  readonly volumes: PodVolumes;
  readonly references: References;
  /** Devices of ResourceClaims. Absent: Pods with claims do not start. */
  readonly devices?: PodDevices;
  readonly runtime: Pick<Runtime, "imageStatus" | "features">;
  readonly client: Client;
  /**
   * Awaited before each container is created, with the Pod's addresses: network policies apply before the first packet. Rejects if the Pod
   * must not start now.
   */
  admitToNetwork?(pod: Pod, addresses: readonly string[]): Promise<void>;
  /** Whether this process may create control groups: inside a container it mostly may not, and only the runtime's limits apply. */
  readonly hasCgroups: boolean;
  readonly metrics?: Pick<KubeletMetrics, "cgroupChanged">;
  readonly clock: Clock;
  readonly log: Logger;
}

export class MachinePods implements PodMachine {
  readonly probes: ProbeActions;
  readonly #options: MachinePodsOptions;
  /** Handlers of the RuntimeClasses that were read, by the name of the class. */
  readonly #handlers = new Map<string, string>();

  constructor(options: MachinePodsOptions) {
    this.#options = options;
    this.probes = createProbeActions(options);
  }

  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const { references, volumes, devices } = this.#options;
    references.register(pod);
    await volumes.mount(pod, signal);
    await devices?.prepare(pod, signal);
    this.#makeCgroup(pod, "create");
  }

  async sandbox(pod: Pod): Promise<SandboxRun> {
    const run = sandboxRun({ pod, node: this.#options.node(), runtimeHandler: await this.#runtimeHandler(pod) });
    return this.#options.hasCgroups ? run : { ...run, cgroupParent: "" };
  }

  async container(pod: Pod, container: Container | EphemeralContainer, place: ContainerContext): Promise<ContainerRun> {
    const { references, volumes, devices, runtime, node } = this.#options;
    const { attempt, podIps, targetContainerId } = place;
    const image = await runtime.imageStatus(place.imageId === "" ? (container.image ?? "") : place.imageId);
    const { run, files } = await containerRun({
      ...{ pod, container, attempt, podIps, references, volumes },
      node: node(),
      imageUser: image?.user,
      ...(targetContainerId === undefined ? {} : { targetContainerId }),
      mounted: volumes.mounted(pod.metadata.uid ?? "") ?? new Map<string, MountedVolume>(),
      readVolumeFile,
      nodeHostsFile,
      supportsRecursiveReadOnly: handlerSupportsRecursiveReadOnly(runtime.features, await this.#runtimeHandler(pod)),
    });
    await Promise.all([...files.map(placeFile), this.#admitToNetwork(pod, podIps)]);
    return devices === undefined ? run : devices.withDevices(pod, container, run);
  }

  async #admitToNetwork(pod: Pod, podIps: readonly string[]): Promise<void> {
    if (pod.spec?.hostNetwork === true) return;
    try {
      await this.#options.admitToNetwork?.(pod, podIps);
    } catch (error) {
      throw new PodNetworkError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async credentials(pod: Pod, image: string): Promise<readonly ImageCredentials[]> {
    return podCredentials(pod, image, this.#options.references);
  }

  async resize(pod: Pod): Promise<void> {
    this.#makeCgroup(pod, "update");
  }

  update(pod: Pod): void {
    this.#options.volumes.update(pod);
  }

  async killProcesses(podUid: string): Promise<void> {
    for (const path of this.#cgroupsOf(podUid)) await killCgroup(path, this.#options.clock);
  }

  async release(podUid: string, { willRestart } = { willRestart: false }): Promise<void> {
    const { volumes, references, devices } = this.#options;
    await this.killProcesses(podUid);
    // A Pod that is to run here again keeps its claims.
    if (!willRestart) await devices?.release(podUid);
    await volumes.unmount(podUid, { keepsFiles: willRestart });
    references.unregister(podUid);
    if (!willRestart) await removeEmptyLogs(this.#options.node().directories.logs, podUid);
    if (this.#options.node().cgroups.driver === "systemd") return; // It removes what it created.
    const { clock, metrics } = this.#options;
    const startedMs = clock.monotonic();
    for (const path of this.#cgroupsOf(podUid)) await removeCgroup(path);
    metrics?.cgroupChanged("destroy", clock.monotonic() - startedMs);
  }

  volumesInUse(): readonly string[] {
    return this.#options.volumes.volumesInUse();
  }

  async orphanedPods(): Promise<readonly string[]> {
    const { volumes, devices, node } = this.#options;
    const logs = await emptyLogDirectories(node().directories.logs, () => true);
    return [...new Set([...(await volumes.pods()), ...logs.map(uidOfLogs), ...(devices?.pods() ?? [])])];
  }

  supportsRecursiveReadOnly({ spec }: Pod): boolean | undefined {
    const name = spec?.runtimeClassName ?? "";
    const handler = name === "" ? "" : this.#handlers.get(name);
    return handler === undefined ? undefined : handlerSupportsRecursiveReadOnly(this.#options.runtime.features, handler);
  }

  deviceHealth(pod: Pod, container: Container): readonly ResourceStatus[] {
    return this.#options.devices?.health(pod, container) ?? [];
  }

  /** Which of them exist depends on the Pod, which may be unknown by now. */
  #cgroupsOf(podUid: string): readonly string[] {
    const { hasCgroups, node } = this.#options;
    return hasCgroups ? possiblePodCgroups(podUid, node().cgroups) : [];
  }

  #makeCgroup(pod: Pod, operation: "create" | "update"): void {
    const { hasCgroups, node, clock, metrics } = this.#options;
    const { cgroups } = node();
    // systemd creates its slices when the runtime requests them.
    if (!hasCgroups || cgroups.driver === "systemd") return;
    const { path, resources } = podCgroup(pod, cgroups);
    const startedMs = clock.monotonic();
    try {
      makeCgroup(path, resources);
      metrics?.cgroupChanged(operation, clock.monotonic() - startedMs);
    } catch (error) {
      throw new MountError(`failed to ensure that the pod: ${pod.metadata.uid} cgroups exist and are correctly applied: ${String(error)}`, {
        cause: error,
      });
    }
  }

  async #runtimeHandler({ spec }: Pod): Promise<string> {
    const name = spec?.runtimeClassName ?? "";
    if (name === "") return "";
    try {
      const { handler } = await this.#options.client.get(runtimeClasses, { name });
      this.#handlers.set(name, handler);
      return handler;
    } catch (error) {
      if (isReason(error, "NotFound")) throw new Error(`RuntimeClass "${name}" not found`, { cause: error });
      throw error;
    }
  }
}

/** Credentials for an image from the pull secrets of the Pod. */
export async function podCredentials(
  { metadata, spec }: Pod,
  image: string,
  references: Pick<References, "secret">,
): Promise<readonly ImageCredentials[]> {
  const names = (spec?.imagePullSecrets ?? []).flatMap(({ name = "" }) => (name === "" ? [] : [name]));
  const secrets = await Promise.all(names.map((name) => references.secret(metadata.namespace ?? "", name)));
  return credentialsFor(
    image,
    secrets.filter((secret): secret is Secret => secret !== undefined),
  );
}

/** Only for a Pod whose containers never logged: other log directories are removed with their sandboxes. */
async function removeEmptyLogs(root: string, podUid: string): Promise<void> {
  for (const path of await emptyLogDirectories(root, (name) => uidOfLogs(name) === podUid)) await removeEmptyLogDirectory(path);
}

/** Above the kernel's limit of a program's environment: a larger file is a mistake, or an attempt to exhaust memory. */
const ENVIRONMENT_FILE_BYTES_MAX = 2 * 1024 * 1024;

async function readVolumeFile({ path }: MountedVolume, file: string): Promise<string> {
  await using place = await openWithin(path, file);
  await using handle = await openHeldFile(place, file);
  const { size } = await handle.stat();
  if (size > ENVIRONMENT_FILE_BYTES_MAX)
    throw new Error(`"${file}" has ${size} bytes, and a file with variables may have ${ENVIRONMENT_FILE_BYTES_MAX}`);
  return await handle.readFile("utf8");
}

async function nodeHostsFile(): Promise<string> {
  return new TextDecoder().decode(await readWhole("/etc/hosts").catch(() => new Uint8Array()));
}

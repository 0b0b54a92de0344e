/**
 * Computes a container's runtime configuration: command, environment, mounts, security context and limits. Files that must be on disk
 * before the container is created, the Pod's /etc/hosts and the termination log, are returned as data (`files`). A spec that cannot be
 * turned into a container now throws a ContainerConfigError.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";
import type { ContainerRun, MountRun } from "../contracts/container-run.ts";
import type { MountedVolume, PodVolumes } from "../contracts/pod-volumes.ts";
import type { References } from "../references/references.ts";
import type { Image } from "../contracts/runtime.ts";
import { containerAnnotations, containerLabels } from "./container-labels.ts";
import { environmentOf } from "./environment.ts";
import { expandAll } from "./expansion.ts";
import { hostnameOf } from "./hostname.ts";
import { hostsFile, hostsFileOfNode } from "./hosts-file.ts";
import { hostsMount, needsHostsFile, terminationMessageOf, terminationMount, volumeDevicesOf, volumeMountsOf } from "./mounts.ts";
import type { NodeView } from "./node-view.ts";
import { containerResources } from "./resources.ts";
import { containerSecurity } from "./security.ts";

export interface ContainerView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly attempt: number;
  /** Pod IPs. With hostNetwork: the node's. */
  readonly podIps: readonly string[];
  readonly node: NodeView;
  /** User of the image; undefined: root. */
  readonly imageUser: Image["user"];
  /** Container id of an ephemeral container's target. */
  readonly targetContainerId?: string;
  readonly references: Pick<References, "configMap" | "secret" | "services">;
  /** The Pod's volumes, by name. */
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  readonly volumes: Pick<PodVolumes, "subPath">;
  /** Whether the Pod's runtime handler supports recursive read-only mounts. */
  readonly supportsRecursiveReadOnly: boolean;
  /** Reads a file of a volume; rejects a path that leaves the volume. */
  readonly readVolumeFile: (volume: MountedVolume, path: string) => Promise<string>;
  /** Reads the node's /etc/hosts; called only for Pods with hostNetwork. */
  readonly nodeHostsFile: () => Promise<string>;
  readonly signal?: AbortSignal;
}

export interface PreparedContainer {
  readonly run: ContainerRun;
  /** Created before the container, in directories of their own (mode 0750). Existing files are overwritten. */
  readonly files: readonly NeededFile[];
}

export interface NeededFile {
  readonly path: string;
  /** Exact mode, regardless of the process's umask. */
  readonly mode: number;
  readonly text: string;
}

/** World-readable. Written in place, never replaced: a process that has the file open must keep seeing it. */
const HOSTS_FILE_MODE = 0o644;
/** World-writable: any container user may write the termination message. */
const TERMINATION_FILE_MODE = 0o666;

export async function containerRun(view: ContainerView): Promise<PreparedContainer> {
  const { pod, container, attempt, node } = view;
  const environment = await environmentOf({
    ...view,
    addresses: { podIps: view.podIps, hostIps: node.hostIps },
    allocatable: node.allocatable,
    readFile: view.readVolumeFile,
  });
  const { mounts, files, ...message } = await mountsOf(view, environment);
  const { stdin = false, stdinOnce = false, tty = false, workingDir = "", lifecycle } = container;
  const run: ContainerRun = {
    command: expandAll(container.command, environment),
    args: expandAll(container.args, environment),
    workingDirectory: workingDir,
    environment: [...environment].map(([name, value]) => ({ name, value })),
    mounts,
    devices: volumeDevicesOf(view),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
    logPath: `${container.name}/${attempt}.log`,
    stdin,
    stdinOnce,
    tty,
    resources: containerResources({ pod, container, capacity: node.capacity, cgroups: node.cgroups }),
    security: containerSecurity(view),
    ...(lifecycle?.stopSignal === undefined ? {} : { stopSignal: lifecycle.stopSignal }),
    ...message,
  };
  return { run, files };
}

interface Mounts extends Pick<ContainerRun, "mounts" | "terminationMessage"> {
  readonly files: readonly NeededFile[];
}

async function mountsOf(view: ContainerView, environment: ReadonlyMap<string, string>): Promise<Mounts> {
  const { pod, container, podIps, node, attempt } = view;
  const podDirectory = `${node.directories.pods}/${pod.metadata.uid ?? ""}`;
  const volumes = await volumeMountsOf({ ...view, environment });
  const mounts: MountRun[] = [...volumes];
  const files: NeededFile[] = [];
  if (needsHostsFile(pod, container, podIps)) {
    const path = `${podDirectory}/etc-hosts`;
    mounts.push(hostsMount(path));
    files.push({ path, mode: HOSTS_FILE_MODE, text: await hostsTextOf(view) });
  }
  const terminationMessage = terminationMessageOf(container, { podDirectory, attempt });
  if (terminationMessage === undefined) return { mounts, files };
  mounts.push(terminationMount(container, terminationMessage));
  files.push({ path: terminationMessage.hostPath, mode: TERMINATION_FILE_MODE, text: "" });
  return { mounts, files, terminationMessage };
}

async function hostsTextOf({ pod, podIps, node, nodeHostsFile }: ContainerView): Promise<string> {
  const aliases = pod.spec?.hostAliases ?? [];
  if (pod.spec?.hostNetwork === true) return hostsFileOfNode(await nodeHostsFile(), aliases);
  return hostsFile({ podIps, ...hostnameOf(pod, node.dns.clusterDomain), aliases });
}

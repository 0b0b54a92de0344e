/**
 * How a container is run, all worked out: command, environment, mounts, rights and limits. What the disk must have for it comes along as
 * data (`files`): the Pod's /etc/hosts and the file for last words, to be written before the container is made.
 * What the Pod says that makes no container now is a ContainerConfigError.
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
import { hostsMount, needsHostsFile, terminationMessageOf, terminationMount, volumeMountsOf } from "./mounts.ts";
import type { NodeView } from "./node-view.ts";
import { containerResources } from "./resources.ts";
import { containerSecurity } from "./security.ts";

export interface ContainerView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly attempt: number;
  /** Of the Pod. In the node's own network: the node's. */
  readonly podIps: readonly string[];
  readonly node: NodeView;
  /** As the image says; undefined: root. */
  readonly imageUser: Image["user"];
  /** Of an ephemeral container that looks into another: that one's id. */
  readonly targetContainerId?: string;
  readonly references: Pick<References, "configMap" | "secret" | "services">;
  /** The Pod's volumes, by name. */
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  readonly volumes: Pick<PodVolumes, "subPath">;
  /** A file of a volume; a path that would lead out of it is an error. */
  readonly readVolumeFile: (volume: MountedVolume, path: string) => Promise<string>;
  /** The node's own /etc/hosts; only asked for Pods in the node's own network. */
  readonly nodeHostsFile: () => Promise<string>;
  readonly signal?: AbortSignal;
}

export interface PreparedContainer {
  readonly run: ContainerRun;
  /** To be there, in directories of their own (mode 0750), before the container is made. What is there already is written anew. */
  readonly files: readonly NeededFile[];
}

export interface NeededFile {
  readonly path: string;
  /** Exactly this one, whatever the process' umask. */
  readonly mode: number;
  readonly text: string;
}

/** Everybody may read it; whoever has the file open while it is written must not lose it, so it is never replaced by another. */
const HOSTS_FILE_MODE = 0o644;
/** Whatever user the container has, it may leave its last words. */
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
    devices: [],
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
  const volumes = await volumeMountsOf({ ...view, environment, supportsRecursiveReadOnly: node.supportsRecursiveReadOnly });
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

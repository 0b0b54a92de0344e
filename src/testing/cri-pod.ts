/** A Pod of one container, run by bare calls of the CRI: for tests of the runtime's set-up and network, below the kubelet. */
import { realClock } from "../host/real-clock.ts";
import { openCriClient } from "../kubelet/runtime/cri/cri-client.ts";
import { createContainer, execSync, startContainer } from "../kubelet/runtime/cri/container-messages.ts";
import { podSandboxStatus, removePodSandbox, runPodSandbox, stopPodSandbox } from "../kubelet/runtime/cri/sandbox-messages.ts";
import { BUSYBOX_1 } from "./busybox-image.ts";
import type { TestContainerd } from "./containerd-server.ts";

export interface CriPodOptions {
  readonly name: string;
  /** Default: it sleeps. */
  readonly command?: readonly string[];
  readonly image?: string;
  /** A port of the node that leads to one of the Pod. */
  readonly hostPort?: { readonly hostPort: number; readonly containerPort: number };
}

export interface CriPod {
  readonly sandboxId: string;
  readonly ip: string;
  /** In its container: what it wrote to standard output. Rejects unless it exits with 0. */
  exec(...command: readonly string[]): Promise<string>;
  /** With all that it has on the machine. */
  remove(): Promise<void>;
}

type Machine = Pick<TestContainerd, "endpoint" | "directory" | "cgroupParent">;

export async function runCriPod({ endpoint, directory, cgroupParent }: Machine, options: CriPodOptions): Promise<CriPod> {
  const { name, image = BUSYBOX_1, command = [], hostPort } = options;
  using client = await openCriClient(endpoint, realClock);
  const config = {
    metadata: { name, namespace: "default", uid: name, attempt: 0 },
    hostname: name,
    logDirectory: `${directory}/logs/${name}`,
    linux: { cgroupParent: `${cgroupParent}/${name}` },
    portMappings: hostPort === undefined ? [] : [{ ...hostPort, protocol: 0, hostIp: "" }],
  };
  const { id: sandboxId } = await client.call(runPodSandbox, { config });
  const { id } = await client.call(createContainer, {
    sandboxId,
    sandboxConfig: config,
    config: { metadata: { name: "main", attempt: 0 }, image: { image }, command, logPath: "main.log" },
  });
  await client.call(startContainer, { id });
  const { status } = await client.call(podSandboxStatus, { id: sandboxId });
  return {
    sandboxId,
    ip: status?.network?.ip ?? "",
    exec: (...words) => run(endpoint, id, words),
    async remove() {
      using again = await openCriClient(endpoint, realClock);
      await again.call(stopPodSandbox, { id: sandboxId });
      await again.call(removePodSandbox, { id: sandboxId });
    },
  };
}

const EXEC_TIMEOUT_SECONDS = 20;

async function run(endpoint: string, id: string, command: readonly string[]): Promise<string> {
  using client = await openCriClient(endpoint, realClock);
  const { stdout, stderr, exitCode } = await client.call(execSync, { id, command, timeoutSeconds: EXEC_TIMEOUT_SECONDS });
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (exitCode !== 0) throw new Error(`Cannot run ${command.join(" ")}: it exited with ${exitCode}: ${errors}`);
  return output ?? "";
}

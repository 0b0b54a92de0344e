/** Logs of and exec in containers on simulated nodes, for a program in the same process. */
import type { Pod } from "../api/generated/core/v1.ts";
import type { RuntimeContainer } from "../kubelet/contracts/runtime.ts";
import type { ExecOutcome } from "./cluster.ts";
import { kubeletOf, type NodesPart } from "../components/simulated-nodes/simulated-nodes.ts";

const UNTIL_THE_END = new AbortController().signal;

/** Log of the container. */
export async function readLogs(nodes: NodesPart, pod: Pod, containerName: string | undefined): Promise<string> {
  const { runtime } = await kubeletOf(nodes, pod);
  const { id } = await containerOf(nodes, pod, containerName);
  let text = "";
  for await (const line of runtime.logs(id, { follow: false }, UNTIL_THE_END)) text += `${line.text}\n`;
  return text;
}

export async function execIn(
  nodes: NodesPart,
  pod: Pod,
  command: readonly string[],
  containerName: string | undefined,
): Promise<ExecOutcome> {
  const { runtime } = await kubeletOf(nodes, pod);
  const { id } = await containerOf(nodes, pod, containerName);
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const texts = { stdout: "", stderr: "" };
  const take = (stream: "stdout" | "stderr") => (chunk: Uint8Array) => {
    texts[stream] += decoders[stream].decode(chunk, { stream: true });
  };
  const exitCode = await runtime.exec(id, command, { output: take("stdout"), error: take("stderr") }, UNTIL_THE_END);
  return { exitCode, ...texts };
}

async function containerOf(nodes: NodesPart, pod: Pod, name = pod.spec?.containers[0]?.name ?? ""): Promise<RuntimeContainer> {
  const { namespace, name: podName } = pod.metadata;
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const names = [...containers, ...initContainers, ...ephemeralContainers].map((container) => container.name);
  if (!names.includes(name)) throw new Error(`Pod ${podName} has no container "${name}": it has ${names.join(", ")}`);
  const kubelet = await kubeletOf(nodes, pod);
  const container = await kubelet.container({ ...(namespace === undefined ? {} : { namespace }), name: podName }, name);
  if (container === undefined) throw new Error(`Container "${name}" of pod ${podName} has not started: wait until the pod is Running`);
  return container;
}

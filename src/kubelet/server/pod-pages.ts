/** Lists of the node's Pods: those assigned to it, and those that its runtime has. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { isRunning } from "../pod/containers/runtime-containers.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";
import { sendJson, type Handler } from "./call.ts";

export const podsPage: Handler = ({ kubelet }, { reply }) => {
  sendJson(reply, podList(kubelet.pods().map(({ apiVersion: _version, kind: _kind, ...pod }) => pod)));
};

/** From the runtime's state alone. */
export const runningPodsPage: Handler = async ({ kubelet }, { reply }) => {
  const sandboxes = await kubelet.runtime.list();
  sendJson(reply, podList(sandboxes.filter(isAlive).map(podOf)));
};

/** Objects in a list have no kind and apiVersion. */
function podList(items: readonly Omit<Pod, "apiVersion" | "kind">[]): string {
  return writeJson({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}

function isAlive({ state, containers }: SandboxStatus): boolean {
  return state === "ready" || containers.some(isRunning);
}

function podOf({ podUid, namespace, name, containers }: SandboxStatus): Omit<Pod, "apiVersion" | "kind"> {
  const running = containers.filter(isRunning);
  return {
    metadata: { name, namespace, uid: podUid },
    spec: { containers: running.map(({ name: containerName, image }) => ({ name: containerName, image, resources: {} })) },
    status: {},
  };
}

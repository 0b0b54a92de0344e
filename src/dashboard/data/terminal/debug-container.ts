/** Adds an ephemeral container to a running Pod, as `kubectl debug` does. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { objectsAt, textAt } from "../fields.ts";

export interface DebugOptions {
  readonly image: string;
  /** The container whose processes it sees; "" for none. */
  readonly targetContainer: string;
}

/** The first of debugger-1, debugger-2, … that is free: ephemeral containers cannot be removed. */
export function debuggerName(pod: KubeObject): string {
  const names = new Set(objectsAt(pod, "spec", "ephemeralContainers").map((container) => textAt(container, "name")));
  let number = 1;
  while (names.has(`debugger-${number}`)) number++;
  return `debugger-${number}`;
}

/** Returns its name. */
export async function addDebugContainer(api: ClusterApi, pod: KubeObject, { image, targetContainer }: DebugOptions): Promise<string> {
  const name = debuggerName(pod);
  const container = {
    ...{ name, image, stdin: true, tty: true, imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" },
    ...(targetContainer === "" ? {} : { targetContainerName: targetContainer }),
  };
  const { namespace = "", name: podName } = pod.metadata;
  await api.json({
    method: "PATCH",
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(podName)}/ephemeralcontainers`,
    contentType: "application/strategic-merge-patch+json",
    body: JSON.stringify({ spec: { ephemeralContainers: [container] } }),
  });
  return name;
}

/** "Running", or why it is not. */
export function containerState(pod: KubeObject, name: string): string {
  const statuses = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"].flatMap((list) =>
    objectsAt(pod, "status", list),
  );
  const own = statuses.find((status) => status["name"] === name);
  if (own === undefined) return "Waiting";
  const [state = "waiting", detail] = Object.entries(own["state"] ?? {})[0] ?? [];
  if (state === "running") return "Running";
  return textAt(detail, "reason") || (state === "terminated" ? "Terminated" : "Waiting");
}

/** Objects that every cluster has from its first moment on. They are made if they are missing and otherwise left as they are. */
import { isReason } from "../api/machinery/status-error.ts";
import type { Pipeline } from "./pipeline.ts";
import type { User } from "./request.ts";

/** The server itself, where it acts on its own behalf. */
export const SERVER: User = { name: "system:apiserver", groups: ["system:masters"] };

const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

export async function makeDefaultNamespaces(pipeline: Pipeline): Promise<void> {
  // One after the other: a server with room for one request at a time can start, too.
  for (const name of NAMESPACES) await makeNamespace(pipeline, name);
}

async function makeNamespace(pipeline: Pipeline, name: string): Promise<void> {
  const place = { group: "", version: "v1", plural: "namespaces", subresource: "", namespace: "" };
  const context = { user: SERVER, userAgent: "k8ts", warn() {} };
  try {
    await pipeline.run({ ...place, verb: "get", name, options: {}, context });
    return;
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
  try {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await pipeline.run({ ...place, verb: "create", name: "", options: {}, body: { form: "object", object }, context });
  } catch (error) {
    // Another API server of the same cluster was first.
    if (!isReason(error, "AlreadyExists")) throw error;
  }
}

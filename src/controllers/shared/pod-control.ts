/**
 * Creation and deletion of a template's Pods with events: the messages are upstream's, since `kubectl describe` shows them and scripts
 * match them. Which and how many is decided by the controllers.
 */
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Draft } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { controlledBy, keyOf } from "../runtime/keys.ts";

/** One draft for any number of Pods: the server does not modify it and generates the names. */
export function podDraft(template: PodTemplateSpec, owner: KubeObject): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controlledBy(owner)],
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  };
}

/** Creates one and emits the event, or the failure, on the owner. */
export async function createPod(draft: Draft<Pod>, owner: KubeObject, { write, events, signal }: Pass): Promise<Pod> {
  // No selector could match it: a mistake of the template that validation does not reject.
  if (Object.keys(draft.metadata.labels ?? {}).length === 0) throw new Error("unable to create pods, no labels");
  try {
    const pod = await write.create(pods, draft);
    events.record(owner, { type: "Normal", reason: "SuccessfulCreate", message: `Created pod: ${pod.metadata.name}` });
    return pod;
  } catch (error) {
    // A stopping controller was not rejected.
    if (!isNamespaceTerminating(error) && !signal.aborted) {
      events.record(owner, { type: "Warning", reason: "FailedCreate", message: `Error creating: ${messageOf(error)}` });
    }
    throw error;
  }
}

/** Deletes this Pod and no other of its name, and emits the event on the owner. An already deleted one is fine. */
export async function deletePod(pod: Pod, owner: KubeObject, { write, events, signal }: Pass): Promise<void> {
  const { name, uid } = pod.metadata;
  try {
    await write.delete(pods, keyOf(pod), uid === undefined ? {} : { preconditions: { uid } });
    events.record(owner, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` });
  } catch (error) {
    // A Conflict means that the Pod was replaced.
    if (isReason(error, "NotFound") || isReason(error, "Conflict")) return;
    if (signal.aborted) throw error;
    events.record(owner, { type: "Warning", reason: "FailedDelete", message: `Error deleting: ${messageOf(error)}` });
    throw new Error(`unable to delete pods: ${messageOf(error)}`, { cause: error });
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
